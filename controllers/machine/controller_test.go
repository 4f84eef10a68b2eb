//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

var _ = Describe("FooMachine", func() {
	var (
		ctx        context.Context
		namespace  string
		cluster    *clusterv1.Cluster
		machine    *clusterv1.Machine
		fooMachine *infrav1.FooMachine
	)

	BeforeEach(func() {
		ctx, namespace = suite.Begin(fake.CallEnsureInstance, fake.CallGetInstance, fake.CallDeleteInstance)
		cluster = infratest.NewCluster(namespace, "one")
		Expect(suite.Client.Create(ctx, cluster)).To(Succeed())
		machine = infratest.NewMachine(cluster, "m1")
		machine.Labels[clusterv1.MachineControlPlaneLabel] = ""
		fooMachine = nil
	})

	create := func() {
		GinkgoHelper()
		Expect(suite.Client.Create(ctx, machine)).To(Succeed())
		if fooMachine == nil {
			fooMachine = infratest.NewFooMachine(machine)
		}
		Expect(suite.Client.Create(ctx, fooMachine)).To(Succeed())
	}
	giveBootstrapData := func() {
		GinkgoHelper()
		Expect(suite.Client.Create(ctx, infratest.NewSecret(namespace, "m1-data", infratest.UserData))).To(Succeed())
		before := machine.DeepCopy()
		machine.Spec.Bootstrap.DataSecretName = ptr.To("m1-data")
		Expect(suite.Client.Patch(ctx, machine, client.MergeFrom(before))).To(Succeed())
	}
	createAll := func() {
		GinkgoHelper()
		Expect(suite.SetInfrastructureProvisioned(ctx, cluster)).To(Succeed())
		create()
		giveBootstrapData()
	}
	name := func() string { return namespace + ".m1" }
	get := func(g Gomega) *infrav1.FooMachine {
		current := &infrav1.FooMachine{}
		g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(fooMachine), current)).To(Succeed())
		return current
	}
	haveCondition := func(kind string, status metav1.ConditionStatus, reason string) {
		GinkgoHelper()
		infratest.HaveCondition(get, kind, status, reason)
	}
	beReady := func() {
		GinkgoHelper()
		haveCondition(infrav1.FooMachineReadyCondition, metav1.ConditionTrue, infrav1.FooMachineReadyReason)
		Eventually(func(g Gomega) bool { return ptr.Deref(get(g).Status.Initialization.Provisioned, false) }).
			Should(BeTrue(), "the status is written last")
	}
	instance := func() cloud.Instance {
		GinkgoHelper()
		instances, err := suite.Cloud.ListInstances(ctx, cloud.InstanceFilter{Name: name()})
		Expect(err).NotTo(HaveOccurred())
		Expect(instances).To(HaveLen(1))
		return instances[0]
	}

	It("waits for what it needs, one after the other, and says so", func() {
		create()
		haveCondition(infrav1.FooMachineInstanceProvisionedCondition, metav1.ConditionFalse, infrav1.FooMachineWaitingForClusterInfrastructureReason)
		Expect(suite.SetInfrastructureProvisioned(ctx, cluster)).To(Succeed())
		haveCondition(infrav1.FooMachineInstanceProvisionedCondition, metav1.ConditionFalse, infrav1.FooMachineWaitingForBootstrapDataReason)
		giveBootstrapData()
		beReady()
		userData, ok := suite.Cloud.UserData(name())
		Expect(ok).To(BeTrue())
		Expect(string(userData)).To(Equal(infratest.UserData))
	})

	It("orders the instance as Machine and FooMachine say, and reports it", func() {
		machine.Spec.FailureDomain = "zone-b"
		createAll()
		beReady()
		i := instance()
		Expect(i.Zone).To(Equal("zone-b"))
		Expect(i.Hostname).To(Equal("m1"))
		Expect(i.Type).To(Equal(infrav1.DefaultInstanceType))
		Expect(i.KubernetesVersion).To(Equal(infratest.KubernetesVersion))
		Expect(i.Tags).To(HaveKeyWithValue("cluster.x-k8s.io/role", "control-plane"))

		current := get(Default)
		Expect(current.Spec.ProviderID).To(Equal(i.ProviderID))
		Expect(current.Status.FailureDomain).To(Equal("zone-b"))
		Expect(current.Status.Addresses).To(ConsistOf(
			clusterv1.MachineAddress{Type: clusterv1.MachineHostName, Address: "m1"},
			clusterv1.MachineAddress{Type: clusterv1.MachineInternalIP, Address: i.Address},
		))
	})

	It("is provisioned when the instance runs, before its bootstrap has finished", func() {
		suite.Cloud.SetMode(fake.Manual)
		createAll()
		haveCondition(infrav1.FooMachineInstanceProvisionedCondition, metav1.ConditionFalse, infrav1.FooMachineInstancePendingReason)
		Eventually(func(g Gomega) string { return get(g).Spec.ProviderID }).ShouldNot(BeEmpty(), "the ID is known once ordered")
		Expect(get(Default).Status.Initialization.Provisioned).To(BeNil())
		Expect(suite.Cloud.RunInstance(name())).To(BeTrue())
		beReady()
		haveCondition(infrav1.FooMachineBootstrapExecSucceededCondition, metav1.ConditionFalse, infrav1.FooMachineBootstrapPendingReason)

		Expect(suite.Cloud.SetBootstrap(name(), cloud.Bootstrap{State: cloud.BootstrapSucceeded})).To(BeTrue())
		haveCondition(infrav1.FooMachineBootstrapExecSucceededCondition, metav1.ConditionTrue, infrav1.FooMachineBootstrapSucceededReason)
	})

	It("says which command of the bootstrap failed", func() {
		createAll()
		beReady()
		failed := cloud.Bootstrap{State: cloud.BootstrapFailed, Message: `"kubeadm init" exited with 1: port 6443 in use`}
		Expect(suite.Cloud.SetBootstrap(name(), failed)).To(BeTrue())
		haveCondition(infrav1.FooMachineReadyCondition, metav1.ConditionFalse, infrav1.FooMachineBootstrapFailedReason)
		Expect(conditions.Get(get(Default), infrav1.FooMachineReadyCondition).Message).To(Equal(failed.Message))
		Expect(ptr.Deref(get(Default).Status.Initialization.Provisioned, false)).To(BeTrue())
	})

	It("reports an instance that stopped", func() {
		createAll()
		beReady()
		Expect(suite.Cloud.StopInstance(name(), "PID 1 exited")).To(BeTrue())
		haveCondition(infrav1.FooMachineReadyCondition, metav1.ConditionFalse, infrav1.FooMachineInstanceStoppedReason)
		Expect(ptr.Deref(get(Default).Status.Initialization.Provisioned, false)).To(BeTrue())
	})

	It("never makes a lost instance again", func() {
		createAll()
		beReady()
		calls := suite.Cloud.Calls(fake.CallEnsureInstance)
		Expect(suite.Cloud.LoseInstance(name())).To(BeTrue())
		haveCondition(infrav1.FooMachineReadyCondition, metav1.ConditionFalse, infrav1.FooMachineInstanceNotFoundReason)
		Expect(suite.Cloud.Calls(fake.CallEnsureInstance)).To(Equal(calls))
		Expect(suite.Client.Delete(ctx, fooMachine)).To(Succeed())
		suite.BeGone(ctx, fooMachine)
	})

	It("tells that the cloud takes the instance back, in time for whoever replaces it", func() {
		Expect(suite.Client.Create(ctx, machine)).To(Succeed())
		fooMachine = infratest.NewFooMachine(machine)
		fooMachine.Spec.Interruptible = ptr.To(true)
		Expect(suite.Client.Create(ctx, fooMachine)).To(Succeed())
		Expect(suite.SetInfrastructureProvisioned(ctx, cluster)).To(Succeed())
		giveBootstrapData()
		beReady()
		Expect(get(Default).Status.Interruptible).To(HaveValue(BeTrue()))
		Expect(suite.Cloud.ReclaimInstance(name(), time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC))).To(BeTrue())
		haveCondition(infrav1.FooMachineReadyCondition, metav1.ConditionFalse, infrav1.FooMachineReclaimNoticeReason)
		Expect(conditions.Get(get(Default), infrav1.FooMachineReadyCondition).Message).To(ContainSubstring("2030-01-01T00:00:00Z"))
		haveCondition(infrav1.FooMachineInstanceProvisionedCondition, metav1.ConditionTrue, infrav1.FooMachineInstanceProvisionedReason)
		Expect(suite.Cloud.LoseInstance(name())).To(BeTrue())
		haveCondition(infrav1.FooMachineReadyCondition, metav1.ConditionFalse, infrav1.FooMachineInstanceNotFoundReason)
	})

	It("hears of what happened while the watch of the cloud was lost", func() {
		createAll()
		beReady()
		suite.Cloud.Fail(fake.CallWatch, &cloud.UnavailableError{Message: "restart"})
		suite.Cloud.DropWatches()
		Expect(suite.Cloud.StopInstance(name(), "PID 1 exited")).To(BeTrue())
		suite.Cloud.Heal(fake.CallWatch)
		haveCondition(infrav1.FooMachineReadyCondition, metav1.ConditionFalse, infrav1.FooMachineInstanceStoppedReason)
	})

	DescribeTable("reports an error of the cloud and recovers",
		func(err error, reason string) {
			suite.Cloud.Fail(fake.CallEnsureInstance, err)
			createAll()
			haveCondition(infrav1.FooMachineReadyCondition, metav1.ConditionFalse, reason)
			Expect(conditions.Get(get(Default), infrav1.FooMachineInstanceProvisionedCondition).Message).To(Equal(err.Error()))
			suite.Cloud.Heal(fake.CallEnsureInstance)
			suite.Cloud.DropWatches() // makes the controller reconcile now instead of at its next retry
			beReady()
		},
		Entry("quota", &cloud.QuotaExceededError{Resource: "cpus", Limit: 4, Used: 4, Requested: 2}, infrav1.CloudQuotaExceededReason),
		Entry("unavailable", &cloud.UnavailableError{Message: "maintenance"}, infrav1.CloudUnavailableReason),
		Entry("unauthorized", &cloud.UnauthorizedError{Message: "unknown token"}, infrav1.CloudUnauthorizedReason),
		Entry("no capacity", &cloud.CapacityError{Zone: "zone-a"}, infrav1.CloudOutOfCapacityReason),
		Entry("throttled", &cloud.ThrottledError{}, infrav1.CloudThrottledReason),
	)

	It("names what is allowed where the spec is wrong, and looks again when it changes", func() {
		Expect(suite.Client.Create(ctx, machine)).To(Succeed())
		fooMachine = infratest.NewFooMachine(machine)
		fooMachine.Spec.InstanceType = "huge"
		Expect(suite.Client.Create(ctx, fooMachine)).To(Succeed())
		Expect(suite.SetInfrastructureProvisioned(ctx, cluster)).To(Succeed())
		giveBootstrapData()
		haveCondition(infrav1.FooMachineReadyCondition, metav1.ConditionFalse, infrav1.CloudInvalidReason)
		Expect(conditions.Get(get(Default), infrav1.FooMachineReadyCondition).Message).To(ContainSubstring("allowed: large, small"))

		before := get(Default)
		after := before.DeepCopy()
		after.Spec.InstanceType = "large"
		Expect(suite.Client.Patch(ctx, after, client.MergeFrom(before))).To(Succeed())
		beReady()
	})

	It("does not change an instance that its spec no longer describes", func() {
		createAll()
		beReady()
		before := get(Default)
		after := before.DeepCopy()
		after.Spec.InstanceType = "large"
		Expect(suite.Client.Patch(ctx, after, client.MergeFrom(before))).To(Succeed())
		Eventually(func(g Gomega) int64 { return get(g).Status.ObservedGeneration }).
			Should(Equal(after.Generation), "the change was seen")
		Expect(instance().Type).To(Equal(infrav1.DefaultInstanceType))
		Expect(instance().ProviderID).To(Equal(before.Spec.ProviderID))
		beReady()
	})

	It("does nothing while paused", func() {
		Expect(suite.Client.Create(ctx, machine)).To(Succeed())
		fooMachine = infratest.NewFooMachine(machine)
		fooMachine.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
		Expect(suite.Client.Create(ctx, fooMachine)).To(Succeed())
		Expect(suite.SetInfrastructureProvisioned(ctx, cluster)).To(Succeed())
		giveBootstrapData()
		haveCondition(clusterv1.PausedCondition, metav1.ConditionTrue, clusterv1.PausedReason)
		Expect(get(Default).Spec.ProviderID).To(BeEmpty())

		before := get(Default)
		after := before.DeepCopy()
		after.Annotations = nil
		Expect(suite.Client.Patch(ctx, after, client.MergeFrom(before))).To(Succeed())
		beReady()
	})

	It("is deleted when its paused Cluster vanishes", func() {
		createAll()
		beReady()
		suite.BeDeletedAfterPausedCluster(ctx, cluster, fooMachine)
	})

	It("keeps the FooMachine until the instance is gone", func() {
		createAll()
		beReady()
		suite.Cloud.SetMode(fake.Manual)
		Expect(suite.Client.Delete(ctx, fooMachine)).To(Succeed())
		haveCondition(infrav1.DeletingCondition, metav1.ConditionTrue, infrav1.DeletingReason)
		haveCondition(infrav1.FooMachineReadyCondition, metav1.ConditionFalse, infrav1.FooMachineDeletingReason)
		Expect(get(Default).Finalizers).To(ContainElement(infrav1.FooMachineFinalizer))
		suite.Cloud.FinishDeletions()
		suite.BeGone(ctx, fooMachine)
	})

	It("says that nothing is left in the cloud where somebody else keeps the FooMachine", func() {
		createAll()
		beReady()
		before := get(Default)
		kept := before.DeepCopy()
		kept.Finalizers = append(kept.Finalizers, "example.com/kept")
		Expect(suite.Client.Patch(ctx, kept, client.MergeFrom(before))).To(Succeed())
		Expect(suite.Client.Delete(ctx, fooMachine)).To(Succeed())
		haveCondition(infrav1.DeletingCondition, metav1.ConditionTrue, infrav1.DeletionCompletedReason)
		Eventually(func(g Gomega) []string { return get(g).Finalizers }).
			Should(ConsistOf("example.com/kept"), "the metadata is written after the conditions")
		before = get(Default)
		kept = before.DeepCopy()
		kept.Finalizers = nil
		Expect(suite.Client.Patch(ctx, kept, client.MergeFrom(before))).To(Succeed())
		suite.BeGone(ctx, fooMachine)
	})

	It("takes the instance of a control plane out of the load balancer before anything else of its deletion happens", func() {
		createAll()
		beReady()
		Expect(instance().Draining).To(BeFalse())
		// Imitate a Machine that waits for its Node to be drained: it stays, and so does the
		// FooMachine.
		before := machine.DeepCopy()
		machine.Finalizers = append(machine.Finalizers, clusterv1.MachineFinalizer)
		Expect(suite.Client.Patch(ctx, machine, client.MergeFrom(before))).To(Succeed())
		Expect(suite.Client.Delete(ctx, machine)).To(Succeed())
		Eventually(func() bool { return instance().Draining }).Should(BeTrue(), "the deletion of the Machine is an event")
		Expect(instance().State).To(Equal(cloud.InstanceRunning))
		Expect(get(Default).DeletionTimestamp).To(BeNil())
		before = machine.DeepCopy()
		machine.Finalizers = nil
		Expect(suite.Client.Patch(ctx, machine, client.MergeFrom(before))).To(Succeed())
	})

	It("finds an instance by name whose ID it never learned, and deletes it", func() {
		create()
		haveCondition(infrav1.FooMachineInstanceProvisionedCondition, metav1.ConditionFalse, infrav1.FooMachineWaitingForClusterInfrastructureReason)
		_, err := suite.Cloud.EnsureInstance(ctx, cloud.InstanceSpec{
			Name: name(), Hostname: "m1",
			InstanceTemplate: cloud.InstanceTemplate{Type: "small", KubernetesVersion: infratest.KubernetesVersion},
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(suite.Client.Delete(ctx, fooMachine)).To(Succeed())
		Eventually(suite.Cloud.InstanceNames).ShouldNot(ContainElement(name()), "the instance is looked up by name")
		suite.Cloud.DropWatches() // the instance has no tags, so its events do not map to the FooMachine
		suite.BeGone(ctx, fooMachine)
	})

	It("observes the instance of a pool and orders none", func() {
		Expect(suite.SetInfrastructureProvisioned(ctx, cluster)).To(Succeed())
		fooMachine = &infrav1.FooMachine{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "m1",
			Labels: map[string]string{clusterv1.ClusterNameLabel: cluster.Name, clusterv1.MachinePoolNameLabel: "pool"},
		}}
		Expect(suite.Client.Create(ctx, fooMachine)).To(Succeed())
		haveCondition(infrav1.FooMachineReadyCondition, metav1.ConditionFalse, infrav1.FooMachineWaitingForPoolReason)
		i, err := suite.Cloud.EnsureInstance(ctx, cloud.InstanceSpec{
			Name: name(), Hostname: "m1",
			InstanceTemplate: cloud.InstanceTemplate{Type: "small", KubernetesVersion: infratest.KubernetesVersion},
		})
		Expect(err).NotTo(HaveOccurred())
		before := get(Default)
		after := before.DeepCopy()
		after.Spec.ProviderID = i.ProviderID
		Expect(suite.Client.Patch(ctx, after, client.MergeFrom(before))).To(Succeed())
		beReady()
	})
})
