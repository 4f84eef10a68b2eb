//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tenancy tests that clusters of several tenants share a manager and a cloud, and nothing
// else.
//
// The API server is real, and so is the cloud's API with its tokens and tenants over TLS; only its
// machines are fake.
package tenancy

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

// tenant is an identity with its Secret, and a namespace.
type tenant struct {
	name, namespace string
	identity        *infrav1.FooClusterIdentity
	secret          *corev1.Secret
}

// newTenant creates an identity with its own allowed namespace, and its Secret.
func newTenant(ctx context.Context, name string, changes ...func(*tenant)) *tenant {
	GinkgoHelper()
	namespace, err := env.CreateNamespace(ctx, name)
	Expect(err).NotTo(HaveOccurred())
	t := &tenant{name: name, namespace: namespace, identity: &infrav1.FooClusterIdentity{
		ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"},
		Spec: infrav1.FooClusterIdentitySpec{
			Endpoint: foocloud.web.URL, CABundle: foocloud.certificate(), Tenant: name,
			CredentialsRef:    infrav1.FooClusterIdentitySecretReference{Namespace: namespace, Name: "cloud"},
			AllowedNamespaces: infrav1.AllowedNamespaces{List: []string{namespace}},
		},
	}}
	t.secret = &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cloud"},
		Type:       infrav1.FooClusterIdentitySecretType,
		StringData: map[string]string{infrav1.FooClusterIdentityTokenKey: "token-of-" + name + "\n"},
	}
	for _, change := range changes {
		change(t)
	}
	Expect(c.Create(ctx, t.identity)).To(Succeed())
	if t.secret != nil {
		Expect(c.Create(ctx, t.secret)).To(Succeed())
	}
	return t
}

func (t *tenant) setToken(ctx context.Context, token string) {
	GinkgoHelper()
	before := t.secret.DeepCopy()
	t.secret.Data = map[string][]byte{infrav1.FooClusterIdentityTokenKey: []byte(token)}
	Expect(c.Patch(ctx, t.secret, client.MergeFrom(before))).To(Succeed())
}

// ready returns a function for Eventually that reads the Ready condition of the identity as "Status
// Reason: Message".
func (t *tenant) ready(ctx context.Context) func(Gomega) string {
	return func(g Gomega) string {
		g.Expect(c.Get(ctx, client.ObjectKeyFromObject(t.identity), t.identity)).To(Succeed())
		return text(t.identity, infrav1.FooClusterIdentityReadyCondition)
	}
}

func text(object conditions.Getter, conditionType string) string {
	condition := conditions.Get(object, conditionType)
	if condition == nil {
		return ""
	}
	return string(condition.Status) + " " + condition.Reason + ": " + condition.Message
}

// cluster creates a cluster that uses the tenant's identity.
func (t *tenant) cluster(ctx context.Context, namespace string) (*clusterv1.Cluster, *infrav1.FooCluster) {
	GinkgoHelper()
	owner := infratest.NewCluster(namespace, t.name)
	Expect(c.Create(ctx, owner)).To(Succeed())
	fooCluster := infratest.NewFooCluster(owner)
	fooCluster.Spec.IdentityRef.Name = t.identity.Name
	Expect(c.Create(ctx, fooCluster)).To(Succeed())
	return owner, fooCluster
}

// machine creates a Machine of a cluster whose infrastructure is ready, and waits for its instance.
func (t *tenant) machine(ctx context.Context, owner *clusterv1.Cluster) *infrav1.FooMachine {
	GinkgoHelper()
	before := owner.DeepCopy()
	owner.Status.Initialization.InfrastructureProvisioned = ptr.To(true)
	Expect(c.Status().Patch(ctx, owner, client.MergeFrom(before))).To(Succeed())
	Expect(c.Create(ctx, infratest.NewSecret(t.namespace, "bootstrap", infratest.UserData))).To(Succeed())
	machine := infratest.NewMachine(owner, "one")
	machine.Labels[clusterv1.MachineControlPlaneLabel] = ""
	machine.Spec.Bootstrap.DataSecretName = ptr.To("bootstrap")
	Expect(c.Create(ctx, machine)).To(Succeed())
	fooMachine := infratest.NewFooMachine(machine)
	Expect(c.Create(ctx, fooMachine)).To(Succeed())
	Eventually(condition(ctx, fooMachine, infrav1.FooMachineInstanceProvisionedCondition)).Should(HavePrefix("True"))
	return fooMachine
}

type object interface {
	client.Object
	conditions.Getter
}

func condition(ctx context.Context, of object, conditionType string) func(Gomega) string {
	return func(g Gomega) string {
		g.Expect(c.Get(ctx, client.ObjectKeyFromObject(of), of)).To(Succeed())
		return text(of, conditionType)
	}
}

func (t *tenant) instances(ctx context.Context) []cloud.Instance {
	GinkgoHelper()
	instances, err := foocloud.engine.Tenant(t.name).ListInstances(ctx, cloud.InstanceFilter{})
	Expect(err).NotTo(HaveOccurred())
	return instances
}

func (t *tenant) balancers(ctx context.Context) []cloud.LoadBalancer {
	GinkgoHelper()
	balancers, err := foocloud.engine.Tenant(t.name).ListLoadBalancers(ctx, nil)
	Expect(err).NotTo(HaveOccurred())
	return balancers
}

var _ = Describe("A cluster with an identity", Ordered, func() {
	var red, blue *tenant
	var owner *clusterv1.Cluster
	var fooCluster *infrav1.FooCluster
	var fooMachine *infrav1.FooMachine

	It("has its load balancer and its instances with its own tenant only", func(ctx SpecContext) {
		red, blue = newTenant(ctx, "red"), newTenant(ctx, "blue")
		Eventually(red.ready(ctx)).Should(HavePrefix("True"))
		owner, fooCluster = red.cluster(ctx, red.namespace)
		Eventually(condition(ctx, fooCluster, infrav1.FooClusterReadyCondition)).Should(HavePrefix("True"))
		fooMachine = red.machine(ctx, owner)
		Expect(red.balancers(ctx)).To(HaveLen(1))
		Expect(red.instances(ctx)).To(HaveLen(1))
		// Other stories may have clusters there, but nothing of this one may be there.
		ofRed := HaveField("Tags", HaveKeyWithValue("infrastructure.cluster.x-k8s.io/namespace", red.namespace))
		Expect(red.balancers(ctx)).To(ConsistOf(ofRed))
		Expect(blue.balancers(ctx)).NotTo(ContainElement(ofRed))
		Expect(blue.instances(ctx)).To(BeEmpty())
		Expect(shared.ListLoadBalancers(ctx, nil)).NotTo(ContainElement(ofRed))
		Expect(shared.ListInstances(ctx, cloud.InstanceFilter{})).To(BeEmpty())
	})

	It("makes the identity own the Secret, so that clusterctl moves both", func(ctx SpecContext) {
		Eventually(func(g Gomega) {
			g.Expect(c.Get(ctx, client.ObjectKeyFromObject(red.secret), red.secret)).To(Succeed())
			g.Expect(red.secret.OwnerReferences).To(ConsistOf(And(HaveField("Kind", "FooClusterIdentity"), HaveField("Name", red.identity.Name))))
		}).Should(Succeed())
	})

	It("keeps its resources when the token belongs to another tenant", func(ctx SpecContext) {
		red.setToken(ctx, "token-of-blue")
		says := ContainSubstring(infrav1.CloudUnauthorizedReason + `: unauthorized: the token belongs to tenant "blue", but the call is for tenant "red"`)
		Eventually(red.ready(ctx)).Should(And(HavePrefix("False"), says))
		Eventually(condition(ctx, fooCluster, infrav1.FooClusterReadyCondition)).Should(And(HavePrefix("False"), says))
		Eventually(condition(ctx, fooMachine, infrav1.FooMachineInstanceProvisionedCondition)).Should(And(HavePrefix("Unknown"), says))
		Expect(fooMachine.DeletionTimestamp).To(BeNil())
		Expect(red.instances(ctx)).To(ConsistOf(HaveField("State", cloud.InstanceRunning)))
		Expect(blue.instances(ctx)).To(BeEmpty())

		red.setToken(ctx, "token-of-red")
		Eventually(red.ready(ctx)).Should(HavePrefix("True"))
		Eventually(condition(ctx, fooCluster, infrav1.FooClusterReadyCondition)).Should(HavePrefix("True"))
		Eventually(condition(ctx, fooMachine, infrav1.FooMachineInstanceProvisionedCondition)).Should(HavePrefix("True"))
	})

	It("keeps its resources when its token is revoked, even if it is deleted meanwhile", func(ctx SpecContext) {
		foocloud.setTokens(map[string]string{"red": "another", "blue": "token-of-blue"})
		red.setToken(ctx, "token-of-red ")
		Eventually(red.ready(ctx)).Should(And(HavePrefix("False "+infrav1.CloudUnauthorizedReason), ContainSubstring("the token belongs to no tenant")))
		Eventually(condition(ctx, fooMachine, infrav1.FooMachineInstanceProvisionedCondition)).Should(HavePrefix("Unknown " + infrav1.CloudUnauthorizedReason))
		Expect(c.Delete(ctx, fooMachine)).To(Succeed())
		Consistently(func() []cloud.Instance { return red.instances(ctx) }, "1s").Should(HaveLen(1))
		Expect(c.Get(ctx, client.ObjectKeyFromObject(fooMachine), fooMachine)).To(Succeed(), "its instance is not known to be gone")

		By("setting the new token")
		red.setToken(ctx, "another")
		Eventually(func() []cloud.Instance { return red.instances(ctx) }).Should(BeEmpty())
		Eventually(func() bool {
			return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(fooMachine), fooMachine))
		}).Should(BeTrue())
	})

	It("reports that its Secret is missing or has no token", func(ctx SpecContext) {
		red.setToken(ctx, "  ")
		Eventually(red.ready(ctx)).Should(And(HavePrefix("False "+infrav1.FooClusterIdentitySecretMalformedReason), ContainSubstring("under the key token")))
		Expect(c.Delete(ctx, red.secret)).To(Succeed())
		Eventually(red.ready(ctx)).Should(And(HavePrefix("False "+infrav1.FooClusterIdentitySecretMissingReason), ContainSubstring(red.namespace+"/cloud")))
		Eventually(condition(ctx, fooCluster, infrav1.FooClusterReadyCondition)).Should(HavePrefix("False " + infrav1.CloudUnauthorizedReason))
		red.secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: red.namespace, Name: "cloud"}, Type: infrav1.FooClusterIdentitySecretType, StringData: map[string]string{"token": "another"}}
		Expect(c.Create(ctx, red.secret)).To(Succeed())
		Eventually(condition(ctx, fooCluster, infrav1.FooClusterReadyCondition)).Should(HavePrefix("True"))
	})

	It("keeps its identity from being deleted while it exists", func(ctx SpecContext) {
		Expect(c.Delete(ctx, red.identity)).To(Succeed())
		Eventually(red.ready(ctx)).Should(And(
			HavePrefix("False "+infrav1.FooClusterIdentityDeletingReason), ContainSubstring(red.namespace+"/"+fooCluster.Name)))
		Expect(c.Delete(ctx, fooCluster)).To(Succeed())
		Eventually(func() []cloud.LoadBalancer { return red.balancers(ctx) }).Should(BeEmpty())
		Eventually(func() bool {
			return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(red.identity), red.identity))
		}).Should(BeTrue())
	})
})

var _ = Describe("An identity", func() {
	It("serves no namespace that it does not allow", func(ctx SpecContext) {
		blue := newTenant(ctx, "blue")
		foreign, err := env.CreateNamespace(ctx, "foreign")
		Expect(err).NotTo(HaveOccurred())
		_, fooCluster := blue.cluster(ctx, foreign)
		Eventually(condition(ctx, fooCluster, infrav1.FooClusterReadyCondition)).Should(And(
			HavePrefix("False "+infrav1.CloudUnauthorizedReason), ContainSubstring("does not allow namespace "+foreign), ContainSubstring("spec.allowedNamespaces")))
		Expect(blue.balancers(ctx)).To(BeEmpty())

		By("allowing it by its label")
		before := blue.identity.DeepCopy()
		blue.identity.Spec.AllowedNamespaces = infrav1.AllowedNamespaces{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: foreign}},
		}
		Expect(c.Patch(ctx, blue.identity, client.MergeFrom(before))).To(Succeed())
		Eventually(condition(ctx, fooCluster, infrav1.FooClusterReadyCondition)).Should(HavePrefix("True"))
	})

	It("does not use a Secret that is not meant for it", func(ctx SpecContext) {
		blue := newTenant(ctx, "blue", func(t *tenant) { t.secret.Type = corev1.SecretTypeOpaque })
		Eventually(blue.ready(ctx)).Should(And(
			HavePrefix("False "+infrav1.FooClusterIdentitySecretMalformedReason), ContainSubstring("has the type Opaque, but must have "+infrav1.FooClusterIdentitySecretType)))
		Consistently(func(g Gomega) {
			g.Expect(c.Get(ctx, client.ObjectKeyFromObject(blue.secret), blue.secret)).To(Succeed())
			g.Expect(blue.secret.OwnerReferences).To(BeEmpty(), "it would be deleted with the identity")
		}, "1s").Should(Succeed())
	})

	It("can be missing when its cluster is created", func(ctx SpecContext) {
		blue := newTenant(ctx, "blue")
		blue.identity.Name += "-later"
		_, fooCluster := blue.cluster(ctx, blue.namespace)
		Eventually(condition(ctx, fooCluster, infrav1.FooClusterReadyCondition)).Should(And(
			HavePrefix("False "+infrav1.CloudUnauthorizedReason), ContainSubstring("there is no FooClusterIdentity "+blue.identity.Name)))
		later := &infrav1.FooClusterIdentity{ObjectMeta: metav1.ObjectMeta{Name: blue.identity.Name}, Spec: blue.identity.Spec}
		Expect(c.Create(ctx, later)).To(Succeed())
		Eventually(condition(ctx, fooCluster, infrav1.FooClusterReadyCondition)).Should(HavePrefix("True"))
	})

	DescribeTable("does not allow changes of fields that clusters rely on", func(ctx SpecContext, change func(*infrav1.FooClusterIdentitySpec), want string) {
		blue := newTenant(ctx, "blue", func(t *tenant) { t.secret = nil })
		before := blue.identity.DeepCopy()
		change(&blue.identity.Spec)
		Expect(c.Patch(ctx, blue.identity, client.MergeFrom(before))).To(MatchError(ContainSubstring(want)))
	},
		Entry("its endpoint", func(spec *infrav1.FooClusterIdentitySpec) { spec.Endpoint = "https://elsewhere:1" }, "endpoint is immutable"),
		Entry("its tenant", func(spec *infrav1.FooClusterIdentitySpec) { spec.Tenant = "red" }, "tenant is immutable"),
	)
})
