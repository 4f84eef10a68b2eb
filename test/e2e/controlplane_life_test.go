//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

// One cluster is used for all of these stories, so each starts with the result of the previous one.
// Everything that a client wrote during any of them must exist at the end of each.
var _ = Describe("The life of a control plane", Ordered, Label("control-plane", needsAllVersions), func() {
	const namespace = "control-plane"
	var c *cluster
	var keys *ledger
	// version is the current version of the control plane.
	version := previousVersion

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		c = m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "life"}, shape{controlPlanes: 1, version: version})
		c.available(ctx)
		c.settled(ctx, 1, version)
		c.withoutDNSPods(ctx)
		keys = c.newLedger(ctx)
	}, NodeTimeout(2*clusterUp))

	It("grows to 3 without a gap in service even if the manager and foocloud are killed", Label("resilience"), func(ctx SpecContext) {
		expectNoGap(keys.during(ctx, func() {
			c.scaleControlPlane(ctx, 3)
			By("killing the manager once it has created the second Machine")
			c.waitForMachines(ctx, 2)
			c.expectRestart(ctx, "manager", c.kill("manager"))
			By("killing foocloud once the third Machine is requested")
			c.waitForMachines(ctx, 3)
			c.expectRestart(ctx, "foocloud", c.kill("foocloud"))
			By("waiting for the control plane")
			c.settled(ctx, 3, version)
		}))
	}, NodeTimeout(2*rolledOut))

	It("grows to 5 and shrinks to 3, in balance and without a gap in service", func(ctx SpecContext) {
		expectNoGap(keys.during(ctx, func() {
			for _, replicas := range []int{5, 3} {
				c.scaleControlPlane(ctx, replicas)
				c.settled(ctx, replicas, version)
			}
		}))
	}, NodeTimeout(3*rolledOut))

	It("rolls out a new version with one more Machine, without a gap in service", func(ctx SpecContext) {
		before := uidsOf(c.controlPlaneMachines(Default, ctx))
		expectNoGap(keys.during(ctx, func() {
			version = currentVersion
			c.upgradeControlPlane(ctx, version)
			c.settled(ctx, 3, version)
		}))
		Expect(uidsOf(c.controlPlaneMachines(Default, ctx)).Intersection(before)).To(BeEmpty(), "Machines of the old version still exist")
	}, NodeTimeout(2*rolledOut))

	It("replaces no Machine when the manager restarts, or for a label", func(ctx SpecContext) {
		before := uidsOf(c.controlPlaneMachines(Default, ctx))
		c.expectRestart(ctx, "manager", c.kill("manager"))
		c.admitsChanges(ctx)
		By("waiting until the new manager has reconciled every Machine: each gets the label in place")
		c.patchControlPlane(ctx, `{"machineTemplate":{"metadata":{"labels":{"e2e.foo/looked-at":"yes"}}}}`)
		Eventually(func(g Gomega) {
			for _, machine := range c.controlPlaneMachines(g, ctx) {
				g.Expect(machine.Labels).To(HaveKeyWithValue("e2e.foo/looked-at", "yes"), machine.Name)
			}
		}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
		c.settled(ctx, 3, version)
		Expect(uidsOf(c.controlPlaneMachines(Default, ctx))).To(Equal(before), "Machines were replaced although nothing about them changed")
		expectCondition(Default, c.controlPlane(Default, ctx).Status.Conditions, controlplanev1.RollingOutCondition, metav1.ConditionFalse)
	}, NodeTimeout(2*clusterUp))

	It("survives a killed API server and a killed etcd leader", func(ctx SpecContext) {
		keys.during(ctx, func() {
			nodes := c.settled(ctx, 3, version)
			c.killProgram(ctx, nodes[0], "kube-apiserver")
			c.killProgram(ctx, c.etcdLeader(ctx, nodes), "etcd")
			c.settled(ctx, 3, version)
		})
	}, NodeTimeout(3*clusterUp))

	It("keeps its Machines when it has lost its status, its API is unreachable and all Machines are marked unhealthy", func(ctx SpecContext) {
		c.healthChecked(ctx)
		before := c.controlPlaneMachines(Default, ctx)
		restore := c.cutOff()
		c.loseStatus(ctx, c.controlPlane(Default, ctx))
		c.askForRemediation(ctx)
		c.keepsMachines(ctx, before, 15*time.Second)
		c.withdrawRemediation(ctx)
		restore()
		c.initializedAgain(ctx)
		c.settled(ctx, 3, version)
		Expect(uidsOf(c.controlPlaneMachines(Default, ctx))).To(Equal(uidsOf(before)), "Machines were replaced although nothing was wrong with them")
		keys.expectAll(ctx)
	}, NodeTimeout(2*rolledOut))

	It("keeps its Machines when no object has a status after a restore and its API is unreachable", Label("slow"), func(ctx SpecContext) {
		c.healthChecked(ctx, impatient)
		before := c.controlPlaneMachines(Default, ctx)
		restore := c.cutOff()
		c.loseAllStatus(ctx)
		c.keepsMachines(ctx, before, 2*shortestNodeStartup)
		restore()
		c.initializedAgain(ctx)
		c.settled(ctx, 3, version)
		// The MachineHealthCheck may have found Machines unhealthy because they lacked a Node, and
		// may withdraw that only after the first one is replaced.
		Expect(uidsOf(c.controlPlaneMachines(Default, ctx)).Intersection(uidsOf(before)).Len()).To(BeNumerically(">=", 2), "Machines that are kept")
		keys.expectAll(ctx)
	}, NodeTimeout(2*rolledOut))

	It("replaces a Machine whose instance has stopped", func(ctx SpecContext) {
		c.healthChecked(ctx)
		keys.during(ctx, func() {
			c.expectReplaced(ctx, 3, version, c.stopInstances(ctx, c.settled(ctx, 3, version)[:1]))
		})
	}, NodeTimeout(2*rolledOut))

	It("replaces a Machine whose instance was deleted behind Cluster API's back", Label("slow"), func(ctx SpecContext) {
		c.healthChecked(ctx)
		keys.during(ctx, func() {
			node := c.settled(ctx, 3, version)[0]
			id := c.instanceOf(ctx, node)
			c.deleteInstance(ctx, id)
			Eventually(func() []instance {
				return slices.DeleteFunc(foocloud[[]instance](ctx, c.management, "instances"), func(one instance) bool { return one.ID != id })
			}).WithContext(ctx).Should(BeEmpty(), "the cloud has not deleted the instance")
			c.expectReplaced(ctx, 3, version, []string{node.Spec.ProviderID})
		})
	}, NodeTimeout(2*rolledOut))

	It("recovers from the loss of a zone with 2 of 5 Machines", Label("slow"), func(ctx SpecContext) {
		c.scaleControlPlane(ctx, 5)
		nodes := c.settled(ctx, 5, version)
		c.healthChecked(ctx)
		keys.during(ctx, func() {
			lost := c.nodesIn(ctx, mostUsed(failureDomainsOf(c.controlPlaneMachines(Default, ctx))), nodes)
			Expect(lost).To(HaveLen(2), "5 Machines in 3 zones")
			c.expectReplaced(ctx, 5, version, c.stopInstances(ctx, lost))
		})
		c.scaleControlPlane(ctx, 3)
		c.settled(ctx, 3, version)
		keys.expectAll(ctx)
	}, NodeTimeout(4*rolledOut))

	It("rolls out even if the manager is killed in each step", Label("slow"), func(ctx SpecContext) {
		before := uidsOf(c.controlPlaneMachines(Default, ctx))
		writes, reads := keys.during(ctx, func() {
			c.rolloutNow(ctx)
			kills := c.killManagerInEachStep(ctx, before.UnsortedList())
			AddReportEntry("kills of the manager", strings.Join(kills, "\n"))
			Expect(len(kills)).To(BeNumerically(">=", 3*len(before)), "each Machine is created and comes up, and the old one is deleted")
			c.settled(ctx, 3, version)
		})
		expectNoGap(writes, reads)
	}, NodeTimeout(3*rolledOut))

	It("shrinks to 1", func(ctx SpecContext) {
		expectNoGap(keys.during(ctx, func() {
			c.scaleControlPlane(ctx, 1)
			c.settled(ctx, 1, version)
		}))
	}, NodeTimeout(rolledOut))
})

var _ = Describe("A control plane without room for an additional machine", Ordered, Label("control-plane", "slow", needsAllVersions), func() {
	const namespace = "no-surge"
	var c *cluster

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		c = m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "tight"}, shape{controlPlanes: 3, version: previousVersion}, withMaxSurge(0))
		c.available(ctx)
		c.settled(ctx, 3, previousVersion)
	}, NodeTimeout(rolledOut+clusterUp))

	It("rolls out a new version with one Machine fewer, without a gap in service", func(ctx SpecContext) {
		watched := c.countMachines(ctx)
		expectNoGap(c.newLedger(ctx).during(ctx, func() {
			c.upgradeControlPlane(ctx, currentVersion)
			c.settled(ctx, 3, currentVersion)
		}))
		Expect(watched()).To(BeNumerically("<=", 3), "there were more Machines than desired")
	}, NodeTimeout(2*rolledOut))
})

// waitForMachines waits until the control plane has requested that many Machines.
func (c *cluster) waitForMachines(ctx context.Context, count int32) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(ptr.Deref(c.controlPlane(g, ctx).Status.Replicas, 0)).To(BeNumerically(">=", count))
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "the control plane does not grow to %d Machines", count)
}

// killProgram kills a program in a control plane's instance with SIGKILL, and waits until it is
// running again.
func (c *cluster) killProgram(ctx context.Context, node corev1.Node, program string) {
	GinkgoHelper()
	By("killing " + program + " of " + node.Name)
	id := c.instanceOf(ctx, node)
	killed := processOfInstance(id, program)
	Expect(killed).NotTo(BeZero(), "%s is not running in %s", program, id)
	Expect(syscall.Kill(killed, syscall.SIGKILL)).To(Succeed())
	Eventually(func() int { return processOfInstance(id, program) }).WithContext(ctx).WithTimeout(clusterUp).
		ShouldNot(Or(BeZero(), Equal(killed)), "the kubelet does not restart %s", program)
}

// stopInstances stops instances like a power failure, and returns their provider IDs.
func (c *cluster) stopInstances(ctx context.Context, nodes []corev1.Node) []string {
	GinkgoHelper()
	for _, node := range nodes {
		By("stopping " + node.Name)
		Expect(syscall.Kill(instanceInit(c.instanceOf(ctx, node)), syscall.SIGKILL)).To(Succeed())
	}
	return providerIDsOf(nodes)
}

// nodesIn returns the Nodes in a zone.
func (c *cluster) nodesIn(ctx context.Context, zone string, nodes []corev1.Node) []corev1.Node {
	GinkgoHelper()
	var ids []string
	for _, machine := range c.controlPlaneFooMachines(Default, ctx) {
		if machine.Status.FailureDomain == zone {
			ids = append(ids, machine.Spec.ProviderID)
		}
	}
	found := slices.DeleteFunc(slices.Clone(nodes), func(node corev1.Node) bool { return !slices.Contains(ids, node.Spec.ProviderID) })
	Expect(found).NotTo(BeEmpty(), "no Node is in the zone %q", zone)
	return found
}

// expectReplaced waits until the control plane has all its Machines, none of them with a lost
// instance.
func (c *cluster) expectReplaced(ctx context.Context, replicas int, version string, lost []string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		for _, machine := range c.controlPlaneMachines(g, ctx) {
			g.Expect(lost).NotTo(ContainElement(machine.Spec.ProviderID), "Machine %s is not replaced: %s", machine.Name,
				c.controlPlaneSays(g, ctx, controlplanev1.RemediatingCondition))
		}
	}).WithContext(ctx).WithTimeout(rolledOut).Should(Succeed())
	c.settled(ctx, replicas, version)
}

// mostUsed returns the zone with the most Machines.
func mostUsed(zones map[string]int) string {
	return slices.MaxFunc(slices.Sorted(maps.Keys(zones)), func(a, b string) int { return zones[a] - zones[b] })
}

// controlPlaneSays returns the message of a condition for failure messages.
func (c *cluster) controlPlaneSays(g Gomega, ctx context.Context, condition string) string {
	for _, one := range c.controlPlane(g, ctx).Status.Conditions {
		if one.Type == condition {
			return fmt.Sprintf("%s is %s: %s", one.Type, one.Status, one.Message)
		}
	}
	return "there is no condition " + condition
}

// killManagerInEachStep kills the manager whenever a Machine of the control plane has reached the
// next step, until no old Machine is left. It returns what it saw each time.
func (c *cluster) killManagerInEachStep(ctx context.Context, old []types.UID) []string {
	GinkgoHelper()
	var kills []string
	last := c.step(Default, ctx)
	Eventually(func(g Gomega) {
		now := c.step(g, ctx)
		if now != last {
			last = now
			kills = append(kills, now)
			c.expectRestart(ctx, "manager", c.kill("manager"))
		}
		g.Expect(uidsOf(c.controlPlaneMachines(g, ctx)).HasAny(old...)).To(BeFalse(), "old Machines are left: %s", now)
	}).WithContext(ctx).WithTimeout(2 * rolledOut).Should(Succeed())
	return kills
}

// step describes the progress of each Machine of the control plane.
func (c *cluster) step(g Gomega, ctx context.Context) string {
	var states []string
	for _, machine := range c.controlPlaneMachines(g, ctx) {
		states = append(states, machine.Name+" "+string(machine.Status.GetTypedPhase()))
	}
	slices.Sort(states)
	return strings.Join(states, ", ")
}

// countMachines watches how many Machines the control plane has at once. The returned function
// stops the watch and returns the maximum.
func (c *cluster) countMachines(ctx context.Context) func() int {
	var mu sync.Mutex
	most := 0
	stop := repeat(ctx, interval, func(ctx context.Context) error {
		var list clusterv1.MachineList
		err := c.List(ctx, &list, client.InNamespace(c.key.Namespace))
		mu.Lock()
		defer mu.Unlock()
		most = max(most, len(list.Items))
		return err
	})
	return func() int {
		stop()
		return most
	}
}
