//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// rolledOut is how long it may take to replace or create several control plane machines one after
// the other.
const rolledOut = 20 * time.Minute

// withMaxSurge sets how many additional Machines there may be during a rollout.
func withMaxSurge(surge int64) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) {
		GinkgoHelper()
		if object.GetKind() == "FooControlPlane" {
			Expect(unstructured.SetNestedField(object.Object, "RollingUpdate", "spec", "rollout", "strategy", "type")).To(Succeed())
			Expect(unstructured.SetNestedField(object.Object, surge, "spec", "rollout", "strategy", "rollingUpdate", "maxSurge")).To(Succeed())
		}
	}
}

// anyControlPlane returns the control plane of the cluster, whatever its kind.
func (c *cluster) anyControlPlane(g Gomega, ctx context.Context) *unstructured.Unstructured {
	var now clusterv1.Cluster
	g.Expect(c.Get(ctx, c.key, &now)).To(Succeed())
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{
		Group: now.Spec.ControlPlaneRef.APIGroup, Version: controlplanev1.GroupVersion.Version, Kind: now.Spec.ControlPlaneRef.Kind,
	})
	g.Expect(c.Get(ctx, client.ObjectKey{Namespace: c.key.Namespace, Name: now.Spec.ControlPlaneRef.Name}, object)).To(Succeed())
	return object
}

// patchControlPlane changes the spec of the control plane with kubectl patch --type=merge.
func (c *cluster) patchControlPlane(ctx context.Context, spec string) {
	GinkgoHelper()
	object := c.anyControlPlane(Default, ctx)
	c.kubectl(ctx, "--namespace="+c.key.Namespace, "patch", strings.ToLower(object.GetKind()), object.GetName(), "--type=merge", `--patch={"spec":`+spec+`}`)
}

// admitsChanges waits until the manager's webhooks answer: a restarted manager is running before it
// serves them.
func (c *cluster) admitsChanges(ctx context.Context) {
	GinkgoHelper()
	change := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"e2e.foo/admits":""}}}`))
	Eventually(func(g Gomega) {
		g.Expect(c.Patch(ctx, c.controlPlane(g, ctx), change, client.DryRunAll)).To(Succeed())
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "no change to the control plane is admitted")
}

func (c *cluster) upgradeControlPlane(ctx context.Context, version string) {
	GinkgoHelper()
	c.patchControlPlane(ctx, fmt.Sprintf(`{"version":%q}`, version))
}

// rolloutNow requests the replacement of all existing Machines.
func (c *cluster) rolloutNow(ctx context.Context) {
	GinkgoHelper()
	c.patchControlPlane(ctx, fmt.Sprintf(`{"rollout":{"after":%q}}`, time.Now().UTC().Format(time.RFC3339)))
}

// replaced waits until none of these Machines is left.
func (c *cluster) replaced(ctx context.Context, old sets.Set[types.UID]) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(uidsOf(c.controlPlaneMachines(g, ctx)).Intersection(old)).To(BeEmpty(), "Machines that should be replaced still exist")
	}).WithContext(ctx).WithTimeout(rolledOut).Should(Succeed())
}

// controlPlaneMachines returns the Machines of the control plane.
func (c *cluster) controlPlaneMachines(g Gomega, ctx context.Context) []clusterv1.Machine {
	var list clusterv1.MachineList
	g.Expect(c.List(ctx, &list, client.InNamespace(c.key.Namespace),
		client.MatchingLabels{clusterv1.ClusterNameLabel: c.key.Name}, client.HasLabels{clusterv1.MachineControlPlaneLabel})).To(Succeed())
	return list.Items
}

// uidsOf returns the UIDs of Machines, which differ even for Machines with the same name.
func uidsOf(machines []clusterv1.Machine) sets.Set[types.UID] {
	uids := sets.New[types.UID]()
	for _, machine := range machines {
		uids.Insert(machine.UID)
	}
	return uids
}

// settled waits until the control plane, of any kind, has exactly that many Machines of that
// version, each up to date and available, balanced over the zones, and each with a Node and an etcd
// member. It returns the Nodes.
func (c *cluster) settled(ctx context.Context, replicas int, version string) []corev1.Node {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		c.expectSettledStatus(g, ctx, replicas, version)
		machines := c.controlPlaneMachines(g, ctx)
		g.Expect(machines).To(HaveLen(replicas), "Machines of the control plane")
		for _, machine := range machines {
			g.Expect(machine.DeletionTimestamp).To(BeNil(), "Machine %s is being deleted", machine.Name)
			g.Expect(machine.Spec.Version).To(Equal(version), "version of Machine %s", machine.Name)
			expectCondition(g, machine.Status.Conditions, clusterv1.MachineAvailableCondition, metav1.ConditionTrue)
			expectCondition(g, machine.Status.Conditions, clusterv1.MachineUpToDateCondition, metav1.ConditionTrue)
		}
		c.expectBalanced(g, ctx, machines)
		g.Expect(c.failureDomainsOfInstances(g, ctx)).To(Equal(failureDomainsOf(machines)), "Machines and instances differ in their zones")
	}).WithContext(ctx).WithTimeout(rolledOut).Should(Succeed(), "the control plane does not settle at %d Machines of %s", replicas, version)
	nodes := controlPlanesOf(c.nodesReady(ctx, replicas, c.workers))
	for _, node := range nodes {
		Expect(node.Status.NodeInfo.KubeletVersion).To(Equal(version), "version of Node %s", node.Name)
	}
	Expect(c.healthyMembers(ctx, nodes)).To(ConsistOf(namesOf(nodes)), "etcd members")
	return nodes
}

// expectSettledStatus checks the status fields that the contract defines for every kind of control
// plane.
func (c *cluster) expectSettledStatus(g Gomega, ctx context.Context, replicas int, version string) {
	object := c.anyControlPlane(g, ctx)
	for _, field := range []string{"replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"} {
		count, _, err := unstructured.NestedInt64(object.Object, "status", field)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(count).To(BeEquivalentTo(replicas), "status.%s", field)
	}
	observed, _, err := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(observed).To(Equal(object.GetGeneration()), "status.observedGeneration")
	oldest, _, err := unstructured.NestedString(object.Object, "status", "version")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(oldest).To(Equal(version), "status.version")
}

// expectBalanced expects that the numbers of Machines in the control plane zones differ by at most
// one.
func (c *cluster) expectBalanced(g Gomega, ctx context.Context, machines []clusterv1.Machine) {
	var now clusterv1.Cluster
	g.Expect(c.Get(ctx, c.key, &now)).To(Succeed())
	found := failureDomainsOf(machines)
	fewest, most := len(machines), 0
	for _, domain := range now.Status.FailureDomains {
		if ptr.Deref(domain.ControlPlane, false) {
			fewest, most = min(fewest, found[domain.Name]), max(most, found[domain.Name])
		}
	}
	g.Expect(most-fewest).To(BeNumerically("<=", 1), "Machines by zone: %v", found)
}

// failureDomainsOf counts the Machines of each zone.
func failureDomainsOf(machines []clusterv1.Machine) map[string]int {
	found := map[string]int{}
	for _, machine := range machines {
		found[machine.Spec.FailureDomain]++
	}
	return found
}

// failureDomainsOfInstances counts the instances of the control plane that the cloud has in each
// zone.
func (c *cluster) failureDomainsOfInstances(g Gomega, ctx context.Context) map[string]int {
	zones := map[string]string{}
	for _, one := range c.instancesInCloud(g, ctx) {
		zones[one.ID] = one.Zone
	}
	found := map[string]int{}
	for _, machine := range c.controlPlaneFooMachines(g, ctx) {
		found[zones[machine.Status.InstanceID]]++
	}
	return found
}

func (c *cluster) controlPlaneFooMachines(g Gomega, ctx context.Context) []infrav1.FooMachine {
	var found []infrav1.FooMachine
	for _, machine := range c.fooMachines(g, ctx) {
		if _, ok := machine.Labels[clusterv1.MachineControlPlaneLabel]; ok {
			found = append(found, machine)
		}
	}
	return found
}

// instanceOf returns the ID of the instance that is a Node.
func (c *cluster) instanceOf(ctx context.Context, node corev1.Node) string {
	GinkgoHelper()
	for _, machine := range c.controlPlaneFooMachines(Default, ctx) {
		if machine.Spec.ProviderID == node.Spec.ProviderID {
			return machine.Status.InstanceID
		}
	}
	Fail("no FooMachine has the provider ID of Node " + node.Name)
	return ""
}

// withoutDNSPods removes the Pods that have to be evicted when a machine is deleted: each delays
// the deletion by 20 s, until Cluster API checks again, and by more if the machine is dead. Other
// stories test evictions.
func (c *cluster) withoutDNSPods(ctx context.Context) {
	GinkgoHelper()
	// kubeadm creates the Deployment last, possibly after the cluster became available.
	Eventually(func(g Gomega) {
		scaled := end(command(ctx, kubectl(), "--kubeconfig="+c.kubeconfig, "--namespace=kube-system", "scale", "deployment", "coredns", "--replicas=0"))
		g.Expect(scaled.code).To(BeZero(), scaled.stderr)
	}).WithContext(ctx).Should(Succeed())
}

// healthChecked makes Cluster API detect Machines of the control plane with broken instances until
// the end of the story.
func (c *cluster) healthChecked(ctx context.Context, changes ...func(*clusterv1.MachineHealthCheckChecks)) {
	GinkgoHelper()
	check := &clusterv1.MachineHealthCheck{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.key.Namespace, Name: c.key.Name},
		Spec: clusterv1.MachineHealthCheckSpec{
			ClusterName: c.key.Name,
			Selector:    metav1.LabelSelector{MatchLabels: map[string]string{clusterv1.MachineControlPlaneLabel: ""}},
			Checks: clusterv1.MachineHealthCheckChecks{
				UnhealthyMachineConditions: []clusterv1.UnhealthyMachineCondition{{
					// Longer than a new Machine needs to get its instance, even on a busy machine.
					Type: clusterv1.InfrastructureReadyCondition, Status: metav1.ConditionFalse, TimeoutSeconds: ptr.To[int32](30),
				}},
			},
		},
	}
	for _, change := range changes {
		change(&check.Spec.Checks)
	}
	Expect(c.Create(ctx, check)).To(Succeed())
	Eventually(func(g Gomega) {
		g.Expect(c.Get(ctx, client.ObjectKeyFromObject(check), check)).To(Succeed())
		g.Expect(check.OwnerReferences).NotTo(BeEmpty(), "a move includes only what belongs to the Cluster")
	}).WithContext(ctx).Should(Succeed(), "Cluster API does not reconcile the MachineHealthCheck")
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.IgnoreNotFound(c.Delete(ctx, check))).To(Succeed(), "it may have moved away")
		Eventually(ctx, c.gone(check)).Should(BeTrue(), "the MachineHealthCheck is not gone")
	}, NodeTimeout(soon))
}

// shortestNodeStartup is the minimum time that Cluster API allows a MachineHealthCheck to wait for
// a Machine's Node.
const shortestNodeStartup = 30 * time.Second

// impatient makes a MachineHealthCheck wait as briefly as possible for Nodes. Use it only if no
// Machine joins meanwhile: on a busy machine, joining can take as long.
func impatient(checks *clusterv1.MachineHealthCheckChecks) {
	checks.NodeStartupTimeoutSeconds = ptr.To(int32(shortestNodeStartup.Seconds()))
}
