//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// outerOutage is how long the API server of the outer cluster does not answer.
const outerOutage = 10 * time.Minute

// Both kinds of cloud run the same stories.
var _ = Describe("A cluster of instances of the local cloud", Ordered, Label("clouds", "local-cloud", "slow", needsAllVersions, needsNextRelease), func() {
	describeLife("on-local", "", func(context.Context, *management) *outer { return nil })
})

var _ = Describe("A cluster of Pods of a Foo cluster", Ordered, Label("clouds", "kubernetes-cloud", "slow", needsAllVersions, needsNextRelease, needsNodeImages), func() {
	describeLife("on-pods", "kubernetes", func(ctx context.Context, m *management) *outer { return m.newOuter(ctx, "outer") })
})

// describeLife describes the life of a cluster of a flavor whose machines are in some cloud. It has
// three control plane machines and three workers most of the time.
func describeLife(namespace, flavorName string, prepare func(context.Context, *management) *outer) {
	var c *cluster
	var where *outer
	var keys *ledger
	version := previousVersion

	AfterEach(func(ctx SpecContext) {
		if where != nil && CurrentSpecReport().Failed() {
			where.show(ctx)
		}
	}, NodeTimeout(soon))

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		where = prepare(ctx, m)
		m.namespace(ctx, namespace)
	}, NodeTimeout(2*clusterUp))

	It("comes up with 1 control plane machine and 3 workers", func(ctx SpecContext) {
		m := sharedManagement(ctx)
		began := time.Now()
		c = m.newFlavor(ctx, client.ObjectKey{Namespace: namespace, Name: "one"}, flavor{
			name: flavorName, shape: shape{controlPlanes: 1, workers: 3, version: version}, variables: []string{"FOO_CLUSTER_IDENTITY=" + outerIdentity},
		})
		c.outer, c.workers = where, 3
		c.available(ctx)
		available := time.Since(began)
		nodes := c.nodesReady(ctx, 1, 3)
		reportStart("from apply to 1+3 Ready", flavorName, lastReady(nodes).Sub(began))
		reportStart("from apply to an available Cluster", flavorName, available)
		c.poolHas(ctx, workersOf(nodes))
		c.settled(ctx, 1, version)
	}, NodeTimeout(2*clusterUp))

	It("has Pods that reach each other, Services and DNS", func(ctx SpecContext) {
		c.on(ctx, append([]string{"create", "deployment", "hello", "--image=" + shellImage, "--replicas=4", "--"}, hello...)...)
		c.deploymentReady(ctx, "hello", 4)
		c.hasServicesAndDNS(ctx, 3)
		c.on(ctx, "delete", "deployment", "hello")
		c.withoutDNSPods(ctx)
		keys = c.newLedger(ctx)
	}, NodeTimeout(2*clusterUp))

	It("grows to 3 control plane machines without losing a write", func(ctx SpecContext) {
		expectNoGap(keys.during(ctx, func() {
			c.scaleControlPlane(ctx, 3)
			c.settled(ctx, 3, version)
		}))
	}, NodeTimeout(2*rolledOut))

	It("scales its workers", func(ctx SpecContext) {
		for _, workers := range []int{4, 2, 3} {
			c.workers = workers
			c.scaleWorkers(ctx, workers)
			c.poolHas(ctx, workersOf(c.nodesReady(ctx, 3, workers)))
		}
	}, NodeTimeout(3*clusterUp))

	It("rolls out a new version without losing a write", func(ctx SpecContext) {
		expectNoGap(keys.during(ctx, func() {
			version = currentVersion
			c.upgradeControlPlane(ctx, version)
			c.settled(ctx, 3, version)
			revision := c.pool(Default, ctx).Status.Revision
			c.kubectl(ctx, "--namespace="+namespace, "patch", "machinepool", "one-workers", "--type=merge",
				`--patch={"spec":{"template":{"spec":{"version":"`+version+`"}}}}`)
			c.poolRolled(ctx, revision, 3)
		}))
		for _, node := range c.nodesReady(ctx, 3, 3) {
			Expect(node.Status.NodeInfo.KubeletVersion).To(Equal(version), node.Name)
		}
	}, NodeTimeout(3*rolledOut))

	It("replaces a worker and a control plane machine that are lost", func(ctx SpecContext) {
		c.healthChecked(ctx)
		keys.during(ctx, func() {
			lost := workersOf(c.nodesReady(ctx, 3, 3))[0]
			c.lose(ctx, lost)
			c.expectGone(ctx, lost)
			c.poolHas(ctx, workersOf(c.nodesReady(ctx, 3, 3)))
			lost = controlPlanesOf(c.nodesReady(ctx, 3, 3))[0]
			c.lose(ctx, lost)
			c.expectReplaced(ctx, 3, version, []string{lost.Spec.ProviderID})
		})
	}, NodeTimeout(2*rolledOut))

	It("drains its machines before the node that they are on is drained", func(ctx SpecContext) {
		if where == nil {
			Skip("the local cloud has one node")
		}
		c.healthChecked(ctx)
		node := where.drainable(ctx)
		keys.during(ctx, func() {
			where.on(ctx, "drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout="+clusterUp.String())
			for _, pod := range where.machinePods(Default, ctx) {
				Expect(pod.Spec.NodeName).NotTo(Equal(node), "Pod %s was not evicted", pod.Name)
			}
			where.on(ctx, "uncordon", node)
			c.settled(ctx, 3, version)
			c.poolHas(ctx, workersOf(c.nodesReady(ctx, 3, 3)))
		})
	}, NodeTimeout(2*rolledOut))

	It("replaces its machines on a node that is lost", func(ctx SpecContext) {
		if where == nil {
			Skip("the local cloud has one node")
		}
		c.healthChecked(ctx)
		node := where.drainable(ctx)
		lost := where.podsOn(ctx, node)
		end := c.witness(ctx, 2)
		began := time.Now()
		keys.during(ctx, func() {
			where.foocloud(ctx, "instance", "stop", where.instanceOf(ctx, node))
			// The pool of the outer cluster replaces the node, which ends the Pods on it.
			Eventually(func(g Gomega) {
				for _, pod := range lost {
					g.Expect(where.machinePods(g, ctx)).NotTo(ContainElement(HaveField("UID", pod.UID)), "Pod %s is still there", pod.Name)
				}
			}).WithContext(ctx).WithTimeout(rolledOut).Should(Succeed())
			AddReportEntry("from the loss of a node to the end of its Pods", time.Since(began).Round(time.Second).String(), ReportEntryVisibilityAlways)
			c.settled(ctx, 3, version)
			c.poolHas(ctx, workersOf(c.nodesReady(ctx, 3, 3)))
			AddReportEntry("from the loss of a node to a whole cluster", time.Since(began).Round(time.Second).String(), ReportEntryVisibilityAlways)
		})
		end()
		Expect(namesOf(where.nodesReady(ctx, 1, 3))).NotTo(ContainElement(node))
	}, NodeTimeout(3*rolledOut))

	It("goes on while the API server of the outer cluster does not answer, and after that", func(ctx SpecContext) {
		if where == nil {
			Skip("the local cloud has no API server")
		}
		c.healthChecked(ctx)
		api := where.instanceOf(ctx, controlPlanesOf(where.nodesReady(ctx, 1, 3))[0].Name)
		before := providerIDsOfInstances(c.instancesInCloud(Default, ctx))
		end := c.witness(ctx, 3)
		thaw := func(ctx context.Context) { where.foocloud(ctx, "instance", "thaw", api) }
		expectNoGap(keys.during(ctx, func() {
			where.foocloud(ctx, "instance", "freeze", api)
			DeferCleanup(func(ctx SpecContext) { thaw(ctx) }, NodeTimeout(soon))
			c.scaleWorkers(ctx, 4)
			c.poolSays(ctx, infrav1.FooMachinePoolPoolProvisionedCondition, metav1.ConditionFalse, infrav1.CloudUnavailableReason)
			Eventually(func(g Gomega) []string { return c.warnings(c.pool(g, ctx))(g, ctx) }).WithContext(ctx).
				Should(ContainElement(HavePrefix(infrav1.CloudUnavailableReason)))
			Consistently(func(g Gomega) {
				c.nodesAre(g, ctx, 3, 3)
				g.Expect(c.fooMachines(g, ctx)).To(HaveEach(HaveField("DeletionTimestamp", BeNil())))
			}).WithContext(ctx).WithTimeout(outerOutage).WithPolling(time.Second).Should(Succeed())
			thaw(ctx)
		}))
		thawed := time.Now()
		c.poolHas(ctx, workersOf(c.nodesReady(ctx, 3, 4)))
		c.workers = 4
		c.settled(ctx, 3, version)
		AddReportEntry("from the end of the outage to a fourth worker", time.Since(thawed).Round(time.Second).String(), ReportEntryVisibilityAlways)
		end()
		Expect(providerIDsOfInstances(c.instancesInCloud(Default, ctx))).To(And(HaveLen(7), ContainElements(before)), "the others stay")
		c.workers = 3
		c.scaleWorkers(ctx, 3)
		c.poolHas(ctx, workersOf(c.nodesReady(ctx, 3, 3)))
	}, NodeTimeout(outerOutage+2*rolledOut))

	It("moves to another management cluster and back", func(ctx SpecContext) {
		if where == nil {
			Skip("the target has a local cloud of its own")
		}
		source := c.management
		target := &management{state: filepath.Join(suiteDir, namespace), bridge: quickstartBridge}
		target.program = startQuickstart(ctx, target.state, quickstartBridge, quickstartNetwork)
		DeferCleanup(target.stop, NodeTimeout(clusterGone))
		target.connect(ctx)
		where.storeToken(ctx, target)
		before := c.instancesInCloud(Default, ctx)
		keys.during(ctx, func() {
			for _, to := range []*management{target, source} {
				output(command(ctx, "tools/clusterctl", "move", "--kubeconfig="+c.management.kubeconfig, "--to-kubeconfig="+to.kubeconfig, "--namespace="+namespace))
				c.management = to
				c.settled(ctx, 3, version)
				c.poolHas(ctx, workersOf(c.nodesReady(ctx, 3, 3)))
			}
		})
		Expect(providerIDsOfInstances(c.instancesInCloud(Default, ctx))).To(ConsistOf(providerIDsOfInstances(before)), "a move replaces no machine")
	}, NodeTimeout(3*clusterUp))

	It("is deleted, and leaves nothing in the cloud", func(ctx SpecContext) {
		c.deleted(ctx)
		if where != nil {
			for _, kind := range []string{"pods", "services", "secrets"} {
				Eventually(func() string {
					return where.on(ctx, "--namespace="+machinesNamespace, "get", kind, "--output=name", "--selector="+instanceLabel)
				}).WithContext(ctx).Should(BeEmpty(), kind)
			}
		}
	}, NodeTimeout(2*clusterGone))
}

// lastReady returns when the last of these Nodes has become Ready, in whole seconds.
func lastReady(nodes []corev1.Node) time.Time {
	var last time.Time
	for _, node := range nodes {
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.LastTransitionTime.After(last) {
				last = condition.LastTransitionTime.Time
			}
		}
	}
	return last
}

// startTimes has how long each flavor took, by what was measured.
var startTimes = map[string]map[string]time.Duration{}

// reportStart reports a time, and compares it with that of the local cloud once both are known.
func reportStart(what, flavorName string, took time.Duration) {
	if startTimes[what] == nil {
		startTimes[what] = map[string]time.Duration{}
	}
	startTimes[what][flavorName] = took
	AddReportEntry(what, took.Round(100*time.Millisecond).String(), ReportEntryVisibilityAlways)
	if local, pods := startTimes[what][""], startTimes[what]["kubernetes"]; local > 0 && pods > 0 {
		AddReportEntry(what+", Pods compared with instances", fmt.Sprintf("%.1f times as long", pods.Seconds()/local.Seconds()), ReportEntryVisibilityAlways)
	}
}

// nodesAre expects the given numbers of Nodes, all Ready.
func (c *cluster) nodesAre(g Gomega, ctx context.Context, controlPlanes, workers int) {
	var nodes corev1.NodeList
	g.Expect(c.workload.List(ctx, &nodes)).To(Succeed())
	g.Expect(controlPlanesOf(nodes.Items)).To(HaveLen(controlPlanes))
	g.Expect(workersOf(nodes.Items)).To(HaveLen(workers))
	for _, node := range nodes.Items {
		g.Expect(nodeReady(node)).To(BeTrue(), "Node %s is not Ready", node.Name)
	}
}

// expectGone waits until a Node is no longer there.
func (c *cluster) expectGone(ctx context.Context, node corev1.Node) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var nodes corev1.NodeList
		g.Expect(c.workload.List(ctx, &nodes)).To(Succeed())
		g.Expect(namesOf(nodes.Items)).NotTo(ContainElement(node.Name))
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "Node %s is not gone", node.Name)
}
