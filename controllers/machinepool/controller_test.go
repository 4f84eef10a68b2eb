//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

var _ = Describe("FooMachinePool", func() {
	var (
		ctx         context.Context
		namespace   string
		cluster     *clusterv1.Cluster
		machinePool *clusterv1.MachinePool
		pool        *infrav1.FooMachinePool
	)

	BeforeEach(func() {
		ctx, namespace = suite.Begin(fake.CallEnsurePool, fake.CallScalePool, fake.CallGetPool, fake.CallListInstances, fake.CallDeletePool)
		cluster = infratest.NewCluster(namespace, "one")
		Expect(suite.Client.Create(ctx, cluster)).To(Succeed())
		machinePool = infratest.NewMachinePool(cluster, "workers", 3)
	})

	AfterEach(func() {
		suite.Cloud.SetLimits(cloud.Resources{})
	})

	name := func() string { return namespace + ".workers" }
	create := func() {
		GinkgoHelper()
		Expect(suite.Client.Create(ctx, machinePool)).To(Succeed())
		pool = infratest.NewFooMachinePool(machinePool)
		Expect(suite.Client.Create(ctx, pool)).To(Succeed())
	}
	createAll := func() {
		GinkgoHelper()
		Expect(suite.SetInfrastructureProvisioned(ctx, cluster)).To(Succeed())
		Expect(suite.Client.Create(ctx, infratest.NewSecret(namespace, "workers", infratest.UserData))).To(Succeed())
		create()
	}
	get := func(g Gomega) *infrav1.FooMachinePool {
		current := &infrav1.FooMachinePool{}
		g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(pool), current)).To(Succeed())
		return current
	}
	haveCondition := func(kind string, status metav1.ConditionStatus, reason string) {
		GinkgoHelper()
		infratest.HaveCondition(get, kind, status, reason)
	}
	instances := func() []cloud.Instance {
		GinkgoHelper()
		all, err := suite.Cloud.ListInstances(ctx, cloud.InstanceFilter{Pool: name()})
		Expect(err).NotTo(HaveOccurred())
		return all
	}
	fooMachines := func(g Gomega) []infrav1.FooMachine {
		list := &infrav1.FooMachineList{}
		g.Expect(suite.Client.List(ctx, list, client.InNamespace(namespace))).To(Succeed())
		return list.Items
	}
	haveMachines := func(count int) {
		GinkgoHelper()
		Eventually(func(g Gomega) {
			g.Expect(fooMachines(g)).To(HaveLen(count))
			current := get(g)
			g.Expect(current.Spec.ProviderIDList).To(HaveLen(count))
			g.Expect(current.Status.Replicas).To(HaveValue(Equal(int32(count))))
		}).Should(Succeed(), "there is one FooMachine per instance")
	}
	bootAll := func() {
		GinkgoHelper()
		for _, i := range instances() {
			Expect(suite.Cloud.SetBootstrap(i.Name, cloud.Bootstrap{State: cloud.BootstrapSucceeded})).To(BeTrue())
		}
	}
	scale := func(replicas int32) {
		GinkgoHelper()
		before := machinePool.DeepCopy()
		machinePool.Spec.Replicas = &replicas
		Expect(suite.Client.Patch(ctx, machinePool, client.MergeFrom(before))).To(Succeed())
	}
	makeMachines := func() {
		GinkgoHelper()
		for _, fooMachine := range fooMachines(Default) {
			_, err := suite.CreateMachineFor(ctx, cluster, &fooMachine)
			Expect(err).NotTo(HaveOccurred())
		}
	}
	deletingMachines := func(g Gomega) []clusterv1.Machine {
		list := &clusterv1.MachineList{}
		g.Expect(suite.Client.List(ctx, list, client.InNamespace(namespace))).To(Succeed())
		return slices.DeleteFunc(list.Items, func(m clusterv1.Machine) bool { return m.DeletionTimestamp.IsZero() })
	}
	// release plays an object's controller, which removes its finalizer in the end.
	release := func(object client.Object, finalizer string) {
		GinkgoHelper()
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		controllerutil.RemoveFinalizer(object, finalizer)
		Expect(suite.Client.Update(ctx, object)).To(Succeed())
	}
	// finishMachine plays the controllers of Machine and FooMachine after the Node is drained.
	finishMachine := func(machine *clusterv1.Machine) {
		GinkgoHelper()
		fooMachine := &infrav1.FooMachine{}
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(machine), fooMachine)).To(Succeed())
		id, err := cloud.InstanceID(fooMachine.Spec.ProviderID)
		Expect(err).NotTo(HaveOccurred())
		Expect(suite.Client.Delete(ctx, fooMachine)).To(Succeed())
		Expect(suite.Cloud.DeleteInstance(ctx, id)).To(Or(Succeed(), MatchError(cloud.IsNotFound, "not found")))
		release(fooMachine, infrav1.FooMachineFinalizer)
		release(machine, clusterv1.MachineFinalizer)
	}

	It("reports in turn each thing that it waits for", func() {
		create()
		haveCondition(infrav1.FooMachinePoolPoolProvisionedCondition, metav1.ConditionFalse, infrav1.FooMachinePoolWaitingForClusterInfrastructureReason)
		Expect(suite.SetInfrastructureProvisioned(ctx, cluster)).To(Succeed())
		haveCondition(infrav1.FooMachinePoolPoolProvisionedCondition, metav1.ConditionFalse, infrav1.FooMachinePoolWaitingForBootstrapDataReason)
		Expect(suite.Client.Create(ctx, infratest.NewSecret(namespace, "workers", infratest.UserData))).To(Succeed())
		haveCondition(infrav1.FooMachinePoolPoolProvisionedCondition, metav1.ConditionTrue, infrav1.FooMachinePoolPoolProvisionedReason)
	})

	It("reports what Cluster API reads", func() {
		createAll()
		haveMachines(3)
		Eventually(func(g Gomega) {
			current := get(g)
			g.Expect(current.Status.Initialization.Provisioned).To(HaveValue(BeTrue()))
			g.Expect(current.Status.Ready).To(HaveValue(BeTrue()))
		}).Should(Succeed(), "both versions of the field agree")
		current := get(Default)
		Expect(current.Spec.ProviderID).To(Equal("foo:///" + name()))
		var ids []string
		for _, i := range instances() {
			ids = append(ids, i.ProviderID)
		}
		slices.Sort(ids)
		Expect(current.Spec.ProviderIDList).To(Equal(ids))
		Expect(current.Status.Instances).To(HaveLen(3))
		Expect(current.Status.InfrastructureMachineKind).To(Equal("FooMachine"))
		Expect(current.Status.Capacity).To(HaveKey(corev1.ResourceCPU))
		haveCondition(infrav1.FooMachinePoolReadyCondition, metav1.ConditionFalse, infrav1.FooMachinePoolInstancesNotReadyReason)
		bootAll()
		haveCondition(infrav1.FooMachinePoolReadyCondition, metav1.ConditionTrue, infrav1.FooMachinePoolReadyReason)
	})

	It("makes a FooMachine for each instance that Cluster API finds and may control", func() {
		createAll()
		haveMachines(3)
		byName := map[string]cloud.Instance{}
		for _, i := range instances() {
			byName[i.Hostname] = i
		}
		for _, fooMachine := range fooMachines(Default) {
			Expect(byName).To(HaveKey(fooMachine.Name))
			Expect(fooMachine.Spec.ProviderID).To(Equal(byName[fooMachine.Name].ProviderID))
			Expect(fooMachine.Labels).To(And(
				HaveKeyWithValue(clusterv1.ClusterNameLabel, cluster.Name),
				HaveKeyWithValue(clusterv1.MachinePoolNameLabel, machinePool.Name)))
			Expect(metav1.GetControllerOf(&fooMachine)).To(BeNil())
			Expect(fooMachine.OwnerReferences).To(HaveLen(1))
			Expect(fooMachine.Finalizers).To(ConsistOf(infrav1.FooMachineFinalizer))
		}
	})

	It("scales up", func() {
		createAll()
		haveMachines(3)
		scale(5)
		haveMachines(5)
	})

	It("shrinks by deleting Machines and keeps their IDs until the instances are gone", func() {
		createAll()
		haveMachines(3)
		bootAll()
		makeMachines()
		scale(1)
		Eventually(deletingMachines).Should(HaveLen(2), "victims are chosen immediately")
		Consistently(func(g Gomega) {
			g.Expect(deletingMachines(g)).To(HaveLen(2))
			g.Expect(get(g).Spec.ProviderIDList).To(HaveLen(3))
			g.Expect(instances()).To(HaveLen(3))
		}, "1s").Should(Succeed(), "nothing is deleted before Cluster API has drained the Nodes")
		haveCondition(infrav1.FooMachinePoolScalingDownCondition, metav1.ConditionTrue, infrav1.FooMachinePoolScalingDownReason)
		for _, machine := range deletingMachines(Default) {
			finishMachine(&machine)
		}
		haveMachines(1)
		haveCondition(infrav1.FooMachinePoolScalingDownCondition, metav1.ConditionFalse, infrav1.FooMachinePoolNotScalingDownReason)
		haveCondition(infrav1.FooMachinePoolReadyCondition, metav1.ConditionTrue, infrav1.FooMachinePoolReadyReason)
		Consistently(instances, "1s").Should(HaveLen(1), "the pool does not grow again")
	})

	It("deletes the Machine with the delete annotation first", func() {
		createAll()
		haveMachines(3)
		bootAll()
		makeMachines()
		marked := &clusterv1.Machine{}
		key := client.ObjectKeyFromObject(&fooMachines(Default)[2])
		Expect(suite.Client.Get(ctx, key, marked)).To(Succeed())
		before := marked.DeepCopy()
		marked.Annotations = map[string]string{clusterv1.DeleteMachineAnnotation: ""}
		Expect(suite.Client.Patch(ctx, marked, client.MergeFrom(before))).To(Succeed())
		scale(2)
		Eventually(func(g Gomega) {
			machines := deletingMachines(g)
			g.Expect(machines).To(HaveLen(1))
			g.Expect(machines[0].Name).To(Equal(marked.Name))
		}).Should(Succeed(), "the annotation is read at decision time")
	})

	It("replaces an instance that was lost", func() {
		createAll()
		haveMachines(3)
		makeMachines()
		for _, fooMachine := range fooMachines(Default) {
			machine := &clusterv1.Machine{}
			Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(&fooMachine), machine)).To(Succeed())
			Expect(suite.SetMachineAvailable(ctx, machine, metav1.ConditionTrue)).To(Succeed())
		}
		lost := instances()[0]
		Expect(suite.Cloud.LoseInstance(lost.Name)).To(BeTrue())
		Eventually(deletingMachines).Should(HaveLen(1), "the Machine of the lost instance is deleted")
		machine := deletingMachines(Default)[0]
		Expect(machine.Name).To(Equal(lost.Hostname))
		finishMachine(&machine)
		suite.Cloud.GrowPools()
		haveMachines(3)
	})

	It("updates the template with renewed bootstrap data without a new revision", func() {
		Expect(suite.SetInfrastructureProvisioned(ctx, cluster)).To(Succeed())
		userData := "#cloud-config\nwrite_files:\n- content: |\n    discovery:\n      bootstrapToken:\n        token: "
		Expect(suite.Client.Create(ctx, infratest.NewSecret(namespace, "workers", userData+"abcdef.0123456789abcdef\n"))).To(Succeed())
		create()
		haveMachines(3)
		before, err := suite.Cloud.GetPool(ctx, name())
		Expect(err).NotTo(HaveOccurred())
		secret := infratest.NewSecret(namespace, "workers", userData+"fedcba.0123456789abcdef\n")
		Expect(suite.Client.Update(ctx, secret)).To(Succeed())
		Eventually(func() string {
			userData, _ := suite.Cloud.PoolUserData(name())
			return string(userData)
		}).Should(ContainSubstring("fedcba"), "the Secret is watched")
		after, err := suite.Cloud.GetPool(ctx, name())
		Expect(err).NotTo(HaveOccurred())
		Expect(after.Revision).To(Equal(before.Revision))
		haveMachines(3)
	})

	It("adopts the size if somebody else manages the replicas", func() {
		machinePool.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "autoscaler"}
		createAll()
		haveMachines(3)
		current, err := suite.Cloud.GetPool(ctx, name())
		Expect(err).NotTo(HaveOccurred())
		_, err = suite.Cloud.ScalePool(ctx, name(), 4, current.Version)
		Expect(err).NotTo(HaveOccurred())
		haveMachines(4)
		Eventually(func(g Gomega) *int32 {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(machinePool), machinePool)).To(Succeed())
			return machinePool.Spec.Replicas
		}).Should(HaveValue(Equal(int32(4))), "the MachinePool adopts the pool's size")
	})

	It("says why the pool could not grow", func() {
		quota, err := suite.Cloud.Quota(ctx)
		Expect(err).NotTo(HaveOccurred())
		suite.Cloud.SetLimits(cloud.Resources{Instances: quota.Used.Instances + 2})
		createAll()
		haveMachines(2)
		haveCondition(infrav1.FooMachinePoolReadyCondition, metav1.ConditionFalse, infrav1.CloudQuotaExceededReason)
		haveCondition(infrav1.FooMachinePoolScalingUpCondition, metav1.ConditionTrue, infrav1.FooMachinePoolScalingUpReason)
		suite.Cloud.SetLimits(cloud.Resources{})
		suite.Cloud.GrowPools()
		haveMachines(3)
		haveCondition(infrav1.FooMachinePoolPoolProvisionedCondition, metav1.ConditionTrue, infrav1.FooMachinePoolPoolProvisionedReason)
	})

	DescribeTable("reports a cloud error, deletes nothing, and recovers", func(call fake.Call, err error, reason string) {
		createAll()
		haveMachines(3)
		suite.Cloud.Fail(call, err)
		suite.Cloud.DropWatches()
		scale(4)
		haveCondition(infrav1.FooMachinePoolReadyCondition, metav1.ConditionFalse, reason)
		Expect(get(Default).Spec.ProviderIDList).To(HaveLen(3))
		Expect(fooMachines(Default)).To(HaveLen(3))
		suite.Cloud.Heal(call)
		suite.Cloud.DropWatches() // triggers a reconcile now instead of at the next retry
		haveMachines(4)
	},
		Entry("unavailable", fake.CallGetPool, &cloud.UnavailableError{Message: "maintenance"}, infrav1.CloudUnavailableReason),
		Entry("instances unavailable", fake.CallListInstances, &cloud.UnavailableError{Message: "maintenance"}, infrav1.CloudUnavailableReason),
		Entry("quota", fake.CallScalePool, &cloud.QuotaExceededError{Resource: "instances", Limit: 3, Used: 3, Requested: 1}, infrav1.CloudQuotaExceededReason),
		Entry("throttled", fake.CallScalePool, &cloud.ThrottledError{}, infrav1.CloudThrottledReason),
	)

	It("does nothing while paused", func() {
		suite.SetPaused(ctx, cluster, true)
		createAll()
		haveCondition(clusterv1.PausedCondition, metav1.ConditionTrue, clusterv1.PausedReason)
		_, err := suite.Cloud.GetPool(ctx, name())
		Expect(cloud.IsNotFound(err)).To(BeTrue())

		suite.SetPaused(ctx, cluster, false)
		haveMachines(3)
	})

	It("is deleted when its paused Cluster vanishes", func() {
		machinePool.Spec.Replicas = ptr.To[int32](0)
		createAll()
		haveCondition(infrav1.FooMachinePoolReadyCondition, metav1.ConditionTrue, infrav1.FooMachinePoolReadyReason)
		suite.BeDeletedAfterPausedCluster(ctx, cluster, pool)
	})

	It("deletes Machines, FooMachines without a Machine, and the pool last", func() {
		createAll()
		haveMachines(3)
		all := fooMachines(Default)
		_, err := suite.CreateMachineFor(ctx, cluster, &all[0])
		Expect(err).NotTo(HaveOccurred())
		suite.Cloud.SetMode(fake.Manual)
		Expect(suite.Client.Delete(ctx, pool)).To(Succeed())

		By("deleting the Machine but not its FooMachine, and the other FooMachines")
		Eventually(deletingMachines).Should(HaveLen(1), "the Machine drains its Node")
		Eventually(func(g Gomega) {
			for _, fooMachine := range fooMachines(g) {
				g.Expect(fooMachine.DeletionTimestamp.IsZero()).To(Equal(fooMachine.Name == all[0].Name))
			}
		}).Should(Succeed(), "the Machine deletes its own FooMachine")
		haveCondition(infrav1.FooMachinePoolReadyCondition, metav1.ConditionFalse, infrav1.FooMachinePoolDeletingReason)

		By("passing a new timeout from the MachinePool to the Machine")
		before := machinePool.DeepCopy()
		machinePool.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds = ptr.To[int32](30)
		Expect(suite.Client.Patch(ctx, machinePool, client.MergeFrom(before))).To(Succeed())
		Eventually(func(g Gomega) *int32 {
			machines := deletingMachines(g)
			g.Expect(machines).To(HaveLen(1))
			return machines[0].Spec.Deletion.NodeDrainTimeoutSeconds
		}).Should(HaveValue(BeEquivalentTo(30)), "the new timeout applies to the drain in progress")

		By("playing the other controllers")
		machine := deletingMachines(Default)[0]
		finishMachine(&machine)
		for _, fooMachine := range fooMachines(Default) {
			release(&fooMachine, infrav1.FooMachineFinalizer)
		}
		Eventually(func(g Gomega) bool {
			current, err := suite.Cloud.GetPool(ctx, name())
			g.Expect(err).NotTo(HaveOccurred())
			return current.Deleting
		}).Should(BeTrue(), "the pool is deleted last")
		Expect(get(Default).Finalizers).To(ContainElement(infrav1.FooMachinePoolFinalizer))

		suite.Cloud.FinishDeletions()
		suite.BeGone(ctx, pool)
		Expect(instances()).To(BeEmpty())
	})
})
