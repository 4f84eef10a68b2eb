// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infrastructure

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

func validIdentity() *infrav1.FooClusterIdentity {
	return &infrav1.FooClusterIdentity{
		ObjectMeta: metav1.ObjectMeta{Name: "red"},
		Spec: infrav1.FooClusterIdentitySpec{
			Endpoint: "https://cloud.example.com:8443", Tenant: "red",
			CredentialsRef:    infrav1.FooClusterIdentitySecretReference{Namespace: "team-red", Name: "cloud"},
			AllowedNamespaces: infrav1.AllowedNamespaces{List: []string{"team-red"}},
		},
	}
}

func TestIdentities(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*infrav1.FooClusterIdentitySpec)
		want   string
	}{
		"valid":                {func(*infrav1.FooClusterIdentitySpec) {}, ""},
		"a socket":             {func(s *infrav1.FooClusterIdentitySpec) { s.Endpoint = "unix:///run/foocloud.sock" }, ""},
		"a Kubernetes cluster": {func(s *infrav1.FooClusterIdentitySpec) { s.Cloud = infrav1.CloudKubernetes }, ""},
		"a socket of an API server": {func(s *infrav1.FooClusterIdentitySpec) {
			s.Cloud, s.Endpoint = infrav1.CloudKubernetes, "unix:///run/foocloud.sock"
		}, "must be https://host:port of the API server of a Kubernetes cluster"},
		"no TLS":                {func(s *infrav1.FooClusterIdentitySpec) { s.Endpoint = "http://cloud:80" }, `spec.endpoint: Invalid value: "http://cloud:80": must be https://host:port or unix:///path/of/socket (see kubectl explain fooclusteridentities.spec.endpoint)`},
		"no scheme":             {func(s *infrav1.FooClusterIdentitySpec) { s.Endpoint = "cloud" }, "must be https://host:port"},
		"a socket on a host":    {func(s *infrav1.FooClusterIdentitySpec) { s.Endpoint = "unix://host/sock" }, "must be https://host:port"},
		"a socket without path": {func(s *infrav1.FooClusterIdentitySpec) { s.Endpoint = "unix://" }, "must be https://host:port"},
		"no certificate":        {func(s *infrav1.FooClusterIdentitySpec) { s.CABundle = []byte("secret") }, `spec.caBundle: Invalid value: "6 bytes": must contain a certificate in PEM format`},
		"a selector of no sense": {func(s *infrav1.FooClusterIdentitySpec) {
			s.AllowedNamespaces.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Like", Values: []string{"r"}}}}
		}, "spec.allowedNamespaces.selector: Invalid value"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			identity := validIdentity()
			test.change(&identity.Spec)
			_, err := identityRules().ValidateCreate(t.Context(), identity)
			if test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

func TestAnIdentityKeepsItsKindOfCloud(t *testing.T) {
	of := func(kind infrav1.CloudKind) *infrav1.FooClusterIdentity {
		identity := validIdentity()
		identity.Spec.Cloud = kind
		return identity
	}
	for _, test := range []struct {
		before, after infrav1.CloudKind
		refused       bool
	}{
		{"", infrav1.CloudLocal, false},
		{infrav1.CloudLocal, "", false},
		{"", infrav1.CloudKubernetes, true},
		{infrav1.CloudKubernetes, "", true},
		{infrav1.CloudKubernetes, infrav1.CloudKubernetes, false},
	} {
		_, err := identityRules().ValidateUpdate(t.Context(), of(test.before), of(test.after))
		if test.refused {
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring("spec.cloud: Forbidden: is immutable")), "%+v", test)
		} else {
			NewWithT(t).Expect(err).NotTo(HaveOccurred(), "%+v", test)
		}
	}
}

func TestIdentitiesOfFooClusters(t *testing.T) {
	scheme := runtime.NewScheme()
	g := NewWithT(t)
	g.Expect(corev1.AddToScheme(scheme)).To(Succeed())
	g.Expect(infrav1.AddToScheme(scheme)).To(Succeed())
	rules := clusterRules(clientfake.NewClientBuilder().WithScheme(scheme).WithObjects(validIdentity()).Build())
	cluster := func(namespace, identity string) *infrav1.FooCluster {
		made := &infrav1.FooCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one"}}
		made.Spec.IdentityRef.Name = identity
		return made
	}
	for _, allowed := range []*infrav1.FooCluster{cluster("team-red", "red"), cluster("elsewhere", ""), cluster("elsewhere", "not-there-yet")} {
		warnings, err := rules.ValidateCreate(t.Context(), allowed)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(warnings).To(BeEmpty())
	}
	warnings, err := rules.ValidateCreate(t.Context(), cluster("elsewhere", "red"))
	g.Expect(err).NotTo(HaveOccurred(), "a move would end half-way: it makes its namespace without labels")
	g.Expect(warnings).To(ConsistOf("spec.identityRef.name is red: FooClusterIdentity red does not allow namespace elsewhere, so nothing will be created in the cloud " +
		"until it does; see its spec.allowedNamespaces (see kubectl explain fooclusters.spec.identityRef.name)"))

	_, err = rules.ValidateUpdate(t.Context(), cluster("team-red", "red"), cluster("team-red", "blue"))
	g.Expect(err).To(MatchError(ContainSubstring(`spec.identityRef: Forbidden: is immutable, so it must not change from "red" to "blue"`)))
	_, err = rules.ValidateUpdate(t.Context(), cluster("elsewhere", "red"), cluster("elsewhere", "red"))
	g.Expect(err).NotTo(HaveOccurred(), "an identity that allows less than before must not block its users")
}
