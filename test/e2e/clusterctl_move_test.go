//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// refuseMove expects that clusterctl says why the cluster cannot be moved, and that nothing
// changes.
func (c *clusterctl) refuseMove(ctx context.Context, from, to *management, stays *cluster, says string) {
	GinkgoHelper()
	got := c.on(ctx, from, "move", "--namespace="+stays.key.Namespace, "--to-kubeconfig="+to.kubeconfig)
	Expect(got.code).NotTo(BeZero())
	Expect(got.stderr).To(ContainSubstring(says))
	var now clusterv1.Cluster
	Expect(from.Get(ctx, stays.key, &now)).To(Succeed())
	Expect(ptr.Deref(now.Spec.Paused, false)).To(BeFalse(), "the cluster has been left paused")
}

// move moves the cluster's namespace, and waits until the cluster is as healthy there as before.
func (c *clusterctl) move(ctx context.Context, from, to *management, moved *cluster) {
	GinkgoHelper()
	c.run(ctx, from, "move", "--namespace="+moved.key.Namespace, "--to-kubeconfig="+to.kubeconfig)
	moved.arrived(ctx, from, to)
}

// arrived waits until the cluster is as healthy at the target as before the move.
func (c *cluster) arrived(ctx context.Context, from, to *management) {
	GinkgoHelper()
	Expect(from.clusters(c.key.Namespace)(Default, ctx)).To(BeEmpty(), "the source still has the cluster")
	c.management = to
	c.works(ctx)
}

// works waits until the management cluster reaches the cluster, of one control plane machine, and
// finds nothing to do.
func (c *cluster) works(ctx context.Context) {
	GinkgoHelper()
	c.available(ctx)
	Eventually(func(g Gomega) {
		var now clusterv1.Cluster
		g.Expect(c.Get(ctx, c.key, &now)).To(Succeed())
		for _, kind := range []string{clusterv1.ClusterRemoteConnectionProbeCondition, clusterv1.ClusterControlPlaneAvailableCondition, clusterv1.ClusterWorkersAvailableCondition} {
			expectCondition(g, now.Status.Conditions, kind, metav1.ConditionTrue)
		}
		expectCondition(g, now.Status.Conditions, clusterv1.ClusterRollingOutCondition, metav1.ConditionFalse)
		g.Expect(c.anyControlPlane(g, ctx).GetGeneration()).To(BeNumerically(">", 0))
		c.expectSettledStatus(g, ctx, 1, currentVersion)
		for _, machine := range c.machines(g, ctx) {
			g.Expect(machine.Status.NodeRef.IsDefined()).To(BeTrue(), "Machine %s has no Node, and could not be moved again", machine.Name)
		}
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "Cluster %s does not work", c.key)
}

// killMove kills a move half-way. An API server that rejects the next step keeps it there, because
// it retries for minutes.
func (c *clusterctl) killMove(ctx context.Context, from, to *management, moved *cluster, halfway func(g Gomega)) {
	GinkgoHelper()
	cmd := c.command(ctx, from, "move", "--namespace="+moved.key.Namespace, "--to-kubeconfig="+to.kubeconfig)
	move := start(cmd)
	Eventually(func(g Gomega) {
		if move.ended() {
			StopTrying("the move has ended: " + string(move.said.Contents())).Now()
		}
		halfway(g)
	}).WithContext(ctx).Should(Succeed(), "the move does not get far enough: %s", move.said.Contents())
	Expect(cmd.Process.Kill()).To(Succeed())
	Eventually(ctx, move.done).Should(BeClosed())
	Expect(cmd.ProcessState.ExitCode()).To(Equal(-1), "the move has ended by itself: %s", move.said.Contents())
}

// refusal is the API server's message when it rejects something for a story.
const refusal = "not while the story is running"

// refuse makes the API server reject an operation on a kind until the returned function is called.
// Try is such an operation; its result shows when the rejection is in effect.
func (m *management) refuse(ctx context.Context, operation admissionregistrationv1.OperationType, resource schema.GroupResource, try func() error) func() {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Name: "refuse-" + resource.Resource}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
			RuleWithOperations: admissionregistrationv1.RuleWithOperations{
				Operations: []admissionregistrationv1.OperationType{operation},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{resource.Group}, APIVersions: []string{"*"}, Resources: []string{resource.Resource}},
			},
		}}},
		Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: refusal}},
	}}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: policy.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
	}}
	Expect(m.Create(ctx, policy)).To(Succeed())
	Expect(m.Create(ctx, binding)).To(Succeed())
	answer := func() string { return fmt.Sprint(try()) }
	Eventually(answer).WithContext(ctx).Should(ContainSubstring(refusal), "the API server does not reject it")
	refusing := true
	allow := func(ctx context.Context) {
		GinkgoHelper()
		refusing = false
		Expect(m.Delete(ctx, binding)).To(Succeed())
		Expect(m.Delete(ctx, policy)).To(Succeed())
		Eventually(answer).WithContext(ctx).ShouldNot(ContainSubstring(refusal), "the API server keeps rejecting it")
	}
	// A story that fails must not make later ones fail.
	DeferCleanup(func(ctx SpecContext) {
		if refusing {
			allow(ctx)
		}
	}, NodeTimeout(soon))
	return func() { allow(ctx) }
}

// pausedIn reports whether a management cluster has the cluster paused.
func (c *cluster) pausedIn(g Gomega, ctx context.Context, m *management) bool {
	var now clusterv1.Cluster
	g.Expect(m.Get(ctx, c.key, &now)).To(Succeed())
	return ptr.Deref(now.Spec.Paused, false)
}

// resume ends a pause as docs/troubleshooting.md describes.
func (c *cluster) resume(ctx context.Context, m *management) {
	GinkgoHelper()
	m.kubectl(ctx, "--namespace="+c.key.Namespace, "patch", "cluster", c.key.Name, "--type=merge", `--patch={"spec":{"paused":null}}`)
}

// names lists the objects that a move takes from the cluster's namespace, as
// docs/troubleshooting.md describes.
func (c *cluster) names(ctx context.Context, m *management) []string {
	GinkgoHelper()
	// kubectl caches the kinds of an API server for minutes.
	fresh := "--cache-dir=" + GinkgoT().TempDir()
	kinds := strings.Fields(m.kubectl(ctx, fresh, "api-resources", "--categories=cluster-api", "--namespaced", "--output=name"))
	objects := strings.Fields(m.kubectl(ctx, fresh, "--namespace="+c.key.Namespace, "get", strings.Join(kinds, ","), "--output=name"))
	secrets := m.kubectl(ctx, "--namespace="+c.key.Namespace, "get", "secrets", "--selector="+clusterv1.ClusterNameLabel+"="+c.key.Name, "--output=name")
	return append(objects, strings.Fields(secrets)...)
}

// forget removes what an interrupted move left at its source, as docs/troubleshooting.md describes.
// The Cluster is deleted last: while it exists and is paused, no controller acts on the objects
// that are being deleted.
func (c *cluster) forget(ctx context.Context, m *management) {
	GinkgoHelper()
	isCluster := func(name string) bool { return strings.HasPrefix(name, "cluster.cluster.x-k8s.io/") }
	left := slices.DeleteFunc(c.names(ctx, m), isCluster)
	for _, object := range append(left, "cluster/"+c.key.Name) {
		m.kubectl(ctx, "--namespace="+c.key.Namespace, "delete", object, "--wait=false", "--ignore-not-found")
		got := end(command(ctx, kubectl(), "--kubeconfig="+m.kubeconfig, "--namespace="+c.key.Namespace,
			"patch", object, "--type=merge", `--patch={"metadata":{"finalizers":null}}`))
		Expect(got.code == 0 || strings.Contains(got.stderr, "NotFound")).To(BeTrue(), got.stderr)
	}
}

// bystander creates an identity that only another namespace uses, and returns a function that
// checks that it is unchanged.
func (m *management) bystander(ctx context.Context) func() {
	GinkgoHelper()
	identity := &infrav1.FooClusterIdentity{ObjectMeta: metav1.ObjectMeta{Name: "bystander"}, Spec: infrav1.FooClusterIdentitySpec{
		Endpoint: "https://192.0.2.1:7443", Tenant: "elsewhere",
		CredentialsRef:    infrav1.FooClusterIdentitySecretReference{Namespace: "elsewhere", Name: "elsewhere"},
		AllowedNamespaces: infrav1.AllowedNamespaces{List: []string{"elsewhere"}},
	}}
	Expect(m.Create(ctx, identity)).To(Succeed())
	held := func(g Gomega) {
		g.Expect(m.Get(ctx, client.ObjectKeyFromObject(identity), identity)).To(Succeed())
		g.Expect(identity.DeletionTimestamp).To(BeNil(), "it is being deleted")
		g.Expect(identity.Finalizers).To(ContainElement(infrav1.FooClusterIdentityFinalizer))
	}
	Eventually(held).WithContext(ctx).Should(Succeed(), "no controller has added its finalizer to the identity")
	made := identity.UID
	return func() {
		GinkgoHelper()
		held(Default)
		Expect(identity.UID).To(Equal(made), "it has been recreated")
	}
}

// footprint is everything that a cluster consists of outside its management cluster.
type footprint struct {
	instances, nodes, members sets.Set[string]
}

// footprint reads the cluster itself, and the cloud that a management cluster started.
func (c *cluster) footprint(ctx context.Context, cloud *management) footprint {
	GinkgoHelper()
	made := footprint{instances: cloud.instances(ctx), nodes: sets.New[string](), members: sets.New[string]()}
	nodes := c.nodesReady(ctx, 1, 1)
	for _, node := range nodes {
		made.nodes.Insert(node.Name + " " + string(node.UID))
	}
	made.members.Insert(c.healthyMembers(ctx, controlPlanesOf(nodes))...)
	return made
}

// instances returns the IDs of all instances of the cloud.
func (m *management) instances(ctx context.Context) sets.Set[string] {
	GinkgoHelper()
	ids := sets.New[string]()
	for _, one := range foocloud[[]instance](ctx, m, "instances") {
		ids.Insert(one.ID)
	}
	return ids
}
