// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudidentity

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
)

// connection is a fake cloud that records whether it was closed.
type connection struct {
	*fake.Cloud

	account  Account
	followed bool
	closed   bool
}

func (c *connection) Check(ctx context.Context) error {
	_, err := c.Quota(ctx)
	return err
}

func (c *connection) Close() { c.closed = true }

// world is a Resolver with the connections that it has created.
type world struct {
	*Resolver

	client client.Client
	made   []*connection
}

func newWorld(g *WithT, objects ...client.Object) *world {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, infrav1.AddToScheme, clusterv1.AddToScheme} {
		g.Expect(add(scheme)).To(Succeed())
	}
	w := &world{client: clientfake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()}
	w.Resolver = NewResolver(Options{
		Client: w.client, Secrets: w.client, Default: fake.New(fake.Options{}),
		Connect: func(account Account) (Connection, error) {
			made := &connection{Cloud: fake.New(fake.Options{}), account: account}
			w.made = append(w.made, made)
			return made, nil
		},
		Follow: func(watcher cloudevents.Watcher, _ cloudevents.Scope) func() {
			made := watcher.(*connection)
			made.followed = true
			return func() { made.followed = false }
		},
	})
	return w
}

func identity(allowed infrav1.AllowedNamespaces) *infrav1.FooClusterIdentity {
	return &infrav1.FooClusterIdentity{
		ObjectMeta: metav1.ObjectMeta{Name: "red", UID: "u1", Generation: 1},
		Spec: infrav1.FooClusterIdentitySpec{
			Endpoint: "https://cloud:1", Tenant: "red", AllowedNamespaces: allowed,
			CredentialsRef: infrav1.FooClusterIdentitySecretReference{Namespace: "red", Name: "cloud"},
		},
	}
}

func credentials() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "red", Name: "cloud"},
		Type:       infrav1.FooClusterIdentitySecretType, Data: map[string][]byte{"token": []byte("first\n")},
	}
}

func fooCluster(name string) *infrav1.FooCluster {
	return &infrav1.FooCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "red", Name: "one"},
		Spec:       infrav1.FooClusterSpec{IdentityRef: infrav1.FooClusterIdentityReference{Name: name}},
	}
}

// quota makes a call that every cloud answers.
func quota(c cloud.Cloud) error {
	_, err := c.Quota(context.Background())
	return err
}

func TestConnectionsAreKeptUntilSomethingChanges(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(g, identity(infrav1.AllowedNamespaces{List: []string{"red"}}), credentials())
	for range 3 {
		g.Expect(quota(w.OfFooCluster(t.Context(), fooCluster("red")))).To(Succeed())
	}
	g.Expect(w.made).To(HaveLen(1))
	g.Expect(w.made[0].account).To(Equal(Account{Endpoint: "https://cloud:1", Tenant: "red", Token: "first"}))
	g.Expect(w.made[0].followed).To(BeTrue())

	secret, current := &corev1.Secret{}, &infrav1.FooClusterIdentity{}
	g.Expect(w.client.Get(t.Context(), client.ObjectKeyFromObject(credentials()), secret)).To(Succeed())
	g.Expect(w.client.Get(t.Context(), client.ObjectKey{Name: "red"}, current)).To(Succeed())
	g.Expect(w.Check(t.Context(), current)).To(Succeed())
	g.Expect(w.made).To(HaveLen(1), "nothing changed")
	secret.Data["token"] = []byte("second")
	g.Expect(w.client.Update(t.Context(), secret)).To(Succeed())
	g.Expect(w.Check(t.Context(), current)).To(Succeed())
	g.Expect(w.made).To(HaveLen(2))
	g.Expect(w.made[0].closed).To(BeTrue())
	g.Expect(w.made[0].followed).To(BeFalse())
	g.Expect(w.made[1].account.Token).To(Equal("second"))

	w.Forget("red")
	g.Expect(w.made[1].closed).To(BeTrue())
	g.Expect(w.made[1].followed).To(BeFalse())
}

func TestChangedCredentialsAreUsedWithoutACheck(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(g, identity(infrav1.AllowedNamespaces{List: []string{"red"}}), credentials())
	w.AlwaysReadSecrets = true
	use := func() { g.Expect(quota(w.OfFooCluster(t.Context(), fooCluster("red")))).To(Succeed()) }
	use()
	use()
	g.Expect(w.made).To(HaveLen(1), "nothing changed")
	secret := &corev1.Secret{}
	g.Expect(w.client.Get(t.Context(), client.ObjectKeyFromObject(credentials()), secret)).To(Succeed())
	secret.Data["token"] = []byte("second")
	g.Expect(w.client.Update(t.Context(), secret)).To(Succeed())
	use()
	g.Expect(w.made).To(HaveLen(2))
	g.Expect(w.made[0].closed).To(BeTrue())
	g.Expect(w.made[1].account.Token).To(Equal("second"))
}

func TestConnectionsEndWithTheManager(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(g, identity(infrav1.AllowedNamespaces{List: []string{"red"}}), credentials())
	g.Expect(quota(w.OfFooCluster(t.Context(), fooCluster("red")))).To(Succeed())
	ctx, stop := context.WithCancel(t.Context())
	stop()
	g.Expect(w.Start(ctx)).To(Succeed())
	g.Expect(w.made[0].closed).To(BeTrue())
	g.Expect(w.made[0].followed).To(BeFalse())
}

func TestRefusals(t *testing.T) {
	other := credentials()
	other.Type = corev1.SecretTypeServiceAccountToken
	for name, test := range map[string]struct {
		objects []client.Object
		want    string
	}{
		"no identity":    {nil, "there is no FooClusterIdentity red"},
		"nobody allowed": {[]client.Object{identity(infrav1.AllowedNamespaces{}), credentials()}, "does not allow namespace red"},
		"others allowed": {[]client.Object{identity(infrav1.AllowedNamespaces{List: []string{"blue"}}), credentials()}, "does not allow namespace red"},
		"no Secret":      {[]client.Object{identity(infrav1.AllowedNamespaces{List: []string{"red"}})}, "there is no Secret red/cloud"},
		"a Secret of another type": {
			[]client.Object{identity(infrav1.AllowedNamespaces{List: []string{"red"}}), other}, "has the type kubernetes.io/service-account-token",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(g, test.objects...)
			refusing := w.OfFooCluster(t.Context(), fooCluster("red"))
			_, err := refusing.GetInstance(t.Context(), "i1")
			g.Expect(cloud.IsUnauthorized(err)).To(BeTrue(), "it is not reported as missing")
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
			g.Expect(refusing.DeletePool(t.Context(), "p")).To(MatchError(err))
			g.Expect(w.made).To(BeEmpty(), "no token was sent anywhere")
		})
	}
}

func TestCloudsOfClusters(t *testing.T) {
	key := client.ObjectKey{Namespace: "red", Name: "one"}
	now := metav1.Now()
	named := func(kind string) *clusterv1.Cluster {
		return &clusterv1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
			Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: infrav1.GroupVersion.Group, Kind: kind, Name: "one",
			}},
		}
	}
	deleted := named("FooCluster")
	deleted.DeletionTimestamp, deleted.Finalizers = &now, []string{clusterv1.ClusterFinalizer}
	labelled, owned := fooCluster("red"), fooCluster("red")
	labelled.Labels = map[string]string{clusterv1.ClusterNameLabel: "one"}
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "one"}}
	withIdentity := []client.Object{identity(infrav1.AllowedNamespaces{List: []string{"red"}}), credentials()}
	for name, test := range map[string]struct {
		objects []client.Object
		want    string // default, identity, or part of the refusal's message
	}{
		"no identity named":                          {[]client.Object{named("FooCluster"), fooCluster("")}, "default"},
		"other infrastructure":                       {[]client.Object{named("DockerCluster")}, "default"},
		"an identity":                                {append(withIdentity, named("FooCluster"), fooCluster("red")), "identity"},
		"no FooCluster yet":                          {[]client.Object{named("FooCluster")}, "getting FooCluster one"},
		"nothing left, and only one cloud":           {nil, "default"},
		"nothing left, and several clouds":           {withIdentity, "the FooCluster is gone"},
		"FooCluster gone, and only one cloud":        {[]client.Object{deleted}, "default"},
		"FooCluster gone, and several clouds":        {append(withIdentity, deleted), "the FooCluster is gone"},
		"Cluster gone, the FooCluster has its label": {append(withIdentity, labelled), "identity"},
		"Cluster gone, the FooCluster names it":      {append(withIdentity, owned), "identity"},
		"Cluster gone, another's FooCluster":         {append(withIdentity, fooCluster("red")), "the FooCluster is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(g, test.objects...)
			found := w.OfCluster(t.Context(), key)
			switch test.want {
			case "default":
				g.Expect(found).To(BeIdenticalTo(w.Default))
			case "identity":
				g.Expect(quota(found)).To(Succeed())
				g.Expect(w.made).To(HaveLen(1))
			default:
				g.Expect(Usable(found)).To(BeFalse())
				g.Expect(quota(found)).To(MatchError(ContainSubstring(test.want)), "another cloud would say that nothing is left")
			}
		})
	}
}

// A tenant's watch that restarts concerns that tenant's clusters only.
func TestScope(t *testing.T) {
	g := NewWithT(t)
	red, own := fooCluster("red"), fooCluster("")
	own.Name = "two"
	for _, f := range []*infrav1.FooCluster{red, own} {
		f.Labels = map[string]string{clusterv1.ClusterNameLabel: f.Name}
	}
	of := func(cluster string) *infrav1.FooMachine {
		return &infrav1.FooMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "red", Name: "m", Labels: map[string]string{clusterv1.ClusterNameLabel: cluster}}}
	}
	w := newWorld(g, red, own)
	for identity, want := range map[string][]bool{"red": {true, false, true, false, false}, "": {false, true, false, true, true}} {
		contains, err := Scope(w.client, identity)(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		got := []bool{}
		for _, object := range []client.Object{red, own, of("one"), of("two"), of("gone")} {
			got = append(got, contains(object))
		}
		g.Expect(got).To(Equal(want), "identity %q", identity)
	}
}
