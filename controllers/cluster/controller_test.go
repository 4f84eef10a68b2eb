//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

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

var _ = Describe("FooCluster", func() {
	var (
		ctx        context.Context
		namespace  string
		cluster    *clusterv1.Cluster
		fooCluster *infrav1.FooCluster
	)

	BeforeEach(func() {
		ctx, namespace = suite.Begin(fake.CallEnsureLoadBalancer, fake.CallDeleteLoadBalancer, fake.CallZones)
		cluster = infratest.NewCluster(namespace, "one")
	})

	create := func() {
		GinkgoHelper()
		Expect(suite.Client.Create(ctx, cluster)).To(Succeed())
		fooCluster = infratest.NewFooCluster(cluster)
		Expect(suite.Client.Create(ctx, fooCluster)).To(Succeed())
	}
	name := func() string { return namespace + ".one" }
	get := func(g Gomega) *infrav1.FooCluster {
		current := &infrav1.FooCluster{}
		g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(fooCluster), current)).To(Succeed())
		return current
	}
	haveCondition := func(kind string, status metav1.ConditionStatus, reason string) {
		GinkgoHelper()
		infratest.HaveCondition(get, kind, status, reason)
	}
	provisioned := func(g Gomega) bool { return ptr.Deref(get(g).Status.Initialization.Provisioned, false) }

	It("writes the endpoint at once and reports provisioned when the load balancer is ready", func() {
		suite.Cloud.SetMode(fake.Manual)
		create()
		Eventually(func(g Gomega) infrav1.APIEndpoint { return get(g).Spec.ControlPlaneEndpoint }).
			ShouldNot(BeZero(), "the address is known once the load balancer is ordered")
		haveCondition(infrav1.FooClusterReadyCondition, metav1.ConditionFalse, infrav1.FooClusterLoadBalancerNotReadyReason)
		Expect(provisioned(Default)).To(BeFalse())

		Expect(suite.Cloud.SetLoadBalancerReady(name())).To(BeTrue())
		haveCondition(infrav1.FooClusterReadyCondition, metav1.ConditionTrue, infrav1.FooClusterReadyReason)
		Eventually(provisioned).Should(BeTrue(), "the status is written last")

		By("not taking it back when the load balancer fails later")
		Expect(suite.Cloud.SetLoadBalancerFailed(name(), "crashed")).To(BeTrue())
		haveCondition(infrav1.FooClusterReadyCondition, metav1.ConditionFalse, infrav1.FooClusterLoadBalancerNotReadyReason)
		Expect(provisioned(Default)).To(BeTrue())
	})

	It("waits for a cloud that assigns the address later", func() {
		suite.Cloud.SetLateAddresses(true)
		create()
		haveCondition(infrav1.FooClusterReadyCondition, metav1.ConditionFalse, infrav1.FooClusterLoadBalancerNotReadyReason)
		Expect(get(Default).Spec.ControlPlaneEndpoint).To(BeZero())
		Expect(provisioned(Default)).To(BeFalse())

		Expect(suite.Cloud.AssignAddress(name())).To(BeTrue())
		haveCondition(infrav1.FooClusterReadyCondition, metav1.ConditionTrue, infrav1.FooClusterReadyReason)
		lb, err := suite.Cloud.GetLoadBalancer(ctx, name())
		Expect(err).NotTo(HaveOccurred())
		Expect(get(Default).Spec.ControlPlaneEndpoint).To(Equal(infrav1.APIEndpoint{Host: lb.Address, Port: lb.Port}))
	})

	It("is provisioned only when the control plane's kubeconfig is there, since Cluster API connects then", func() {
		suite.Cloud.SetMode(fake.Manual)
		cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{
			APIGroup: "controlplane.cluster.x-k8s.io", Kind: "FooControlPlane", Name: "one",
		}
		cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{
			APIGroup: infrav1.GroupVersion.Group, Kind: "FooCluster", Name: "one",
		}
		create()
		Eventually(func() bool { return suite.Cloud.SetLoadBalancerReady(name()) }).Should(BeTrue(), "the load balancer is ordered")
		haveCondition(infrav1.FooClusterReadyCondition, metav1.ConditionTrue, infrav1.FooClusterReadyReason)
		Expect(provisioned(Default)).To(BeFalse())

		kubeconfig := infratest.NewSecret(namespace, "one-kubeconfig", "not read")
		kubeconfig.Labels = map[string]string{clusterv1.ClusterNameLabel: "one"}
		Expect(suite.Client.Create(ctx, kubeconfig)).To(Succeed())
		Eventually(provisioned).Should(BeTrue(), "the Secret is watched")
	})

	It("selects the control plane instances of its cluster by their tags", func() {
		create()
		haveCondition(infrav1.FooClusterReadyCondition, metav1.ConditionTrue, infrav1.FooClusterReadyReason)
		lb, err := suite.Cloud.GetLoadBalancer(ctx, name())
		Expect(err).NotTo(HaveOccurred())
		Expect(lb.Port).To(Equal(int32(6443)))
		Expect(lb.Selector).To(Equal(cloud.Tags{
			"cluster.x-k8s.io/cluster": namespace + "/one", "cluster.x-k8s.io/role": "control-plane",
		}))
	})

	It("reports the zones of the cloud as failure domains", func() {
		create()
		Eventually(func(g Gomega) []clusterv1.FailureDomain { return get(g).Status.FailureDomains }).Should(Equal([]clusterv1.FailureDomain{
			{Name: "zone-a", ControlPlane: ptr.To(true)},
			{Name: "zone-b", ControlPlane: ptr.To(true)},
			{Name: "zone-c", ControlPlane: ptr.To(false)},
		}), "zones are asked for at every reconcile")
	})

	It("uses the zones, the port and the tags that it names", func() {
		Expect(suite.Client.Create(ctx, cluster)).To(Succeed())
		fooCluster = infratest.NewFooCluster(cluster)
		fooCluster.Spec = infrav1.FooClusterSpec{
			LoadBalancer: infrav1.FooClusterLoadBalancer{Port: 443}, AdditionalTags: map[string]string{"team": "red"},
			Zones: []infrav1.FooClusterZone{{Name: "zone-c", ControlPlane: ptr.To(true)}, {Name: "zone-a"}, {Name: "moon"}},
		}
		Expect(suite.Client.Create(ctx, fooCluster)).To(Succeed())
		haveCondition(infrav1.FooClusterFailureDomainsReadyCondition, metav1.ConditionFalse, infrav1.CloudInvalidReason)
		Expect(conditions.GetMessage(get(Default), infrav1.FooClusterFailureDomainsReadyCondition)).To(
			Equal(`spec.zones "moon": the cloud has no such zone, allowed: zone-a, zone-b, zone-c`))
		Expect(provisioned(Default)).To(BeFalse())

		before := fooCluster.DeepCopy()
		fooCluster.Spec.Zones = fooCluster.Spec.Zones[:2]
		Expect(suite.Client.Patch(ctx, fooCluster, client.MergeFrom(before))).To(Succeed())
		haveCondition(infrav1.FooClusterReadyCondition, metav1.ConditionTrue, infrav1.FooClusterReadyReason)
		now := get(Default)
		Expect(now.Status.FailureDomains).To(Equal([]clusterv1.FailureDomain{
			{Name: "zone-a", ControlPlane: ptr.To(true)}, {Name: "zone-c", ControlPlane: ptr.To(true)},
		}))
		before = fooCluster.DeepCopy()
		fooCluster.Spec.Zones = []infrav1.FooClusterZone{{Name: "moon"}}
		Expect(suite.Client.Patch(ctx, fooCluster, client.MergeFrom(before))).To(Succeed())
		haveCondition(infrav1.FooClusterFailureDomainsReadyCondition, metav1.ConditionFalse, infrav1.CloudInvalidReason)
		Expect(get(Default).Status.FailureDomains).To(Equal(now.Status.FailureDomains), "machines must not go to zones that nobody named")
		Expect(now.Spec.ControlPlaneEndpoint.Port).To(BeEquivalentTo(443))
		lb, err := suite.Cloud.GetLoadBalancer(ctx, name())
		Expect(err).NotTo(HaveOccurred())
		Expect([]int32{lb.Port, lb.TargetPort}).To(Equal([]int32{443, 6443}))
		Expect(lb.Tags).To(HaveKeyWithValue("team", "red"))
	})

	It("takes an endpoint that a user has set and orders no load balancer", func() {
		cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: "api.example.com", Port: 443}
		create()
		haveCondition(infrav1.FooClusterLoadBalancerReadyCondition, metav1.ConditionTrue, infrav1.FooClusterEndpointProvidedReason)
		Eventually(provisioned).Should(BeTrue(), "the status is written last")
		Expect(get(Default).Spec.ControlPlaneEndpoint).To(Equal(infrav1.APIEndpoint{Host: "api.example.com", Port: 443}))
		_, err := suite.Cloud.GetLoadBalancer(ctx, name())
		Expect(cloud.IsNotFound(err)).To(BeTrue())
	})

	It("says so when its load balancer was lost and came back with another address", func() {
		create()
		haveCondition(infrav1.FooClusterReadyCondition, metav1.ConditionTrue, infrav1.FooClusterReadyReason)
		Eventually(provisioned).Should(BeTrue(), "the status is written last")
		endpoint := get(Default).Spec.ControlPlaneEndpoint
		Expect(suite.Cloud.LoseLoadBalancer(name())).To(BeTrue())
		haveCondition(infrav1.FooClusterReadyCondition, metav1.ConditionFalse, infrav1.FooClusterLoadBalancerNotReadyReason)
		Expect(get(Default).Spec.ControlPlaneEndpoint).To(Equal(endpoint))
	})

	DescribeTable("reports an error of the cloud and recovers",
		func(err error, reason string) {
			suite.Cloud.Fail(fake.CallEnsureLoadBalancer, err)
			create()
			haveCondition(infrav1.FooClusterReadyCondition, metav1.ConditionFalse, reason)
			c := conditions.Get(get(Default), infrav1.FooClusterLoadBalancerReadyCondition)
			Expect(c.Message).To(Equal(err.Error()))
			suite.Cloud.Heal(fake.CallEnsureLoadBalancer)
			suite.Cloud.DropWatches() // makes the controller reconcile now instead of at its next retry
			haveCondition(infrav1.FooClusterReadyCondition, metav1.ConditionTrue, infrav1.FooClusterReadyReason)
		},
		Entry("quota", &cloud.QuotaExceededError{Resource: "loadBalancers", Limit: 1, Used: 1, Requested: 1}, infrav1.CloudQuotaExceededReason),
		Entry("unavailable", &cloud.UnavailableError{Message: "maintenance"}, infrav1.CloudUnavailableReason),
		Entry("unauthorized", &cloud.UnauthorizedError{Message: "unknown token"}, infrav1.CloudUnauthorizedReason),
		Entry("throttled", &cloud.ThrottledError{}, infrav1.CloudThrottledReason),
	)

	It("does nothing while paused", func() {
		cluster.Spec.Paused = ptr.To(true)
		create()
		haveCondition(clusterv1.PausedCondition, metav1.ConditionTrue, clusterv1.PausedReason)
		_, err := suite.Cloud.GetLoadBalancer(ctx, name())
		Expect(cloud.IsNotFound(err)).To(BeTrue())

		suite.SetPaused(ctx, cluster, false)
		haveCondition(clusterv1.PausedCondition, metav1.ConditionFalse, clusterv1.NotPausedReason)
		haveCondition(infrav1.FooClusterReadyCondition, metav1.ConditionTrue, infrav1.FooClusterReadyReason)
	})

	It("is deleted when its paused Cluster vanishes", func() {
		create()
		haveCondition(infrav1.FooClusterReadyCondition, metav1.ConditionTrue, infrav1.FooClusterReadyReason)
		suite.BeDeletedAfterPausedCluster(ctx, cluster, fooCluster)
	})

	It("leaves externally managed infrastructure alone", func() {
		Expect(suite.Client.Create(ctx, cluster)).To(Succeed())
		fooCluster = infratest.NewFooCluster(cluster)
		fooCluster.Annotations = map[string]string{clusterv1.ManagedByAnnotation: "somebody"}
		Expect(suite.Client.Create(ctx, fooCluster)).To(Succeed())
		Consistently(func(g Gomega) {
			current := get(g)
			g.Expect(current.Finalizers).To(BeEmpty())
			g.Expect(current.Status.Conditions).To(BeEmpty())
		}, "1s").Should(Succeed(), "the annotation forbids any write")
	})

	It("keeps the FooCluster until the load balancer is gone", func() {
		create()
		haveCondition(infrav1.FooClusterReadyCondition, metav1.ConditionTrue, infrav1.FooClusterReadyReason)
		suite.Cloud.SetMode(fake.Manual)
		Expect(suite.Client.Delete(ctx, fooCluster)).To(Succeed())
		haveCondition(infrav1.DeletingCondition, metav1.ConditionTrue, infrav1.DeletingReason)
		haveCondition(infrav1.FooClusterReadyCondition, metav1.ConditionFalse, infrav1.FooClusterDeletingReason)

		suite.Cloud.FinishDeletions()
		suite.BeGone(ctx, fooCluster)
	})
})
