// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// newCertificate returns a certificate for a name that another one signed, or itself.
func newCertificate(g *WithT, name string, end time.Time, life time.Duration, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: end.Add(-life), NotAfter: end,
		IsCA: parent == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	g.Expect(err).NotTo(HaveOccurred())
	certificate, err := x509.ParseCertificate(der)
	g.Expect(err).NotTo(HaveOccurred())
	return certificate, key
}

func encode(g *WithT, certificate *x509.Certificate, key *ecdsa.PrivateKey) (cert, private []byte) {
	der, err := x509.MarshalECPrivateKey(key)
	g.Expect(err).NotTo(HaveOccurred())
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}

func newKubeconfig(g *WithT, user *x509.Certificate, key *ecdsa.PrivateKey) []byte {
	config := clientcmdapi.NewConfig()
	config.CurrentContext = "x"
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "x", AuthInfo: "x"}
	config.Clusters["x"] = &clientcmdapi.Cluster{Server: "https://127.0.0.1:1"} // refuses connections
	certificate, private := encode(g, user, key)
	config.AuthInfos["x"] = &clientcmdapi.AuthInfo{ClientCertificateData: certificate, ClientKeyData: private}
	content, err := clientcmd.Write(*config)
	g.Expect(err).NotTo(HaveOccurred())
	return content
}

func TestExpiringKubeconfig(t *testing.T) {
	g := NewWithT(t)
	now := time.Now()
	ca, caKey := newCertificate(g, "ca", now.AddDate(10, 0, 0), 48*time.Hour, nil, nil)
	user, userKey := newCertificate(g, "admin", now.AddDate(1, 0, 0), 48*time.Hour, ca, caKey)
	authority := corev1.Secret{Data: map[string][]byte{}}
	authority.Data["tls.crt"], authority.Data["tls.key"] = encode(g, ca, caKey)
	secret := corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "kubeconfig"}, Data: map[string][]byte{"value": newKubeconfig(g, user, userKey)}}
	g.Expect(isValidAfter(secret, now.Add(almostOver))).To(Succeed())

	old, end, err := expiring(authority, secret, now)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(end).To(BeTemporally("~", now.Add(time.Hour), time.Second))
	secret.Data["value"] = old
	g.Expect(isValidAfter(secret, end)).To(MatchError(ContainSubstring("was not replaced")))
	expiringSoon, err := clientCertificate(secret)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(expiringSoon.Subject.CommonName).To(Equal("admin"))
	g.Expect(expiringSoon.CheckSignatureFrom(ca)).To(Succeed())

	_, _, err = expiring(corev1.Secret{}, secret, now)
	g.Expect(err).To(HaveOccurred())
	other, otherKey := newCertificate(g, "server-ca", now.AddDate(10, 0, 0), 48*time.Hour, nil, nil)
	authority.Data["tls.crt"], authority.Data["tls.key"] = encode(g, other, otherKey)
	_, _, err = expiring(authority, secret, now)
	g.Expect(err).To(MatchError(ContainSubstring("another authority has signed the client certificate")))

	_, _, err = expiring(corev1.Secret{}, secret, now)
	g.Expect(err).To(MatchError(ContainSubstring("certificate authority")))
	_, _, err = expiring(authority, corev1.Secret{}, now)
	g.Expect(err).To(HaveOccurred())
}

func TestRotationOfTheKubeconfig(t *testing.T) {
	const rule = "control-plane/kubeconfig-rotation"
	year := 365 * 24 * time.Hour
	for name, test := range map[string]struct {
		// The provider issues certificates with this life.
		life    time.Duration
		rotates bool
		// limit is for the life of the certificate that the suite issues.
		limit time.Duration
	}{
		"rotates":                       {year, true, time.Hour},
		"rotates short-lived ones":      {time.Hour, true, 5 * time.Minute},
		"does not rotate":               {year, false, time.Hour},
		"does not rotate the short one": {2 * time.Hour, false, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				ca, caKey := newCertificate(g, "ca", time.Now().Add(10*year), 20*year, nil, nil)
				issue := func() []byte {
					user, key := newCertificate(g, "admin", time.Now().Add(test.life), test.life, ca, caKey)
					return newKubeconfig(g, user, key)
				}
				authority := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "live", Name: clusterName + "-ca"}, Data: map[string][]byte{}}
				authority.Data["tls.crt"], authority.Data["tls.key"] = encode(g, ca, caKey)
				kubeconfig := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "live", Name: clusterName + "-kubeconfig"}, Data: map[string][]byte{"value": issue()}}
				first := kubeconfig.Data["value"]
				s := newControlPlaneStory(t, interceptor.Funcs{
					Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
						if err := c.Patch(ctx, object, patch, options...); err != nil {
							return err
						}
						if _, ok := object.(*corev1.Secret); ok || !test.rotates {
							return nil
						}
						found := &corev1.Secret{}
						if err := c.Get(ctx, client.ObjectKeyFromObject(kubeconfig), found); err != nil {
							return err
						}
						given, err := clientCertificate(*found)
						g.Expect(err).NotTo(HaveOccurred())
						g.Expect(time.Until(given.NotAfter)).To(BeNumerically("<=", test.limit))
						found.Data["value"] = issue()
						return c.Update(ctx, found)
					},
				}, map[string]any{})
				g.Expect(errors.Join(s.Client.Create(t.Context(), authority), s.Client.Create(t.Context(), kubeconfig))).To(Succeed())
				var err error
				s.now, err = s.read(t.Context())
				g.Expect(err).NotTo(HaveOccurred())

				g.Expect(s.rotateKubeconfig(t.Context())).To(Succeed())
				found := &corev1.Secret{}
				g.Expect(s.Client.Get(t.Context(), client.ObjectKeyFromObject(kubeconfig), found)).To(Succeed())
				if test.rotates {
					g.Expect(s.results).To(HaveKeyWithValue(rule, HaveField("Status", conformance.Passed)))
				} else {
					g.Expect(s.results).To(HaveKeyWithValue(rule, HaveField("Status", conformance.Failed)))
					g.Expect(found.Data["value"]).To(Equal(first), "later steps need a kubeconfig")
				}
			})
		})
	}
}
