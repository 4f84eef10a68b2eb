// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"crypto/x509"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	capicerts "sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

var (
	testCluster = client.ObjectKey{Namespace: "default", Name: "c1"}
	testOwner   = metav1.OwnerReference{APIVersion: "v1", Kind: "Owner", Name: "o", UID: "1", Controller: ptr.To(true)}
)

func testRequest() Request {
	return Request{
		Cluster: testCluster,
		Config:  bootstrapv1.ClusterConfiguration{EncryptionAlgorithm: bootstrapv1.EncryptionAlgorithmECDSAP256},
		Owner:   testOwner,
		Now:     time.Now(),
	}
}

// newStore puts the objects only where nothing is cached, like Secrets without Cluster API's label.
func newStore(objects ...client.Object) (*Store, client.Client) {
	live := fake.NewClientBuilder().WithObjects(objects...).Build()
	return NewStore(fake.NewClientBuilder().Build(), live), live
}

// generated returns the Secrets of a cluster as LookupOrGenerate creates them.
func generated(g *WithT) map[string]*corev1.Secret {
	store, live := newStore()
	_, err := store.LookupOrGenerate(context.Background(), testRequest())
	g.Expect(err).NotTo(HaveOccurred())
	return read(g, live)
}

func read(g *WithT, reader client.Client) map[string]*corev1.Secret {
	list := &corev1.SecretList{}
	g.Expect(reader.List(context.Background(), list)).To(Succeed())
	result := map[string]*corev1.Secret{}
	for i := range list.Items {
		list.Items[i].ResourceVersion = ""
		result[list.Items[i].Name] = &list.Items[i]
	}
	return result
}

func objects(secrets map[string]*corev1.Secret) []client.Object {
	var result []client.Object
	for _, found := range secrets {
		result = append(result, found)
	}
	return result
}

func TestGenerate(t *testing.T) {
	g := NewWithT(t)
	store, live := newStore()
	found, err := store.LookupOrGenerate(context.Background(), testRequest())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found.Authority.Certificate.IsCA).To(BeTrue())
	g.Expect(found.Authority.Key).NotTo(BeNil())
	g.Expect(found.Expiries).To(HaveLen(3), "a service account's key pair never expires")

	secrets := read(g, live)
	g.Expect(secrets).To(And(HaveLen(4), HaveKey("c1-ca"), HaveKey("c1-etcd"), HaveKey("c1-proxy"), HaveKey("c1-sa")))
	for _, made := range secrets {
		g.Expect(made.Type).To(Equal(clusterv1.ClusterSecretType))
		g.Expect(made.Labels).To(HaveKeyWithValue(clusterv1.ClusterNameLabel, "c1"))
		g.Expect(made.OwnerReferences).To(ConsistOf(HaveField("UID", testOwner.UID)))
	}

	again, err := store.LookupOrGenerate(context.Background(), testRequest())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Authority.Certificate.Equal(found.Authority.Certificate)).To(BeTrue(), "existing Secrets are kept")
	looked, err := store.Lookup(context.Background(), testRequest())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(looked.Authority.Certificate.Equal(found.Authority.Certificate)).To(BeTrue())
}

func TestLookupGeneratesNothing(t *testing.T) {
	g := NewWithT(t)
	secrets := generated(g)
	delete(secrets, "c1-ca")
	delete(secrets, "c1-sa")
	store, live := newStore(objects(secrets)...)
	_, err := store.Lookup(context.Background(), testRequest())
	g.Expect(err).To(BeAssignableToTypeOf(&UnusableError{}))
	g.Expect(err).To(MatchError(ContainSubstring("certificate Secrets are missing: c1-ca, c1-sa; provide them")))
	g.Expect(read(g, live)).To(HaveLen(2))
}

func TestTheAuthorityRemains(t *testing.T) {
	g := NewWithT(t)
	secrets := generated(g)
	ca := secrets["c1-ca"].Data[secret.TLSCrtDataName]
	delete(secrets, "c1-proxy")
	store, _ := newStore(objects(secrets)...)
	found, err := store.Lookup(context.Background(), testRequest())
	g.Expect(err).To(MatchError(ContainSubstring("c1-proxy")))
	g.Expect(found.Authority.Trusts(ca)).To(BeTrue())
	g.Expect(found.Authority.Key).NotTo(BeNil())

	secrets["c1-etcd"].Data[secret.TLSCrtDataName] = []byte("nonsense")
	store, _ = newStore(objects(secrets)...)
	found, err = store.Lookup(context.Background(), testRequest())
	g.Expect(err).To(HaveOccurred())
	g.Expect(found.Authority.Trusts(ca)).To(BeTrue())

	secrets["c1-ca"].Data[secret.TLSKeyDataName] = []byte("nonsense")
	store, _ = newStore(objects(secrets)...)
	found, err = store.Lookup(context.Background(), testRequest())
	g.Expect(err).To(HaveOccurred())
	g.Expect(found).To(BeZero(), "an authority that cannot be used counts as missing")
}

// The Secrets of another control plane must not be deleted with this one.
func TestWithoutAnOwnerSecretsAreOnlyRead(t *testing.T) {
	g := NewWithT(t)
	secrets := generated(g)
	store, live := newStore(objects(secrets)...)
	request := testRequest()
	request.Owner = metav1.OwnerReference{}
	found, err := store.Lookup(context.Background(), request)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found.Authority.Key).NotTo(BeNil())
	for name, kept := range read(g, live) {
		g.Expect(kept.OwnerReferences).To(Equal(secrets[name].OwnerReferences), name)
	}
}

// The Secrets that exist must not be deleted with their earlier owner because of another Secret.
func TestSecretsAreTakenOverWhateverOthersAreLike(t *testing.T) {
	for name, change := range map[string]func(secrets map[string]*corev1.Secret){
		"one is missing": func(secrets map[string]*corev1.Secret) { delete(secrets, "c1-proxy") },
		"one is invalid": func(secrets map[string]*corev1.Secret) { secrets["c1-proxy"].Data = nil },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			secrets := generated(g)
			for _, found := range secrets {
				found.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Before", Name: "b", UID: "2", Controller: ptr.To(true)}}
			}
			change(secrets)
			store, live := newStore(objects(secrets)...)
			_, err := store.Lookup(context.Background(), testRequest())
			g.Expect(err).To(MatchError(ContainSubstring("c1-proxy")))
			for name, taken := range read(g, live) {
				g.Expect(taken.OwnerReferences).To(Equal([]metav1.OwnerReference{testOwner}), name)
			}
		})
	}
}

func TestUserProvided(t *testing.T) {
	g := NewWithT(t)
	theirs := generated(g)["c1-ca"]
	theirs.Labels, theirs.OwnerReferences, theirs.Type = nil, nil, corev1.SecretTypeTLS
	store, live := newStore(theirs)
	found, err := store.LookupOrGenerate(context.Background(), testRequest())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found.Authority.Trusts(theirs.Data[secret.TLSCrtDataName])).To(BeTrue())
	after := read(g, live)["c1-ca"]
	g.Expect(after.Data).To(Equal(theirs.Data))
	g.Expect(after.Labels).To(BeEmpty())
	g.Expect(after.OwnerReferences).To(BeEmpty())
}

func TestKeyKeptElsewhere(t *testing.T) {
	g := NewWithT(t)
	theirs := generated(g)["c1-ca"]
	delete(theirs.Data, secret.TLSKeyDataName)
	store, _ := newStore(theirs)
	found, err := store.LookupOrGenerate(context.Background(), testRequest())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found.Authority.Certificate).NotTo(BeNil())
	g.Expect(found.Authority.Key).To(BeNil())
}

func TestUnusable(t *testing.T) {
	way := "restore the right value from a backup, or, if no machine exists yet, delete the Secret so that it is generated again"
	tests := map[string]struct {
		secret string
		change func(g *WithT, found *corev1.Secret, others map[string]*corev1.Secret)
		now    time.Time
		want   string
	}{
		"no certificate": {
			secret: "c1-ca",
			change: func(_ *WithT, found *corev1.Secret, _ map[string]*corev1.Secret) {
				found.Data[secret.TLSCrtDataName] = []byte("secret words")
			},
			want: `certificate Secret c1-ca: data["tls.crt"] is not a PEM certificate; ` + way,
		},
		"empty": {
			secret: "c1-proxy",
			change: func(_ *WithT, found *corev1.Secret, _ map[string]*corev1.Secret) { found.Data = nil },
			want:   `certificate Secret c1-proxy: data["tls.crt"] is not a PEM certificate; ` + way,
		},
		"no key": {
			secret: "c1-etcd",
			change: func(_ *WithT, found *corev1.Secret, _ map[string]*corev1.Secret) {
				found.Data[secret.TLSKeyDataName] = []byte("secret words")
			},
			want: `certificate Secret c1-etcd: data["tls.key"] is not a PEM private key; ` + way,
		},
		"key of another certificate": {
			secret: "c1-ca",
			change: func(_ *WithT, found *corev1.Secret, others map[string]*corev1.Secret) {
				found.Data[secret.TLSKeyDataName] = others["c1-etcd"].Data[secret.TLSKeyDataName]
			},
			want: `certificate Secret c1-ca: data["tls.key"] is not the key that belongs to data["tls.crt"]; ` + way,
		},
		"not an authority": {
			secret: "c1-ca",
			change: func(g *WithT, found *corev1.Secret, _ map[string]*corev1.Secret) {
				found.Data[secret.TLSCrtDataName], found.Data[secret.TLSKeyDataName] = signed(g, found)
			},
			want: `certificate Secret c1-ca: data["tls.crt"] is not the certificate of a certificate authority; ` + way,
		},
		"expired": {
			secret: "c1-ca",
			change: func(*WithT, *corev1.Secret, map[string]*corev1.Secret) {},
			now:    time.Now().AddDate(11, 0, 0),
			want:   `certificate Secret c1-ca: data["tls.crt"] expired at `,
		},
		"no public key": {
			secret: "c1-sa",
			change: func(_ *WithT, found *corev1.Secret, _ map[string]*corev1.Secret) {
				found.Data[secret.TLSCrtDataName] = []byte("secret words")
			},
			want: `certificate Secret c1-sa: data["tls.crt"] is not a PEM public key; ` + way,
		},
		"public keys of other private keys": {
			secret: "c1-sa",
			change: func(g *WithT, found *corev1.Secret, _ map[string]*corev1.Secret) {
				found.Data[secret.TLSCrtDataName] = slices.Concat(publicKey(g), publicKey(g))
			},
			want: `certificate Secret c1-sa: data["tls.key"] is not the key that belongs to data["tls.crt"]; ` + way,
		},
		"no private key": {
			secret: "c1-sa",
			change: func(_ *WithT, found *corev1.Secret, _ map[string]*corev1.Secret) {
				delete(found.Data, secret.TLSKeyDataName)
			},
			want: `certificate Secret c1-sa: data["tls.key"] is missing; ` + way,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			secrets := generated(g)
			test.change(g, secrets[test.secret], secrets)
			store, live := newStore(objects(secrets)...)
			request := testRequest()
			if !test.now.IsZero() {
				request.Now = test.now
			}
			for _, ensure := range []func(context.Context, Request) (Found, error){store.Lookup, store.LookupOrGenerate} {
				_, err := ensure(context.Background(), request)
				g.Expect(err).To(BeAssignableToTypeOf(&UnusableError{}))
				g.Expect(err).To(MatchError(And(HavePrefix(test.want), Not(ContainSubstring("secret words")))))
			}
			g.Expect(read(g, live)[test.secret].Data).To(Equal(secrets[test.secret].Data), "nothing is replaced")
		})
	}
}

// publicKey returns the public key of another cluster's service accounts.
func publicKey(g *WithT) []byte { return generated(g)["c1-sa"].Data[secret.TLSCrtDataName] }

// While the key is rotated, tokens that another key has signed must still be accepted.
func TestServiceAccountsMayHaveSeveralPublicKeys(t *testing.T) {
	g := NewWithT(t)
	secrets := generated(g)
	own := secrets["c1-sa"].Data[secret.TLSCrtDataName]
	for _, keys := range [][]byte{slices.Concat(publicKey(g), own), slices.Concat(own, publicKey(g))} {
		secrets["c1-sa"].Data[secret.TLSCrtDataName] = keys
		store, _ := newStore(objects(secrets)...)
		for _, ensure := range []func(context.Context, Request) (Found, error){store.Lookup, store.LookupOrGenerate} {
			_, err := ensure(context.Background(), testRequest())
			g.Expect(err).NotTo(HaveOccurred())
		}
	}
}

// signed creates a client certificate.
func signed(g *WithT, authority *corev1.Secret) (certificate, key []byte) {
	parent, err := capicerts.DecodeCertPEM(authority.Data[secret.TLSCrtDataName])
	g.Expect(err).NotTo(HaveOccurred())
	parentKey, err := capicerts.DecodePrivateKeyPEM(authority.Data[secret.TLSKeyDataName])
	g.Expect(err).NotTo(HaveOccurred())
	signer, err := capicerts.NewSigner(bootstrapv1.EncryptionAlgorithmECDSAP256)
	g.Expect(err).NotTo(HaveOccurred())
	config := capicerts.Config{CommonName: "c", Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	made, err := config.NewSignedCert(signer, parent, parentKey)
	g.Expect(err).NotTo(HaveOccurred())
	encoded, err := capicerts.EncodePrivateKeyPEMFromSigner(signer)
	g.Expect(err).NotTo(HaveOccurred())
	return capicerts.EncodeCertPEM(made), encoded
}

func externalEtcd() Request {
	request := testRequest()
	request.Config.Etcd.External = bootstrapv1.ExternalEtcd{
		Endpoints: []string{"https://etcd.example.com:2379"}, CAFile: "/ca.crt", CertFile: "/etcd.crt", KeyFile: "/etcd.key",
	}
	return request
}

func TestExternalEtcd(t *testing.T) {
	g := NewWithT(t)
	store, live := newStore()
	_, err := store.LookupOrGenerate(context.Background(), externalEtcd())
	g.Expect(err).To(MatchError(ContainSubstring("certificate Secrets are missing: c1-apiserver-etcd-client, c1-etcd;")))
	g.Expect(read(g, live)).To(BeEmpty(), "nothing is generated needlessly")

	etcd := generated(g)["c1-etcd"]
	certificate, key := signed(g, etcd)
	delete(etcd.Data, secret.TLSKeyDataName)
	user := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1-apiserver-etcd-client"},
		Data:       map[string][]byte{secret.TLSCrtDataName: certificate},
	}
	store, _ = newStore(etcd, user)
	_, err = store.LookupOrGenerate(context.Background(), externalEtcd())
	g.Expect(err).To(MatchError(ContainSubstring(`certificate Secret c1-apiserver-etcd-client: data["tls.key"] is missing`)))

	user.Data[secret.TLSKeyDataName] = key
	user.ResourceVersion, etcd.ResourceVersion = "", ""
	store, _ = newStore(etcd, user)
	found, err := store.LookupOrGenerate(context.Background(), externalEtcd())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found.Expiries).To(HaveLen(4))
	g.Expect(found.Expiries[0].Secret).To(Equal("c1-apiserver-etcd-client"), "soonest first")
}

func TestTrusts(t *testing.T) {
	g := NewWithT(t)
	secrets := generated(g)
	store, _ := newStore(objects(secrets)...)
	found, err := store.Lookup(context.Background(), testRequest())
	g.Expect(err).NotTo(HaveOccurred())
	own, other := secrets["c1-ca"].Data[secret.TLSCrtDataName], secrets["c1-etcd"].Data[secret.TLSCrtDataName]
	g.Expect(found.Authority.Trusts(own)).To(BeTrue())
	g.Expect(found.Authority.Trusts(other)).To(BeFalse())
	g.Expect(found.Authority.Trusts(append(append([]byte{}, other...), own...))).To(BeTrue(), "a bundle")
	g.Expect(found.Authority.Trusts([]byte("nonsense"))).To(BeFalse())
}
