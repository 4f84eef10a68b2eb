//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package extension

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/cluster-api/util/certs"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
)

// serverName is the name by which Cluster API's runtime calls an extension behind a Service.
const serverName = "webhook-service.foo-system.svc"

// signer is a certificate authority.
type signer struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// authority signs the certificates of all replicas.
var authority = newAuthority()

func newAuthority() signer {
	key, err := certs.NewSigner(bootstrapv1.EncryptionAlgorithmECDSAP256)
	if err != nil {
		Fail(err.Error())
	}
	cert, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "extension"}, key)
	if err != nil {
		Fail(err.Error())
	}
	return signer{cert: cert, key: key}
}

// issue writes a certificate of the server with a unique name, and its key.
func (s signer) issue(dir, name string) {
	GinkgoHelper()
	cert, key := s.sign(name, x509.ExtKeyUsageServerAuth)
	encoded, err := certs.EncodePrivateKeyPEMFromSigner(key)
	Expect(err).NotTo(HaveOccurred())
	writeFile(dir, "tls.key", encoded)
	writeFile(dir, "tls.crt", certs.EncodeCertPEM(cert))
}

func (s signer) sign(name string, usage x509.ExtKeyUsage) (*x509.Certificate, crypto.Signer) {
	GinkgoHelper()
	key, err := certs.NewSigner(bootstrapv1.EncryptionAlgorithmECDSAP256)
	Expect(err).NotTo(HaveOccurred())
	config := certs.Config{CommonName: name, Usages: []x509.ExtKeyUsage{usage}, AltNames: certs.AltNames{DNSNames: []string{serverName}}}
	cert, err := config.NewSignedCert(key, s.cert, s.key)
	Expect(err).NotTo(HaveOccurred())
	return cert, key
}

// client returns the certificate of a caller.
func (s signer) client(name string) tls.Certificate {
	GinkgoHelper()
	cert, key := s.sign(name, x509.ExtKeyUsageClientAuth)
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}
}
