//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/test/e2e/stopwatch"
)

var _ = Describe("Programs and machines that die", Ordered, Label("resilience"), func() {
	const namespace = "resilience"
	var c *cluster

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		c = m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "tough"}, shape{controlPlanes: 1, workers: 1, version: currentVersion})
		c.available(ctx)
		c.nodesReady(ctx, 1, 1)
	}, NodeTimeout(2*clusterUp))

	It("grows the control plane to 3 even if the manager and foocloud are killed", Label("contract:control-plane.replicas"), func(ctx SpecContext) {
		watch := stopwatch.Start(ctx)
		asking := c.poll(ctx)
		c.scaleControlPlane(ctx, 3)
		By("killing the manager once it has created the second machine")
		c.waitForMachines(ctx, 2)
		c.expectRestart(ctx, "manager", c.kill("manager"))
		By("killing foocloud once the third machine is requested")
		c.waitForMachines(ctx, 3)
		c.expectRestart(ctx, "foocloud", c.kill("foocloud"))
		By("waiting for the control plane")
		nodes := c.nodesReady(ctx, 3, 1)
		c.controlPlaneReady(ctx, 3)
		Expect(c.healthyMembers(ctx, nodes)).To(ConsistOf(namesOf(controlPlanesOf(nodes))))

		answers := asking()
		worst := longest(answers, watch)
		AddReportEntry("requests through the load balancer", fmt.Sprintf("%d, %s", len(answers), worst))
		Expect(worst.ofCluster()).To(BeNumerically("<=", longestOutage), "reads through the load balancer: %s", worst)
	}, NodeTimeout(3*clusterUp))

	It("reports an instance whose first process is killed", Label("contract:infra-machine.conditions"), func(ctx SpecContext) {
		// An instance of the pool would be replaced within a second; without health checks, one of
		// the control plane is kept.
		staying := slices.DeleteFunc(c.fooMachines(Default, ctx), func(machine infrav1.FooMachine) bool {
			_, controlPlane := machine.Labels[clusterv1.MachineControlPlaneLabel]
			return !controlPlane
		})
		Expect(staying).To(HaveLen(3))
		victim := &staying[0]
		Expect(syscall.Kill(instanceInit(victim.Status.InstanceID), syscall.SIGKILL)).To(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(c.Get(ctx, client.ObjectKeyFromObject(victim), victim)).To(Succeed())
			ready := expectCondition(g, victim.Status.Conditions, infrav1.FooMachineReadyCondition, metav1.ConditionFalse)
			g.Expect(ready.Message).NotTo(BeEmpty(), "Ready must say why it is not true")
			provisioned := expectCondition(g, victim.Status.Conditions, infrav1.FooMachineInstanceProvisionedCondition, metav1.ConditionFalse)
			g.Expect(provisioned.Reason).To(Equal(infrav1.FooMachineInstanceStoppedReason))
			g.Expect(provisioned.Message).To(ContainSubstring("first process"))
			g.Expect(victim.Status.Initialization.Provisioned).To(HaveValue(BeTrue()), "it must never go back to false")
		}).WithContext(ctx).Should(Succeed())
		Eventually(c.warnings(victim)).WithContext(ctx).Should(ContainElement(ContainSubstring(infrav1.FooMachineInstanceStoppedReason)))
		instances := foocloud[[]instance](ctx, c.management, "instances")
		index := slices.IndexFunc(instances, func(i instance) bool { return i.ID == victim.Status.InstanceID })
		Expect(index).To(BeNumerically(">=", 0), "the instance is lost")
		Expect(instances[index].State).To(Equal("Stopped"))
	}, NodeTimeout(clusterUp))
})

// waitForMachines waits until the control plane has requested that many machines.
func (c *cluster) waitForMachines(ctx context.Context, count int32) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(ptr.Deref(c.controlPlane(g, ctx).Status.Replicas, 0)).To(BeNumerically(">=", count))
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "the control plane does not grow to %d machines", count)
}

// expectRestart waits until a killed program is running again. A program that keeps dying is
// restarted after growing delays.
func (m *management) expectRestart(ctx context.Context, program string, killed int) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		pid := m.pid(g, program)
		g.Expect(pid).NotTo(Equal(killed))
		g.Expect(syscall.Kill(pid, 0)).To(Succeed())
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "%s is not restarted", program)
}
