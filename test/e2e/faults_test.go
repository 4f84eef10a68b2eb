//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// Instance types that the pool switches between.
const (
	smallType  = "small"
	mediumType = "medium"
)

// joinTime is how long a Node may take to join before its instance is replaced: many times longer
// than it needs.
const joinTime = 3 * time.Minute

var _ = Describe("A rollout of a pool, with faults of the cloud", Ordered, Label("machinepool"), func() {
	const namespace = "faults"
	const workers = 2
	var c *cluster

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		c = m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "one"},
			shape{controlPlanes: 1, workers: workers, version: currentVersion}, patientPool)
		c.available(ctx)
		c.withoutDNSPods(ctx)
		c.poolHas(ctx, workersOf(c.nodesReady(ctx, 1, workers)))
	}, NodeTimeout(2*clusterUp))

	AfterEach(func(ctx SpecContext) { c.healAll(ctx) }, NodeTimeout(soon))

	It("stalls without capacity, keeps working instances, and then continues", func(ctx SpecContext) {
		c.fault(ctx, "full", "--kind=Stockout", "--pool="+c.poolName())
		before := workersOf(c.nodesReady(ctx, 1, workers))
		c.rollOut(ctx)
		message := c.poolSays(ctx, infrav1.FooMachinePoolStalledCondition, metav1.ConditionTrue, infrav1.CloudOutOfCapacityReason)
		Expect(message).To(ContainSubstring("out of capacity"))
		Expect(namesOf(workersOf(c.nodesReady(ctx, 1, workers)))).To(ConsistOf(namesOf(before)))
		c.heal(ctx, "full")
		c.rolledOut(ctx, workers)
	}, NodeTimeout(2*clusterUp))

	It("replaces a lost instance", func(ctx SpecContext) {
		c.rollOut(ctx)
		c.poolSays(ctx, infrav1.FooMachinePoolRollingOutCondition, metav1.ConditionTrue, infrav1.FooMachinePoolRollingOutReason)
		c.fault(ctx, "lost", "--kind=LostInstance", "--pool="+c.poolName(), "--count=1")
		c.rolledOut(ctx, workers)
		Expect(c.strikes(ctx, "lost")).To(Equal(1))
	}, NodeTimeout(2*clusterUp))

	It("repairs a pool that is sized elsewhere while its rollout is paused", func(ctx SpecContext) {
		c.sizedElsewhere(ctx)
		kept, broken := c.rolloutPaused(ctx, workers)
		Expect(syscall.Kill(instanceInit(broken.ID), syscall.SIGKILL)).To(Succeed())
		c.expectRepaired(ctx, workers, kept, broken)
		c.rolloutResumed(ctx)
		c.rolledOut(ctx, workers)
	}, NodeTimeout(2*clusterUp))

	It("drains an instance before the cloud reclaims it, also from a pool that is sized elsewhere while its rollout is paused", Label("slow"), func(ctx SpecContext) {
		c.patchPoolTemplate(ctx, `{"interruptible":true}`)
		c.rolledOut(ctx, workers)
		for _, node := range workersOf(c.nodesReady(ctx, 1, workers)) {
			Expect(node.Labels).To(HaveKey(clusterv1.InterruptibleLabel))
		}
		c.reclaim(ctx)
		c.heal(ctx, "spot")
		c.rolledOut(ctx, workers)
		c.sizedElsewhere(ctx)
		kept, reclaimed := c.rolloutPaused(ctx, workers)
		if c.reclaim(ctx).ID == kept.ID {
			kept, reclaimed = reclaimed, kept
		}
		c.expectRepaired(ctx, workers, kept, reclaimed)
		c.rolloutResumed(ctx)
		c.patchPoolTemplate(ctx, `{"interruptible":false}`)
		c.rolledOut(ctx, workers)
	}, NodeTimeout(5*clusterUp))

	It("stalls and reports it when nothing boots, and then continues", Label("slow"), func(ctx SpecContext) {
		c.fault(ctx, "broken", "--kind=BootFailure", "--pool="+c.poolName())
		c.rollOut(ctx)
		message := c.poolSays(ctx, infrav1.FooMachinePoolStalledCondition, metav1.ConditionTrue, infrav1.FooMachinePoolNodesDoNotJoinReason)
		Expect(message).To(ContainSubstring("did not boot (fault rule broken)"))
		Expect(c.strikes(ctx, "broken")).To(BeNumerically("<=", 4), "it does not retry endlessly")
		c.nodesUsable(ctx, workers)
		c.heal(ctx, "broken")
		c.rolledOut(ctx, workers)
	}, NodeTimeout(2*clusterUp))

	It("waits for instances that boot slowly", Label("slow"), func(ctx SpecContext) {
		c.fault(ctx, "slow", "--kind=SlowBoot", "--delay=8s", "--pool="+c.poolName())
		c.rollOut(ctx)
		c.rolledOut(ctx, workers)
		Expect(c.strikes(ctx, "slow")).To(Equal(workers), "no instance was given up")
	}, NodeTimeout(2*clusterUp))

	It("replaces an instance that stops", Label("slow"), func(ctx SpecContext) {
		c.rollOut(ctx)
		c.poolSays(ctx, infrav1.FooMachinePoolRollingOutCondition, metav1.ConditionTrue, infrav1.FooMachinePoolRollingOutReason)
		c.fault(ctx, "stopped", "--kind=StoppedInstance", "--pool="+c.poolName(), "--count=1")
		c.rolledOut(ctx, workers)
		Expect(c.strikes(ctx, "stopped")).To(Equal(1))
	}, NodeTimeout(2*clusterUp))

	It("completes in the remaining zones while one is out", Label("slow"), func(ctx SpecContext) {
		zone := c.workerZone(ctx)
		c.rollOut(ctx)
		c.fault(ctx, "outage", "--kind=ZoneOutage", "--zone="+zone)
		c.rolledOut(ctx, workers)
		for _, one := range c.poolInstances(ctx) {
			Expect(one.Zone).NotTo(Equal(zone))
		}
		c.heal(ctx, "outage")
		c.nodesUsable(ctx, workers)
	}, NodeTimeout(2*clusterUp))

	It("reports that the cloud throttles, and then continues", Label("slow"), func(ctx SpecContext) {
		c.fault(ctx, "busy", "--kind=Throttling", "--retry-after=2s")
		c.rollOut(ctx)
		c.poolSays(ctx, infrav1.FooMachinePoolPoolProvisionedCondition, metav1.ConditionFalse, infrav1.CloudThrottledReason)
		c.poolSays(ctx, infrav1.FooMachinePoolStalledCondition, metav1.ConditionUnknown, infrav1.CloudThrottledReason)
		struck := c.strikes(ctx, "busy")
		Expect(struck).To(BeNumerically("<", 60), "the manager respects the throttling")
		c.heal(ctx, "busy")
		c.rolledOut(ctx, workers)
	}, NodeTimeout(2*clusterUp))

	It("reports that the cloud does not work, and then continues", Label("slow"), func(ctx SpecContext) {
		c.fault(ctx, "down", "--kind=ServerError", "--status=502")
		c.rollOut(ctx)
		c.poolSays(ctx, infrav1.FooMachinePoolPoolProvisionedCondition, metav1.ConditionFalse, infrav1.CloudUnavailableReason)
		c.heal(ctx, "down")
		c.fault(ctx, "flaky", "--kind=ServerError", "--probability=0.3", "--seed=1")
		c.fault(ctx, "slow", "--kind=APILatency", "--delay=200ms")
		c.updated(ctx, workers)
		Expect(c.strikes(ctx, "flaky")).To(BeNumerically(">", 0))
		c.heal(ctx, "flaky")
		c.rolledOut(ctx, workers)
		Expect(c.strikes(ctx, "slow")).To(BeNumerically(">", 0))
	}, NodeTimeout(2*clusterUp))

	It("comes back with all its data after an outage of the control plane's zone", Label("slow"), func(ctx SpecContext) {
		c.on(ctx, "create", "configmap", "kept")
		for zone := range c.failureDomainsOfInstances(Default, ctx) {
			c.fault(ctx, "outage", "--kind=ZoneOutage", "--zone="+zone, "--after-outage=StartAgain")
		}
		Eventually(func(g Gomega) {
			for _, machine := range c.controlPlaneFooMachines(g, ctx) {
				ready := expectCondition(g, machine.Status.Conditions, infrav1.FooMachineReadyCondition, metav1.ConditionFalse)
				g.Expect(ready.Reason).To(Equal(infrav1.FooMachineInstanceStoppedReason))
				g.Expect(ready.Message).To(ContainSubstring("is out (fault rule outage)"))
			}
		}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "the control plane is not reported as stopped")
		c.heal(ctx, "outage")
		c.keeps(ctx, "kept")
		c.rolledOut(ctx, workers)
	}, NodeTimeout(2*clusterUp))

	It("comes back with all its data when the control plane's machine is switched off and on", func(ctx SpecContext) {
		c.on(ctx, "create", "configmap", "kept-too")
		id := c.controlPlaneFooMachines(Default, ctx)[0].Status.InstanceID
		c.foocloud(ctx, "instance", "stop", id)
		Eventually(func(g Gomega) {
			ready := expectCondition(g, c.controlPlaneFooMachines(g, ctx)[0].Status.Conditions, infrav1.FooMachineReadyCondition, metav1.ConditionFalse)
			g.Expect(ready.Message).To(ContainSubstring("stopped by a user"))
		}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "the control plane is not reported as stopped")
		c.foocloud(ctx, "instance", "start", id)
		c.keeps(ctx, "kept-too")
		c.rolledOut(ctx, workers)
	}, NodeTimeout(2*clusterUp))

	AfterAll(func(ctx SpecContext) {
		c.kubectl(ctx, "--namespace="+namespace, "delete", "cluster", c.key.Name)
	}, NodeTimeout(clusterGone+soon))
})

// patientPool gives Nodes time to join on a busy machine, and makes the pool stall after two
// failures.
func patientPool(object *unstructured.Unstructured) {
	GinkgoHelper()
	if object.GetKind() == "FooMachinePool" {
		Expect(unstructured.SetNestedMap(object.Object, map[string]any{
			"nodeJoinTimeoutSeconds": int64(joinTime.Seconds()), "maxFailedReplacements": int64(2),
		}, "spec", "strategy")).To(Succeed())
	}
}

// rule holds the fields of `foocloud faults list` that the stories need.
type rule struct {
	Name    string `json:"name"`
	Strikes int    `json:"strikes"`
}

// poolName is the name of the pool in the cloud.
func (c *cluster) poolName() string { return c.key.Namespace + "." + c.key.Name + "-workers" }

// fault adds a fault rule to the cloud.
func (c *cluster) fault(ctx context.Context, name string, args ...string) {
	GinkgoHelper()
	c.faults(ctx, append([]string{"add", name}, args...)...)
}

// heal removes a rule.
func (c *cluster) heal(ctx context.Context, name string) {
	GinkgoHelper()
	c.faults(ctx, "remove", name)
}

// healAll removes all rules.
func (c *cluster) healAll(ctx context.Context) {
	GinkgoHelper()
	for _, rule := range foocloud[[]rule](ctx, c.management, "faults list") {
		c.heal(ctx, rule.Name)
	}
}

// keeps waits until the API server answers again and has a ConfigMap that was created before.
func (c *cluster) keeps(ctx context.Context, name string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(c.workload.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}, &corev1.ConfigMap{})).To(Succeed())
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "the control plane does not come back with its data")
}

func (c *cluster) faults(ctx context.Context, args ...string) {
	GinkgoHelper()
	c.foocloud(ctx, append([]string{"faults"}, args...)...)
}

// foocloud runs a command of the cloud.
func (c *cluster) foocloud(ctx context.Context, args ...string) {
	GinkgoHelper()
	cmd := command(ctx, "foocloud", args...)
	cmd.Env = append(cmd.Env, c.cloudEnv()...)
	output(cmd)
}

// reclaim makes the cloud reclaim an interruptible instance of the pool, and returns the instance
// once it is gone. It must be deleted with its Machine before the cloud would have stopped it.
func (c *cluster) reclaim(ctx context.Context) instance {
	GinkgoHelper()
	before := c.poolInstances(ctx)
	c.fault(ctx, "spot", "--kind=SpotReclaim", "--pool="+c.poolName(), "--notice="+(2*clusterUp).String(), "--count=1")
	index := -1
	Eventually(func(g Gomega) {
		now := c.poolInstances(ctx)
		index = slices.IndexFunc(before, func(old instance) bool {
			return !slices.ContainsFunc(now, func(i instance) bool { return i.ID == old.ID })
		})
		g.Expect(index).To(BeNumerically(">=", 0), "all instances still exist")
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
	return before[index]
}

// sizedElsewhere makes the MachinePool follow the size of the pool in the cloud until the rollout
// is resumed.
func (c *cluster) sizedElsewhere(ctx context.Context) {
	GinkgoHelper()
	c.kubectl(ctx, "--namespace="+c.key.Namespace, "annotate", "machinepool", c.key.Name+"-workers", clusterv1.ReplicasManagedByAnnotation+"=cloud")
}

// rolloutPaused pauses the rollout, makes all instances outdated, and returns two of them.
func (c *cluster) rolloutPaused(ctx context.Context, workers int) (one, another instance) {
	GinkgoHelper()
	c.pauseRollout(ctx, true)
	c.rollOut(ctx)
	message := c.poolSays(ctx, infrav1.FooMachinePoolRollingOutCondition, metav1.ConditionFalse, infrav1.FooMachinePoolRolloutPausedReason)
	Expect(message).To(HaveSuffix(": %d", workers))
	instances := c.poolInstances(ctx)
	Expect(instances).To(HaveLen(workers))
	return instances[0], instances[1]
}

// rolloutResumed reverts sizedElsewhere and rolloutPaused.
func (c *cluster) rolloutResumed(ctx context.Context) {
	GinkgoHelper()
	c.kubectl(ctx, "--namespace="+c.key.Namespace, "annotate", "machinepool", c.key.Name+"-workers", clusterv1.ReplicasManagedByAnnotation+"-")
	c.pauseRollout(ctx, false)
}

func (c *cluster) pauseRollout(ctx context.Context, paused bool) {
	GinkgoHelper()
	c.kubectl(ctx, "--namespace="+c.key.Namespace, "patch", "foomachinepool", c.key.Name+"-workers", "--type=merge",
		fmt.Sprintf(`--patch={"spec":{"strategy":{"rolloutPaused":%t}}}`, paused))
}

// expectRepaired waits until the pool has replaced a broken instance and kept all others.
func (c *cluster) expectRepaired(ctx context.Context, workers int, kept, broken instance) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		instances := c.poolInstances(ctx)
		g.Expect(instances).To(HaveLen(workers))
		g.Expect(instances).To(ContainElement(HaveField("ID", kept.ID)), "a working instance was replaced although the rollout is paused")
		g.Expect(instances).NotTo(ContainElement(HaveField("ID", broken.ID)), "the instance is not replaced")
		var nodes corev1.NodeList
		g.Expect(c.workload.List(ctx, &nodes)).To(Succeed())
		g.Expect(providerIDsOf(nodes.Items)).NotTo(ContainElement(broken.ProviderID), "the Node of the instance still exists")
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
	nodes := workersOf(c.nodesReady(ctx, 1, workers))
	Expect(providerIDsOf(nodes)).To(ContainElement(kept.ProviderID))
	c.poolHas(ctx, nodes)
	c.machinePoolWants(ctx, int32(workers))
}

// strikes returns how often a rule has been applied.
func (c *cluster) strikes(ctx context.Context, name string) int {
	GinkgoHelper()
	rules := foocloud[[]rule](ctx, c.management, "faults list")
	index := slices.IndexFunc(rules, func(r rule) bool { return r.Name == name })
	Expect(index).To(BeNumerically(">=", 0), "there is no rule %s", name)
	return rules[index].Strikes
}

// rollOut changes the instance type of the pool.
func (c *cluster) rollOut(ctx context.Context) {
	GinkgoHelper()
	kind := mediumType
	if c.pool(Default, ctx).Spec.Template.InstanceType == mediumType {
		kind = smallType
	}
	c.patchPoolTemplate(ctx, fmt.Sprintf(`{"instanceType":%q}`, kind))
}

func (c *cluster) patchPoolTemplate(ctx context.Context, template string) {
	GinkgoHelper()
	c.kubectl(ctx, "--namespace="+c.key.Namespace, "patch", "foomachinepool", c.key.Name+"-workers", "--type=merge",
		`--patch={"spec":{"template":`+template+`}}`)
}

// poolSays waits until the pool has a condition, and returns its message.
func (c *cluster) poolSays(ctx context.Context, kind string, status metav1.ConditionStatus, reason string) string {
	GinkgoHelper()
	var message string
	Eventually(func(g Gomega) {
		condition := expectCondition(g, c.pool(g, ctx).Status.Conditions, kind, status)
		g.Expect(condition.Reason).To(Equal(reason))
		message = condition.Message
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "the pool does not report %s=%s, %s", kind, status, reason)
	return message
}

// updated waits until all instances have the current revision and are available, and the pool
// reports that the rollout is complete.
func (c *cluster) updated(ctx context.Context, replicas int32) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		pool := c.pool(g, ctx)
		g.Expect(pool.Status.ObservedGeneration).To(Equal(pool.Generation))
		for name, count := range map[string]*int32{
			"replicas": pool.Status.Replicas, "updatedReplicas": pool.Status.UpdatedReplicas, "availableReplicas": pool.Status.AvailableReplicas,
		} {
			g.Expect(ptr.Deref(count, -1)).To(Equal(replicas), "status.%s", name)
		}
		for _, kind := range []string{infrav1.FooMachinePoolRollingOutCondition, infrav1.FooMachinePoolStalledCondition} {
			expectCondition(g, pool.Status.Conditions, kind, metav1.ConditionFalse)
		}
	}).WithContext(ctx).WithTimeout(2*clusterUp).Should(Succeed(), "the rollout does not end")
}

// rolledOut waits until the rollout is complete in the pool, in the cloud and in the cluster.
func (c *cluster) rolledOut(ctx context.Context, replicas int32) {
	GinkgoHelper()
	c.updated(ctx, replicas)
	c.poolHas(ctx, workersOf(c.nodesReady(ctx, 1, int(replicas))))
	kind := c.pool(Default, ctx).Spec.Template.InstanceType
	Eventually(func(g Gomega) {
		instances := c.poolInstances(ctx)
		g.Expect(instances).To(HaveLen(int(replicas)), "instances of the pool")
		for _, one := range instances {
			g.Expect(one.State).To(Equal("Running"), "instance %s: %s", one.Name, one.Message)
			g.Expect(one.Type).To(Equal(kind), "type of instance %s", one.Name)
		}
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
}

// nodesUsable expects that this many worker Nodes are Ready now.
func (c *cluster) nodesUsable(ctx context.Context, least int) {
	GinkgoHelper()
	var machines clusterv1.MachineList
	Expect(c.List(ctx, &machines, client.InNamespace(c.key.Namespace), client.HasLabels{clusterv1.MachinePoolNameLabel})).To(Succeed())
	available := 0
	for i := range machines.Items {
		for _, condition := range machines.Items[i].Status.Conditions {
			if condition.Type == clusterv1.MachineAvailableCondition && condition.Status == metav1.ConditionTrue {
				available++
			}
		}
	}
	Expect(available).To(BeNumerically(">=", least), "available Machines")
}

// poolInstances are the instances of the pool.
func (c *cluster) poolInstances(ctx context.Context) []instance {
	GinkgoHelper()
	return slices.DeleteFunc(foocloud[[]instance](ctx, c.management, "instances"), func(i instance) bool { return i.Pool != c.poolName() })
}

// workerZone returns a zone with an instance of the pool but none of the control plane.
func (c *cluster) workerZone(ctx context.Context) string {
	GinkgoHelper()
	taken := c.failureDomainsOfInstances(Default, ctx)
	for _, one := range c.poolInstances(ctx) {
		if taken[one.Zone] == 0 {
			return one.Zone
		}
	}
	Fail("all instances of the pool are in the zone of the control plane")
	return ""
}
