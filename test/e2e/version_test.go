//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"slices"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// The second story starts with the cluster of the first.
var _ = Describe("A version that the cloud does not have", Ordered, Label("version", "bad-input"), func() {
	const namespace = "version-taken-back"
	const missing = currentVersion + "0"
	var c *cluster

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		c = m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "one"}, shape{controlPlanes: 1, version: missing})
	}, NodeTimeout(clusterUp))

	It("can be reverted before the control plane is initialized", func(ctx SpecContext) {
		failed := c.neverComesUp(ctx, missing)
		c.upgradeControlPlane(ctx, currentVersion)
		c.available(ctx)
		c.settled(ctx, 1, currentVersion)
		Expect(uidsOf(c.controlPlaneMachines(Default, ctx)).Has(failed.UID)).To(BeFalse(), "the failed Machine still exists")
	}, NodeTimeout(3*clusterUp))

	It("can be reverted before a Machine has it, and no Machine is replaced", func(ctx SpecContext) {
		before := uidsOf(c.controlPlaneMachines(Default, ctx))
		c.upgradeControlPlane(ctx, missing)
		c.neverComesUp(ctx, missing)
		c.upgradeControlPlane(ctx, currentVersion)
		c.settled(ctx, 1, currentVersion)
		Expect(uidsOf(c.controlPlaneMachines(Default, ctx))).To(Equal(before))
	}, NodeTimeout(2*clusterUp))
})

// neverComesUp waits until the control plane has a Machine of the version and the cloud has
// rejected its instance.
func (c *cluster) neverComesUp(ctx context.Context, version string) *clusterv1.Machine {
	GinkgoHelper()
	var found clusterv1.Machine
	Eventually(func(g Gomega) {
		machines := c.controlPlaneMachines(g, ctx)
		index := slices.IndexFunc(machines, func(machine clusterv1.Machine) bool { return machine.Spec.Version == version })
		g.Expect(index).To(BeNumerically(">=", 0), "there is no Machine of %s", version)
		found = machines[index]
		fooMachine := &infrav1.FooMachine{}
		fooMachine.Namespace, fooMachine.Name = found.Namespace, found.Spec.InfrastructureRef.Name
		// The message quotes the version, and lists those that the cloud has.
		c.expectProblem(g, ctx, fooMachine, infrav1.FooMachineInstanceProvisionedCondition, infrav1.CloudInvalidReason,
			strconv.Quote(version), "allowed: ", " "+currentVersion)
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
	return &found
}
