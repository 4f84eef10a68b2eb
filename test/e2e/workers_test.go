//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// workersZone is a zone that gets control plane Machines only if all others have more.
const workersZone = "zone-c"

// workersDiskGiB is the size of the disk of a MachineDeployment's workers.
const workersDiskGiB = 5

var _ = Describe("Workers that die", Ordered, Label("machinepool"), func() {
	const namespace = "workers"
	var c *cluster
	deployed := client.MatchingLabels{clusterv1.MachineDeploymentNameLabel: "deployed"}
	pooled := client.MatchingLabels{clusterv1.MachinePoolNameLabel: "one-workers"}

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		c = m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "one"}, shape{controlPlanes: 1, workers: 2, version: currentVersion})
		m.apply(ctx, machineDeployment(c.key, "deployed"))
		c.available(ctx)
		c.withoutDNSPods(ctx)
	}, NodeTimeout(2*clusterUp))

	It("of a MachineDeployment have the requested zone and size",
		func(ctx SpecContext) {
			nodes := workersOf(c.nodesReady(ctx, 1, 3))
			fooMachine := c.oneFooMachine(ctx, deployed)
			Expect(fooMachine.Status.FailureDomain).To(Equal(workersZone))
			Expect(fooMachine.Status.InstanceType).To(Equal("medium"))
			var template infrav1.FooMachineTemplate
			Expect(c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "deployed"}, &template)).To(Succeed())
			node := nodeOf(nodes, fooMachine)
			for _, resource := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				Expect(node.Status.Capacity[resource]).To(BeComparableTo(template.Status.Capacity[resource]), "what the template reports about %s", resource)
			}
			Expect(foocloud[[]instance](ctx, c.management, "instances")).To(ContainElement(
				And(HaveField("ProviderID", node.Spec.ProviderID), HaveField("Zone", workersZone), HaveField("Tags", HaveKeyWithValue("team", "red")))))
			Expect(node.Status.Capacity.StorageEphemeral().Value()).To(And(BeNumerically(">", (workersDiskGiB-1)<<30), BeNumerically("<", workersDiskGiB<<30)),
				"the kubelet reports the size of the disk's file system")
		}, NodeTimeout(clusterUp))

	It("of a pool are spread, and get changes of their MachinePool's template in place", func(ctx SpecContext) {
		revision := c.pool(Default, ctx).Status.Revision
		c.kubectl(ctx, "--namespace="+namespace, "patch", "machinepool", "one-workers", "--type=merge", `--patch={"spec":{"template":{
				"metadata":{"labels":{"tier":"front"}},"spec":{"minReadySeconds":1,"deletion":{"nodeDrainTimeoutSeconds":60}}}}}`)
		Eventually(func(g Gomega) {
			var machines clusterv1.MachineList
			g.Expect(c.List(ctx, &machines, client.InNamespace(namespace), pooled)).To(Succeed())
			zones := sets.New[string]()
			for _, machine := range machines.Items {
				zones.Insert(machine.Status.FailureDomain)
				g.Expect(machine.Labels).To(HaveKeyWithValue("tier", "front"))
				g.Expect(machine.Spec.MinReadySeconds).To(HaveValue(BeEquivalentTo(1)))
				g.Expect(machine.Spec.Deletion.NodeDrainTimeoutSeconds).To(HaveValue(BeEquivalentTo(60)))
			}
			g.Expect(zones.Delete("")).To(HaveLen(2), "two Machines are in two zones")
			for _, fooMachine := range c.fooMachinesWith(g, ctx, pooled) {
				g.Expect(fooMachine.Labels).To(HaveKeyWithValue("tier", "front"))
			}
		}).WithContext(ctx).Should(Succeed())
		Expect(c.pool(Default, ctx).Status.Revision).To(Equal(revision), "the change replaces no Machine")
	}, NodeTimeout(clusterUp))

	It("are reported as stopped and as lost, and recreated once their Machine is deleted",
		func(ctx SpecContext) {
			fooMachine := c.oneFooMachine(ctx, deployed)
			Expect(syscall.Kill(instanceInit(fooMachine.Status.InstanceID), syscall.SIGKILL)).To(Succeed())
			c.machineFails(ctx, fooMachine, infrav1.FooMachineInstanceStoppedReason)
			provisioned := expectCondition(Default, fooMachine.Status.Conditions, infrav1.FooMachineInstanceProvisionedCondition, metav1.ConditionFalse)
			Expect(provisioned.Reason).To(Equal(infrav1.FooMachineInstanceStoppedReason))
			Expect(provisioned.Message).To(ContainSubstring("first process"))
			Expect(fooMachine.Status.Initialization.Provisioned).To(HaveValue(BeTrue()), "it must never go back to false")
			Eventually(c.warnings(fooMachine)).WithContext(ctx).Should(ContainElement(ContainSubstring(infrav1.FooMachineInstanceStoppedReason)))
			Expect(foocloud[[]instance](ctx, c.management, "instances")).To(ContainElement(
				And(HaveField("ID", fooMachine.Status.InstanceID), HaveField("State", "Stopped"))))
			c.deleteInstance(ctx, fooMachine.Status.InstanceID)
			c.machineFails(ctx, fooMachine, infrav1.FooMachineInstanceNotFoundReason)
			c.kubectl(ctx, "--namespace="+namespace, "delete", "machine", fooMachine.Name) // waits until it and its Node are gone
			c.nodesReady(ctx, 1, 3)
			Expect(c.oneFooMachine(ctx, deployed).Status.FailureDomain).To(Equal(workersZone))
		}, NodeTimeout(2*clusterUp))

	It("of a pool are replaced when a MachineHealthCheck finds them unhealthy", func(ctx SpecContext) {
		w := c.watch()
		DeferCleanup(w.stop)
		c.diskChecked(ctx)
		nodes := workersOf(c.nodesReady(ctx, 1, 3))
		victim := nodeOf(nodes, &c.fooMachinesWith(Default, ctx, pooled)[0])
		c.on(ctx, "patch", "node", victim.Name, "--subresource=status",
			`--patch={"status":{"conditions":[{"type":"DiskFailed","status":"True","reason":"Test"}]}}`)
		Eventually(c.gone(&clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: victim.Name}})).
			WithContext(ctx).WithTimeout(clusterUp).Should(BeTrue(), "nobody replaces the Machine")
		left := workersOf(c.nodesReady(ctx, 1, 3))
		Expect(namesOf(left)).NotTo(ContainElement(victim.Name))
		Eventually(func(g Gomega) {
			pool := c.pool(g, ctx)
			expectCondition(g, pool.Status.Conditions, infrav1.FooMachinePoolReadyCondition, metav1.ConditionTrue)
			g.Expect(pool.Status.AvailableReplicas).To(HaveValue(BeEquivalentTo(2)))
			g.Expect(pool.Spec.ProviderIDList).To(HaveLen(2))
			g.Expect(pool.Spec.ProviderIDList).NotTo(ContainElement(victim.Spec.ProviderID))
		}).WithContext(ctx).Should(Succeed())
		Eventually(w.removed).WithContext(ctx).Should(Equal(1))
		Expect(w.problems()).To(BeEmpty())
	}, NodeTimeout(2*clusterUp))

	It("of a pool are rolled out to another size with one more Node and never fewer", func(ctx SpecContext) {
		w := c.watch()
		DeferCleanup(w.stop)
		before := namesOf(workersOf(c.nodesReady(ctx, 1, 3)))
		Eventually(w.seen).WithContext(ctx).Should(Equal(3), "the watch has begun")
		w.expectWorkers(3)
		revision := c.pool(Default, ctx).Status.Revision
		c.kubectl(ctx, "--namespace="+namespace, "patch", "foomachinepool", "one-workers", "--type=merge",
			`--patch={"spec":{"template":{"instanceType":"medium"},"strategy":{"maxSurge":1,"maxUnavailable":0}}}`)
		c.poolRolled(ctx, revision, 2)
		Eventually(w.removed).WithContext(ctx).Should(Equal(2))
		Expect(w.problems()).To(BeEmpty())
		w.expectWorkers(0)
		nodes := workersOf(c.nodesReady(ctx, 1, 3))
		Expect(intersection(namesOf(nodes), before)).To(HaveLen(1), "only the Node of the MachineDeployment is kept")
		for _, node := range nodes {
			Expect(node.Status.Capacity.Memory().Value()).To(BeEquivalentTo(4 << 30))
		}
	}, NodeTimeout(2*clusterUp))
})

func intersection(a, b []string) []string {
	return sets.List(sets.New(a...).Intersection(sets.New(b...)))
}

// machineDeployment is a MachineDeployment of one larger machine in a zone, whose Node joins like
// those of the pool.
func machineDeployment(key client.ObjectKey, name string) []*unstructured.Unstructured {
	ref := func(group, kind string) map[string]any {
		return map[string]any{"apiGroup": group, "kind": kind, "name": name}
	}
	labels := map[string]any{clusterv1.MachineDeploymentNameLabel: name}
	return []*unstructured.Unstructured{
		object(infrav1.GroupVersion.String(), "FooMachineTemplate", key.Namespace, name, map[string]any{
			"template": map[string]any{"spec": map[string]any{
				"instanceType": "medium", "rootDisk": map[string]any{"sizeGiB": int64(workersDiskGiB)}, "additionalTags": map[string]any{"team": "red"},
			}},
		}),
		object(bootstrapv1.GroupVersion.String(), "KubeadmConfigTemplate", key.Namespace, name, map[string]any{
			"template": map[string]any{"spec": map[string]any{"joinConfiguration": map[string]any{
				"nodeRegistration": map[string]any{"name": "{{ ds.meta_data.local_hostname }}"},
			}}},
		}),
		object(clusterv1.GroupVersion.String(), "MachineDeployment", key.Namespace, name, map[string]any{
			"clusterName": key.Name, "replicas": int64(1), "selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec": map[string]any{
					"clusterName": key.Name, "version": currentVersion, "failureDomain": workersZone,
					"bootstrap":         map[string]any{"configRef": ref(bootstrapv1.GroupVersion.Group, "KubeadmConfigTemplate")},
					"infrastructureRef": ref(infrav1.GroupVersion.Group, "FooMachineTemplate"),
				},
			},
		}),
	}
}

// fooMachinesWith returns the FooMachines of the cluster with these labels.
func (c *cluster) fooMachinesWith(g Gomega, ctx context.Context, labels client.MatchingLabels) []infrav1.FooMachine {
	var list infrav1.FooMachineList
	g.Expect(c.List(ctx, &list, client.InNamespace(c.key.Namespace), labels)).To(Succeed())
	return list.Items
}

// oneFooMachine returns the only FooMachine with these labels.
func (c *cluster) oneFooMachine(ctx context.Context, labels client.MatchingLabels) *infrav1.FooMachine {
	GinkgoHelper()
	found := c.fooMachinesWith(Default, ctx, labels)
	Expect(found).To(HaveLen(1))
	return &found[0]
}

// nodeOf returns the Node that runs on the instance of a FooMachine.
func nodeOf(nodes []corev1.Node, fooMachine *infrav1.FooMachine) corev1.Node {
	GinkgoHelper()
	for _, node := range nodes {
		if node.Spec.ProviderID == fooMachine.Spec.ProviderID {
			return node
		}
	}
	Fail("no Node has the provider ID of FooMachine " + fooMachine.Name)
	return corev1.Node{}
}

// machineFails waits until a FooMachine is not ready for a reason, and its Machine reports it too.
func (c *cluster) machineFails(ctx context.Context, fooMachine *infrav1.FooMachine, reason string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(c.Get(ctx, client.ObjectKeyFromObject(fooMachine), fooMachine)).To(Succeed())
		ready := expectCondition(g, fooMachine.Status.Conditions, infrav1.FooMachineReadyCondition, metav1.ConditionFalse)
		g.Expect(ready.Reason).To(Equal(reason))
		g.Expect(ready.Message).NotTo(BeEmpty(), "Ready must say why it is not true")
		var machine clusterv1.Machine
		g.Expect(c.Get(ctx, client.ObjectKeyFromObject(fooMachine), &machine)).To(Succeed())
		mirrored := expectCondition(g, machine.Status.Conditions, clusterv1.MachineInfrastructureReadyCondition, metav1.ConditionFalse)
		g.Expect(mirrored.Reason).To(Equal(reason))
	}).WithContext(ctx).Should(Succeed(), "FooMachine %s does not fail as %s", fooMachine.Name, reason)
}

// diskChecked makes Cluster API replace Machines of the pool whose Nodes report a failed disk.
func (c *cluster) diskChecked(ctx context.Context) {
	GinkgoHelper()
	Expect(c.Create(ctx, &clusterv1.MachineHealthCheck{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.key.Namespace, Name: c.key.Name},
		Spec: clusterv1.MachineHealthCheckSpec{
			ClusterName: c.key.Name,
			Selector:    metav1.LabelSelector{MatchLabels: map[string]string{clusterv1.MachinePoolNameLabel: c.key.Name + "-workers"}},
			Checks: clusterv1.MachineHealthCheckChecks{UnhealthyNodeConditions: []clusterv1.UnhealthyNodeCondition{{
				Type: "DiskFailed", Status: corev1.ConditionTrue, TimeoutSeconds: ptr.To[int32](0),
			}}},
		},
	})).To(Succeed())
}
