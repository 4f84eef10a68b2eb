// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	capicerts "sigs.k8s.io/cluster-api/util/certs"
	capikubeconfig "sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/cluster-api/util/secret"

	"github.com/capfoo/cluster-api-provider-foo/internal/certs"
)

var testCluster = client.ObjectKey{Namespace: "default", Name: "c1"}

const ownerUID = "1"

func newRequest(g *WithT) Request {
	live := fake.NewClientBuilder().Build()
	found, err := certs.NewStore(live, live).LookupOrGenerate(context.Background(), certs.Request{
		Cluster: testCluster,
		Config:  bootstrapv1.ClusterConfiguration{EncryptionAlgorithm: bootstrapv1.EncryptionAlgorithmECDSAP256},
		Now:     time.Now(),
	})
	g.Expect(err).NotTo(HaveOccurred())
	return Request{
		Cluster:   testCluster,
		Endpoint:  clusterv1.APIEndpoint{Host: "10.1.2.3", Port: 6443},
		Authority: found.Authority,
		Algorithm: bootstrapv1.EncryptionAlgorithmECDSAP256,
		Owner:     metav1.OwnerReference{APIVersion: "v1", Kind: "Owner", Name: "o", UID: ownerUID, Controller: ptr.To(true)},
		Now:       time.Now(),
	}
}

func newStore(objects ...client.Object) (*Store, client.Client) {
	live := fake.NewClientBuilder().WithObjects(objects...).Build()
	return NewStore(fake.NewClientBuilder().Build(), live), live
}

func ensure(store *Store, request Request) error {
	_, err := store.Ensure(context.Background(), request)
	return err
}

func read(g *WithT, reader client.Client) *corev1.Secret {
	found := &corev1.Secret{}
	g.Expect(reader.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "c1-kubeconfig"}, found)).To(Succeed())
	return found
}

func parse(g *WithT, found *corev1.Secret) *api.Config {
	config, err := clientcmd.Load(found.Data[secret.KubeconfigDataName])
	g.Expect(err).NotTo(HaveOccurred())
	return config
}

func encode(g *WithT, config *api.Config) []byte {
	data, err := clientcmd.Write(*config)
	g.Expect(err).NotTo(HaveOccurred())
	return data
}

func clientExpiry(g *WithT, found *corev1.Secret) time.Time {
	certificate, err := capicerts.DecodeCertPEM(parse(g, found).AuthInfos["c1-admin"].ClientCertificateData)
	g.Expect(err).NotTo(HaveOccurred())
	return certificate.NotAfter
}

func TestCreate(t *testing.T) {
	g := NewWithT(t)
	store, live := newStore()
	request := newRequest(g)
	g.Expect(ensure(store, request)).To(Succeed())
	made := read(g, live)
	g.Expect(made.Type).To(Equal(clusterv1.ClusterSecretType))
	g.Expect(made.Labels).To(HaveKeyWithValue(clusterv1.ClusterNameLabel, "c1"))
	g.Expect(made.OwnerReferences).To(ConsistOf(HaveField("UID", BeEquivalentTo(ownerUID))))
	config := parse(g, made)
	g.Expect(config.Clusters["c1"].Server).To(Equal("https://10.1.2.3:6443"))
	g.Expect(request.Authority.Trusts(config.Clusters["c1"].CertificateAuthorityData)).To(BeTrue())
	g.Expect(clientExpiry(g, made)).To(BeTemporally("~", time.Now().AddDate(1, 0, 0), 25*time.Hour))
}

func TestCreateWithoutKey(t *testing.T) {
	g := NewWithT(t)
	store, _ := newStore()
	request := newRequest(g)
	request.Authority.Key = nil
	g.Expect(errors.Is(ensure(store, request), errNoKey)).To(BeTrue())
}

// TestWithoutAuthority shows that a kubeconfig is kept as it is while the authority is lost.
func TestWithoutAuthority(t *testing.T) {
	g := NewWithT(t)
	store, live := newStore()
	request := newRequest(g)
	g.Expect(ensure(store, request)).To(Succeed())
	made := read(g, live)

	request.Authority, request.Now = certs.Authority{}, time.Now().AddDate(2, 0, 0)
	g.Expect(ensure(store, request)).To(Succeed())
	g.Expect(read(g, live).ResourceVersion).To(Equal(made.ResourceVersion))
	g.Expect(live.Delete(context.Background(), made)).To(Succeed())
	g.Expect(ensure(store, request)).To(MatchError(errNoKey))
}

// The kubeconfig of another control plane must neither be changed nor be deleted with this one.
func TestWithoutAnOwnerTheSecretIsOnlyRead(t *testing.T) {
	g := NewWithT(t)
	store, live := newStore()
	request := newRequest(g)
	g.Expect(ensure(store, request)).To(Succeed())
	made := read(g, live)

	request.Owner, request.Now, request.Endpoint.Host = metav1.OwnerReference{}, time.Now().AddDate(0, 11, 0), "10.1.2.4"
	g.Expect(ensure(store, request)).To(Succeed())
	g.Expect(read(g, live)).To(Equal(made))
	g.Expect(live.Delete(context.Background(), made)).To(Succeed())
	g.Expect(ensure(store, request)).To(MatchError("there is no kubeconfig Secret"))
	list := &corev1.SecretList{}
	g.Expect(live.List(context.Background(), list)).To(Succeed())
	g.Expect(list.Items).To(BeEmpty())
}

// A user may know another way to the cluster than its endpoint, as KubeadmControlPlane accepts, and
// may add other users.
func TestWhatTheUserChangedStays(t *testing.T) {
	g := NewWithT(t)
	store, live := newStore()
	request := newRequest(g)
	g.Expect(ensure(store, request)).To(Succeed())
	edited := read(g, live)
	config := parse(g, edited)
	config.Clusters["c1"].Server = "https://bastion.example.com:8443"
	config.Clusters["c1"].TLSServerName = "10.1.2.3"
	config.Clusters["c1"].ProxyURL = "socks5://proxy.example.com:1080"
	config.AuthInfos["robot"] = &api.AuthInfo{Token: "t"}
	config.Contexts["robot@c1"] = &api.Context{Cluster: "c1", AuthInfo: "robot", Namespace: "n"}
	edited.Data[secret.KubeconfigDataName] = encode(g, config)
	g.Expect(live.Update(context.Background(), edited)).To(Succeed())
	g.Expect(ensure(store, request)).To(Succeed())
	g.Expect(read(g, live).Data).To(Equal(edited.Data), "nothing is written in the first half of its lifetime")

	request.Now = time.Now().AddDate(0, 11, 0)
	g.Expect(ensure(store, request)).To(Succeed())
	renewed := parse(g, read(g, live))
	was, is := config.AuthInfos["c1-admin"], renewed.AuthInfos["c1-admin"]
	g.Expect(is.ClientCertificateData).NotTo(Equal(was.ClientCertificateData))
	_, err := tls.X509KeyPair(is.ClientCertificateData, is.ClientKeyData)
	g.Expect(err).NotTo(HaveOccurred())
	is.ClientCertificateData, is.ClientKeyData = was.ClientCertificateData, was.ClientKeyData
	g.Expect(encode(g, renewed)).To(Equal(edited.Data[secret.KubeconfigDataName]), "all but the client certificate stays")
}

// Before the control plane is initialized, the infrastructure cluster may be replaced by one with
// another endpoint.
func TestTheServerFollowsTheEndpoint(t *testing.T) {
	g := NewWithT(t)
	store, live := newStore()
	request := newRequest(g)
	g.Expect(ensure(store, request)).To(Succeed())
	made := parse(g, read(g, live))

	for _, endpoint := range []clusterv1.APIEndpoint{{Host: "10.1.2.4", Port: 7443}, {Host: "fd00::1", Port: 6443}} {
		request.Endpoint = endpoint
		g.Expect(ensure(store, request)).To(Succeed())
		moved := read(g, live)
		made.Clusters["c1"].Server = "https://" + endpoint.String()
		g.Expect(parse(g, moved)).To(Equal(made), "nothing else changes")
		g.Expect(ensure(store, request)).To(Succeed())
		g.Expect(read(g, live).ResourceVersion).To(Equal(moved.ResourceVersion))
	}

	edited := read(g, live)
	made.Clusters["c1"].Server = "https://bastion.example.com:8443"
	edited.Data[secret.KubeconfigDataName] = encode(g, made)
	g.Expect(live.Update(context.Background(), edited)).To(Succeed())
	request.Endpoint.Host = "10.1.2.5"
	g.Expect(ensure(store, request)).To(Succeed())
	g.Expect(read(g, live)).To(Equal(edited), "the user's server stays")
}

// An older release did not record the server that it wrote.
func TestAnUnrecordedServerStays(t *testing.T) {
	g := NewWithT(t)
	store, live := newStore()
	request := newRequest(g)
	g.Expect(ensure(store, request)).To(Succeed())
	old := read(g, live)
	old.Annotations = nil
	g.Expect(live.Update(context.Background(), old)).To(Succeed())
	request.Endpoint.Host = "10.1.2.4"
	g.Expect(ensure(store, request)).To(Succeed())
	g.Expect(read(g, live)).To(Equal(old))
}

// reissued returns another certificate for the key of the authority, which is valid for longer.
func reissued(g *WithT, authority certs.Authority) *x509.Certificate {
	template := *authority.Certificate
	template.NotAfter = template.NotAfter.AddDate(10, 0, 0)
	data, err := x509.CreateCertificate(rand.Reader, &template, &template, authority.Key.Public(), authority.Key)
	g.Expect(err).NotTo(HaveOccurred())
	renewed, err := x509.ParseCertificate(data)
	g.Expect(err).NotTo(HaveOccurred())
	return renewed
}

// Clients refuse the certificate of an authority that has expired, even if its key is still used.
func TestANewCertificateOfTheAuthority(t *testing.T) {
	g := NewWithT(t)
	store, live := newStore()
	request := newRequest(g)
	g.Expect(ensure(store, request)).To(Succeed())
	was := parse(g, read(g, live))

	old, renewed := request.Authority.Certificate, reissued(g, request.Authority)
	request.Authority.Certificate, request.Authority.Bundle = renewed, []*x509.Certificate{renewed}
	g.Expect(ensure(store, request)).To(Succeed())
	is := read(g, live)
	was.Clusters["c1"].CertificateAuthorityData = append(capicerts.EncodeCertPEM(old), capicerts.EncodeCertPEM(renewed)...)
	g.Expect(parse(g, is)).To(Equal(was), "nothing else changes")
	g.Expect(ensure(store, request)).To(Succeed())
	g.Expect(read(g, live).ResourceVersion).To(Equal(is.ResourceVersion))
}

func TestABundleOfAuthorities(t *testing.T) {
	g := NewWithT(t)
	store, live := newStore()
	request := newRequest(g)
	other := newRequest(g).Authority.Certificate
	request.Authority.Bundle = append(request.Authority.Bundle, other)
	g.Expect(ensure(store, request)).To(Succeed())
	made := read(g, live)
	g.Expect(parse(g, made).Clusters["c1"].CertificateAuthorityData).To(
		Equal(append(capicerts.EncodeCertPEM(request.Authority.Certificate), capicerts.EncodeCertPEM(other)...)))
	g.Expect(ensure(store, request)).To(Succeed())
	g.Expect(read(g, live).ResourceVersion).To(Equal(made.ResourceVersion))
}

// A server with a certificate of a public authority needs none in the kubeconfig.
func TestNoCertificateOfTheAuthorityIsAddedToNone(t *testing.T) {
	g := NewWithT(t)
	store, live := newStore()
	request := newRequest(g)
	g.Expect(ensure(store, request)).To(Succeed())
	edited := read(g, live)
	config := parse(g, edited)
	config.Clusters["c1"].CertificateAuthorityData = nil
	edited.Data[secret.KubeconfigDataName] = encode(g, config)
	g.Expect(live.Update(context.Background(), edited)).To(Succeed())
	g.Expect(ensure(store, request)).To(Succeed())
	g.Expect(read(g, live)).To(Equal(edited))
}

// A user may replace the client certificate by a token. Without any credentials, nobody could use
// the kubeconfig.
func TestCredentialsOfTheCurrentUser(t *testing.T) {
	for token, want := range map[string]types.GomegaMatcher{"t": BeEmpty(), "": Not(BeEmpty())} {
		g := NewWithT(t)
		store, live := newStore()
		request := newRequest(g)
		g.Expect(ensure(store, request)).To(Succeed())
		edited := read(g, live)
		config := parse(g, edited)
		config.AuthInfos["c1-admin"] = &api.AuthInfo{Token: token}
		edited.Data[secret.KubeconfigDataName] = encode(g, config)
		g.Expect(live.Update(context.Background(), edited)).To(Succeed())
		g.Expect(ensure(store, request)).To(Succeed())
		g.Expect(parse(g, read(g, live)).AuthInfos["c1-admin"].ClientCertificateData).To(want)
	}
}

func TestRenewal(t *testing.T) {
	g := NewWithT(t)
	store, live := newStore()
	request := newRequest(g)
	g.Expect(ensure(store, request)).To(Succeed())
	made := read(g, live)
	halfLife := clientExpiry(g, made).Add(-capicerts.DefaultCertDuration / 2)

	request.Now = halfLife.Add(-time.Minute)
	g.Expect(ensure(store, request)).To(Succeed())
	g.Expect(read(g, live).ResourceVersion).To(Equal(made.ResourceVersion), "nothing is written in the first half of its lifetime")

	request.Now = halfLife.Add(time.Minute)
	g.Expect(ensure(store, request)).To(Succeed())
	renewed := read(g, live)
	g.Expect(renewed.Data).NotTo(Equal(made.Data))
	before, after := parse(g, made), parse(g, renewed)
	g.Expect(after.Clusters["c1"].Server).To(Equal(before.Clusters["c1"].Server))
	g.Expect(after.Clusters["c1"].CertificateAuthorityData).To(Equal(before.Clusters["c1"].CertificateAuthorityData))
	g.Expect(after.AuthInfos["c1-admin"].ClientCertificateData).NotTo(Equal(before.AuthInfos["c1-admin"].ClientCertificateData))

	request.Authority.Key = nil
	expires, err := store.Ensure(context.Background(), request)
	g.Expect(err).NotTo(HaveOccurred(), "nothing can be renewed without a key")
	g.Expect(expires).To(Equal(clientExpiry(g, renewed)))
	g.Expect(read(g, live).ResourceVersion).To(Equal(renewed.ResourceVersion))
}

func TestOnlyAKubeconfigThatCannotBeRenewedIsReported(t *testing.T) {
	tests := map[string]func(*Request, *corev1.Secret, *api.AuthInfo){
		"it is too early":         func(request *Request, _ *corev1.Secret, _ *api.AuthInfo) { request.Now = time.Now() },
		"another owner renews it": func(request *Request, _ *corev1.Secret, _ *api.AuthInfo) { request.Owner = metav1.OwnerReference{} },
		"it is the user's own":    func(_ *Request, kept *corev1.Secret, _ *api.AuthInfo) { kept.Type = corev1.SecretTypeOpaque },
		"it has a token":          func(_ *Request, _ *corev1.Secret, user *api.AuthInfo) { *user = api.AuthInfo{Token: "t"} },
		"it has no credentials":   func(_ *Request, _ *corev1.Secret, user *api.AuthInfo) { *user = api.AuthInfo{} },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			store, live := newStore()
			request := newRequest(g)
			g.Expect(ensure(store, request)).To(Succeed())
			kept := read(g, live)
			config := parse(g, kept)
			request.Authority.Key, request.Now = nil, time.Now().AddDate(0, 9, 0)
			change(&request, kept, config.AuthInfos["c1-admin"])
			kept.Data[secret.KubeconfigDataName] = encode(g, config)
			g.Expect(live.Update(context.Background(), kept)).To(Succeed())
			g.Expect(store.Ensure(context.Background(), request)).To(BeZero())
		})
	}
}

// TestRenewalWithAnOldAuthority shows that an old authority, from whose start a certificate is
// valid, does not cause the kubeconfig to be renewed over and over.
func TestRenewalWithAnOldAuthority(t *testing.T) {
	g := NewWithT(t)
	store, live := newStore()
	request := newRequest(g)
	request.Authority.Certificate.NotBefore = time.Now().AddDate(-9, 0, 0)
	g.Expect(ensure(store, request)).To(Succeed())
	made := read(g, live)
	g.Expect(ensure(store, request)).To(Succeed())
	g.Expect(read(g, live).ResourceVersion).To(Equal(made.ResourceVersion))
}

func TestUserMade(t *testing.T) {
	g := NewWithT(t)
	request := newRequest(g)
	config, err := request.generate()
	g.Expect(err).NotTo(HaveOccurred())
	theirs := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1-kubeconfig"},
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{secret.KubeconfigDataName: encode(g, config)},
	}
	store, live := newStore(theirs)
	before := read(g, live)
	request.Now = time.Now().AddDate(2, 0, 0)
	request.Endpoint.Host = "the-same-by-another-name.example.com"
	g.Expect(ensure(store, request)).To(Succeed())
	g.Expect(read(g, live)).To(Equal(before))
}

// Only the current context is used, so a person may keep others beside it.
func TestAnotherContextMayUseAProgram(t *testing.T) {
	g := NewWithT(t)
	store, live := newStore()
	g.Expect(ensure(store, newRequest(g))).To(Succeed())
	edited := read(g, live)
	config := parse(g, edited)
	config.AuthInfos["person"] = &api.AuthInfo{Exec: &api.ExecConfig{
		Command: "login", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: api.NeverExecInteractiveMode,
	}}
	config.Contexts["person@c1"] = &api.Context{Cluster: "c1", AuthInfo: "person"}
	edited.Data[secret.KubeconfigDataName] = encode(g, config)
	g.Expect(live.Update(context.Background(), edited)).To(Succeed())
	g.Expect(capikubeconfig.FromSecret(context.Background(), Reader{live}, testCluster)).To(Equal(edited.Data[secret.KubeconfigDataName]))
}

func TestOwnerIsRestored(t *testing.T) {
	g := NewWithT(t)
	store, live := newStore()
	request := newRequest(g)
	g.Expect(ensure(store, request)).To(Succeed())
	made := read(g, live)
	made.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Before", Name: "b", UID: "2", Controller: ptr.To(true)}}
	g.Expect(live.Update(context.Background(), made)).To(Succeed())
	g.Expect(ensure(store, request)).To(Succeed())
	g.Expect(read(g, live).OwnerReferences).To(ConsistOf(HaveField("UID", BeEquivalentTo(ownerUID))))
}

func TestNotForThisCluster(t *testing.T) {
	way := "; correct the Secret, or delete it so that it is created again"
	outside := `kubeconfig Secret c1-kubeconfig: data["value"] must hold its certificates and credentials itself, because no program is run for it and no file is read: context "c1-admin@c1" uses `
	tests := map[string]struct {
		change func(g *WithT, config *api.Config)
		kind   corev1.SecretType
		want   string
	}{
		"another authority": {
			change: func(g *WithT, config *api.Config) {
				config.Clusters["c1"].CertificateAuthorityData = capicerts.EncodeCertPEM(newRequest(g).Authority.Certificate)
			},
			want: `kubeconfig Secret c1-kubeconfig: data["value"] is for another cluster: it does not trust the certificate authority in Secret c1-ca` + way,
		},
		"another authority of the user": {
			change: func(g *WithT, config *api.Config) {
				config.Clusters["c1"].CertificateAuthorityData = capicerts.EncodeCertPEM(newRequest(g).Authority.Certificate)
			},
			kind: corev1.SecretTypeOpaque,
			want: `kubeconfig Secret c1-kubeconfig: data["value"] is for another cluster: it does not trust the certificate authority in Secret c1-ca` + way,
		},
		"no context": {
			change: func(_ *WithT, config *api.Config) { config.CurrentContext = "" },
			want:   `kubeconfig Secret c1-kubeconfig: data["value"] has no current context that names a cluster` + way,
		},
		"no server": {
			change: func(_ *WithT, config *api.Config) { config.Clusters["c1"].Server = "" },
			want:   `kubeconfig Secret c1-kubeconfig: data["value"] has no URL as the server of cluster "c1"` + way,
		},
		"a program": {
			change: func(_ *WithT, config *api.Config) {
				config.AuthInfos["c1-admin"].Exec = &api.ExecConfig{
					Command: "true", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: api.NeverExecInteractiveMode,
				}
			},
			kind: corev1.SecretTypeOpaque,
			want: outside + "exec" + way,
		},
		"an authentication provider": {
			change: func(_ *WithT, config *api.Config) {
				config.AuthInfos["c1-admin"].AuthProvider = &api.AuthProviderConfig{Name: "oidc"}
			},
			want: outside + "auth-provider" + way,
		},
		"a file of a token": {
			change: func(_ *WithT, config *api.Config) { config.AuthInfos["c1-admin"].TokenFile = "/token" },
			kind:   corev1.SecretTypeOpaque,
			want:   outside + "tokenFile" + way,
		},
		"a file of a token for a user without a name": {
			change: func(_ *WithT, config *api.Config) {
				config.AuthInfos[""] = &api.AuthInfo{TokenFile: "/token"}
				config.Contexts[config.CurrentContext].AuthInfo = ""
			},
			want: outside + "tokenFile" + way,
		},
		"a file of a client certificate": {
			change: func(_ *WithT, config *api.Config) { config.AuthInfos["c1-admin"].ClientCertificate = "/crt" },
			want:   outside + "client-certificate" + way,
		},
		"a file of a client key": {
			change: func(_ *WithT, config *api.Config) { config.AuthInfos["c1-admin"].ClientKey = "/key" },
			want:   outside + "client-key" + way,
		},
		"a file of a certificate authority": {
			change: func(_ *WithT, config *api.Config) { config.Clusters["c1"].CertificateAuthority = "/crt" },
			want:   outside + "certificate-authority" + way,
		},
		"no kubeconfig": {
			change: nil,
			want:   `kubeconfig Secret c1-kubeconfig: data["value"] is not a kubeconfig` + way,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			request := newRequest(g)
			data := []byte("{password: hidden")
			if test.change != nil {
				config, err := request.generate()
				g.Expect(err).NotTo(HaveOccurred())
				test.change(g, config)
				data = encode(g, config)
			}
			if test.kind == "" {
				test.kind = clusterv1.ClusterSecretType
			}
			store, live := newStore(&corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1-kubeconfig"},
				Type:       test.kind,
				Data:       map[string][]byte{secret.KubeconfigDataName: data},
			})
			before := read(g, live)
			err := ensure(store, request)
			var unusable *certs.UnusableError
			g.Expect(errors.As(err, &unusable)).To(BeTrue())
			g.Expect(err).To(MatchError(test.want))
			g.Expect(read(g, live)).To(Equal(before), "it is reported and not replaced")
			if strings.HasPrefix(test.want, outside) {
				_, err := capikubeconfig.FromSecret(context.Background(), Reader{live}, testCluster)
				g.Expect(err).To(MatchError(ContainSubstring(test.want)), "the ClusterCache gets none")
			}
		})
	}
}
