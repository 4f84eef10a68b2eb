//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// moveTenant moves a tenant's cluster as docs/multi-tenancy.md describes: the Secret of a shared
// identity is where clusterctl looks for it, and the namespace at the target gets its labels only
// after the move, which must not fail half-way without them.
func (c *clusterctl) moveTenant(ctx context.Context, source, target *management) {
	GinkgoHelper()
	key := client.ObjectKey{Namespace: "tenants", Name: "tenant"}
	labels := map[string]string{"tenant": "red"}
	source.shareIdentity(ctx, labels)
	Expect(source.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: key.Namespace, Labels: labels}})).To(Succeed())
	fooCluster := &infrav1.FooCluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	fooCluster.Spec.IdentityRef.Name = sharedIdentity
	source.withoutMachines(ctx, fooCluster)
	source.expectFooCluster(ctx, key, metav1.ConditionTrue, "")
	source.expectInitialized(ctx, key)

	c.run(ctx, source, "move", "--namespace="+key.Namespace, "--to-kubeconfig="+target.kubeconfig)
	Expect(source.clusters(key.Namespace)(Default, ctx)).To(BeEmpty())
	target.expectFooCluster(ctx, key, metav1.ConditionFalse, "does not allow namespace "+key.Namespace)

	target.kubectl(ctx, "label", "namespace", key.Namespace, "tenant=red")
	target.expectFooCluster(ctx, key, metav1.ConditionTrue, "")
}

// sharedIdentity is an identity that namespaces with a certain label may use.
const sharedIdentity = "shared"

// shareIdentity creates it for the managers' own tenant, with its Secret where a move finds it.
func (m *management) shareIdentity(ctx context.Context, labels map[string]string) {
	GinkgoHelper()
	token, err := os.ReadFile(m.env["FOO_CLOUD_TOKEN_FILE"])
	Expect(err).NotTo(HaveOccurred())
	authority, err := os.ReadFile(m.env["FOO_CLOUD_CA_FILE"])
	Expect(err).NotTo(HaveOccurred())
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "infrastructure-foo-system", Name: sharedIdentity},
		Type:       infrav1.FooClusterIdentitySecretType,
		Data:       map[string][]byte{infrav1.FooClusterIdentityTokenKey: token},
	}
	identity := &infrav1.FooClusterIdentity{ObjectMeta: metav1.ObjectMeta{Name: sharedIdentity}, Spec: infrav1.FooClusterIdentitySpec{
		Endpoint: m.env["FOO_CLOUD_HTTPS_ENDPOINT"], CABundle: authority, Tenant: "default",
		CredentialsRef:    infrav1.FooClusterIdentitySecretReference{Namespace: secret.Namespace, Name: secret.Name},
		AllowedNamespaces: infrav1.AllowedNamespaces{Selector: &metav1.LabelSelector{MatchLabels: labels}},
	}}
	Expect(m.Create(ctx, secret)).To(Succeed())
	Expect(m.Create(ctx, identity)).To(Succeed())
	Eventually(func(g Gomega) {
		g.Expect(m.Get(ctx, client.ObjectKeyFromObject(secret), secret)).To(Succeed())
		g.Expect(secret.OwnerReferences).To(ContainElement(HaveField("Name", sharedIdentity)), "a move includes what the identity owns")
	}).WithContext(ctx).Should(Succeed())
}

// expectFooCluster waits until a FooCluster's Ready condition has this status and message.
func (m *management) expectFooCluster(ctx context.Context, key client.ObjectKey, status metav1.ConditionStatus, says string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var fooCluster infrav1.FooCluster
		g.Expect(m.Get(ctx, key, &fooCluster)).To(Succeed())
		g.Expect(fooCluster.Status.Conditions).To(ContainElement(And(
			HaveField("Type", infrav1.FooClusterReadyCondition), HaveField("Status", status), HaveField("Message", ContainSubstring(says)))))
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
}

// expectInitialized waits until Cluster API reports what a move requires of a cluster.
func (m *management) expectInitialized(ctx context.Context, key client.ObjectKey) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var cluster clusterv1.Cluster
		g.Expect(m.Get(ctx, key, &cluster)).To(Succeed())
		g.Expect(cluster.Status.Initialization.InfrastructureProvisioned).To(HaveValue(BeTrue()))
		expectCondition(g, cluster.Status.Conditions, clusterv1.ClusterControlPlaneInitializedCondition, metav1.ConditionTrue)
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
}
