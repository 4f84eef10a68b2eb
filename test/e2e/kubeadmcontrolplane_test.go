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
// promises.
var _ = Describe("A KubeadmControlPlane on FooMachines", Ordered, Label("control-plane", "kubeadm-control-plane", needsKubeadmControlPlane, needsAllVersions), func() {
	const namespace = "kubeadm"
	var c *cluster
	var keys *ledger

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		c = m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "classic"},
			shape{controlPlanes: 1, version: previousVersion}, withKubeadmControlPlane)
	}, NodeTimeout(clusterUp))

	It("comes up", Label("contract:infra-cluster.control-plane-endpoint", "contract:infra-machine.initialization-completed"), func(ctx SpecContext) {
		c.available(ctx)
		c.settled(ctx, 1, previousVersion)
		keys = c.newLedger(ctx)
	}, NodeTimeout(2*clusterUp))

	It("rolls out a new version", Label("contract:infra-machine.provider-id"), func(ctx SpecContext) {
		keys.during(ctx, func() {
			c.upgradeControlPlane(ctx, currentVersion)
			c.settled(ctx, 1, currentVersion)
		})
	}, NodeTimeout(rolledOut))

	It("grows to 3", Label("contract:infra-machine.failure-domain"), func(ctx SpecContext) {
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
})
