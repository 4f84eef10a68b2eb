// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package management

import (
	"crypto"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	certutil "k8s.io/client-go/util/cert"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/util/certs"
)

// authority signs the certificates of one management cluster. Its key exists in memory only.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// identity is a certificate with its key, both PEM.
type identity struct {
	cert, key []byte
}

// clockSkew is how far the clock may be set back after a start, and certificates are still valid.
const clockSkew = time.Hour

func newAuthority(name string) (*authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	cert, err := certutil.NewSelfSignedCACert(certutil.Config{CommonName: name, NotBefore: time.Now().Add(-clockSkew)}, key)
	if err != nil {
		return nil, fmt.Errorf("create certificate authority %s: %w", name, err)
	}
	return &authority{cert: cert, key: key}, nil
}

func newKey() (crypto.Signer, error) {
	return certs.NewSigner(bootstrapv1.EncryptionAlgorithmECDSAP256)
}

func (a *authority) pem() []byte { return certs.EncodeCertPEM(a.cert) }

// client returns an identity for a client with this user name and these groups.
func (a *authority) client(user string, groups ...string) (identity, error) {
	return a.issue(certs.Config{CommonName: user, Organization: groups, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
}

// server returns an identity for a server on this machine. The server can also use it as a client
// of its peers.
func (a *authority) server(name string) (identity, error) {
	return a.issue(certs.Config{
		CommonName: name,
		AltNames:   certs.AltNames{DNSNames: []string{"localhost"}, IPs: []net.IP{net.IPv4(127, 0, 0, 1)}},
		Usages:     []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
}

func (a *authority) issue(config certs.Config) (identity, error) {
	key, err := newKey()
	if err != nil {
		return identity{}, err
	}
	cert, err := config.NewSignedCert(key, a.cert, a.key)
	if err != nil {
		return identity{}, fmt.Errorf("sign certificate %s: %w", config.CommonName, err)
	}
	keyPEM, err := certs.EncodePrivateKeyPEMFromSigner(key)
	if err != nil {
		return identity{}, fmt.Errorf("sign certificate %s: %w", config.CommonName, err)
	}
	return identity{cert: certs.EncodeCertPEM(cert), key: keyPEM}, nil
}

// write puts the identity into dir as <name>.crt and <name>.key.
func (i identity) write(dir, name string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, name+".crt"), i.cert, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".key"), i.key, 0o600)
}
