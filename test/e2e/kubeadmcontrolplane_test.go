//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cluster API's own control plane with its own manager: FooMachines provide what its contract
// promises. The flavor kcp has the spec of a FooControlPlane and only another kind.
var _ = Describe("A KubeadmControlPlane on FooMachines", Ordered, Label("control-plane", "flavors", "kubeadm-control-plane",
	needsAllVersions, needsKubeadmControlPlane, needsNextRelease), func() {
	const namespace = "kubeadm"
	var c *cluster
	var keys *ledger

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		c = m.newFlavor(ctx, client.ObjectKey{Namespace: namespace, Name: "classic"},
			flavor{name: "kcp", shape: shape{controlPlanes: 1, workers: 1, version: previousVersion}})
	}, NodeTimeout(clusterUp))

	It("comes up", func(ctx SpecContext) {
		c.available(ctx)
		Expect(c.anyControlPlane(Default, ctx).GetKind()).To(Equal("KubeadmControlPlane"))
		c.nodesReady(ctx, 1, 1)
		c.withoutDNSPods(ctx)
		c.scaleWorkers(ctx, 0)
		c.settled(ctx, 1, previousVersion)
		keys = c.newLedger(ctx)
	}, NodeTimeout(2*clusterUp))

	It("rolls out a new version", func(ctx SpecContext) {
		keys.during(ctx, func() {
			c.upgradeControlPlane(ctx, currentVersion)
			c.settled(ctx, 1, currentVersion)
		})
	}, NodeTimeout(rolledOut))

	It("grows to 3", func(ctx SpecContext) {
		keys.during(ctx, func() {
			c.scaleControlPlane(ctx, 3)
			c.settled(ctx, 3, currentVersion)
		})
	}, NodeTimeout(rolledOut))

	It("replaces all 3 on request", Label("slow"), func(ctx SpecContext) {
		before := uidsOf(c.controlPlaneMachines(Default, ctx))
		keys.during(ctx, func() {
			c.rolloutNow(ctx)
			c.replaced(ctx, before)
			c.settled(ctx, 3, currentVersion)
		})
	}, NodeTimeout(2*rolledOut))

	It("is deleted", func(ctx SpecContext) { c.deleted(ctx) }, NodeTimeout(clusterGone+soon))
})
