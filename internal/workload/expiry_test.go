// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

// serving issues a certificate like kubeadm's for an API server or an etcd member.
func serving(g Gomega, authority *secret.Certificate, name string, expiry time.Time) tls.Certificate {
	parent, err := certs.DecodeCertPEM(authority.KeyPair.Cert)
	g.Expect(err).NotTo(HaveOccurred())
	parentKey, err := certs.DecodePrivateKeyPEM(authority.KeyPair.Key)
	g.Expect(err).NotTo(HaveOccurred())
	key, err := certs.NewSigner(bootstrapv1.EncryptionAlgorithmECDSAP256)
	g.Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{"localhost", name}, SerialNumber: big.NewInt(1),
		NotBefore: expiry.AddDate(-1, 0, 0), NotAfter: expiry, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	g.Expect(err).NotTo(HaveOccurred())
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: crypto.PrivateKey(key)}
}

func newAuthority(g Gomega) *secret.Certificate {
	authority := secret.NewCertificatesForInitialControlPlane(&bootstrapv1.ClusterConfiguration{
		EncryptionAlgorithm: bootstrapv1.EncryptionAlgorithmECDSAP256,
	}).GetByPurpose(secret.ClusterCA)
	g.Expect(authority.Generate()).To(Succeed())
	return authority
}

func TestShownExpiry(t *testing.T) {
	soon := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	past := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	tests := map[string]struct {
		name   string
		expiry time.Time
		other  bool
		want   string
	}{
		"valid":                 {name: "kube-apiserver", expiry: soon},
		"expired":               {name: "kube-apiserver", expiry: past},
		"not issued by kubeadm": {name: "something", expiry: soon, want: `it presents no certificate with common name "kube-apiserver"`},
		"from another cluster":  {name: "kube-apiserver", expiry: soon, other: true, want: "certificate signed by unknown authority"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			authority := newAuthority(g)
			secrets := fake.NewClientBuilder().WithObjects(testSecret(secret.ClusterCA, map[string][]byte{
				secret.TLSCrtDataName: authority.KeyPair.Cert,
			})).Build()
			connections := NewConnections(nil, secrets, secrets, 0)
			trusted, err := connections.clusterAuthority(context.Background(), testCluster)
			g.Expect(err).NotTo(HaveOccurred())

			signer := authority
			if test.other {
				signer = newAuthority(g)
			}
			listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
				MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{serving(g, signer, test.name, test.expiry)},
			})
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { _ = listener.Close() })
			go func() {
				accepted, err := listener.Accept()
				if err == nil {
					// The test is about how the other side ends the handshake.
					_ = accepted.(*tls.Conn).HandshakeContext(context.Background())
					_ = accepted.Close()
				}
			}()
			raw, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", listener.Addr().String())
			g.Expect(err).NotTo(HaveOccurred())
			expiry, err := shownExpiry(context.Background(), raw, trusted)
			if test.want != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.want)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(expiry).To(BeTemporally("==", test.expiry))
		})
	}
}
