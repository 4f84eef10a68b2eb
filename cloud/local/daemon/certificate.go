// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/durable"
)

const (
	certFile = "tls.crt"
	keyFile  = "tls.key"

	certLifetime = 10 * 365 * 24 * time.Hour
	serialBits   = 127
)

// certificates returns what chooses the certificate of a connection to the address.
func (c *checked) certificates(address string) (func(*tls.ClientHelloInfo) (*tls.Certificate, error), error) {
	cert, err := c.certificate(address)
	if err != nil {
		return nil, err
	}
	if c.TLSCert != "" {
		return (&renewable{certFile: c.TLSCert, keyFile: c.TLSKey, last: &cert}).current, nil
	}
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &cert, nil }, nil
}

// renewable is a certificate in files that may be renewed while the daemon runs.
type renewable struct {
	certFile, keyFile string

	mu sync.Mutex
	// cert and key are what was in the files when last was read from them.
	cert, key []byte
	last      *tls.Certificate
	// failure is why they cannot be read now.
	failure string
}

// current returns the certificate that is in the files now, or else the last one that was.
func (r *renewable) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	failure := ""
	if err := r.read(); err != nil {
		failure = err.Error()
		if failure != r.failure {
			klog.Background().Error(err, "The files of --tls-cert and --tls-key cannot be used; serving the certificate that was in them before",
				"expires", r.last.Leaf.NotAfter)
		}
	}
	r.failure = failure
	return r.last, nil
}

// read reads the files. It compares what is in them: their times say little about a file that is
// just being written.
func (r *renewable) read() error {
	cert, err := os.ReadFile(r.certFile)
	if err != nil {
		return err
	}
	key, err := os.ReadFile(r.keyFile)
	if err != nil || bytes.Equal(cert, r.cert) && bytes.Equal(key, r.key) {
		return err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return err
	}
	if !pair.Leaf.Equal(r.last.Leaf) {
		klog.Background().Info("Serving a renewed certificate", "file", r.certFile, "expires", pair.Leaf.NotAfter)
	}
	r.cert, r.key, r.last = cert, key, &pair
	return nil
}

// certificate returns the certificate from the options, or one for the address, signed by the
// cloud's own authority. The authority is kept in the state folder, so clients that trust it can
// verify every listener, also after a restart.
func (c *checked) certificate(address string) (tls.Certificate, error) {
	if c.TLSCert != "" {
		cert, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
		if err != nil {
			return cert, fmt.Errorf("--tls-cert, --tls-key: %w", err)
		}
		return cert, nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("--listen: %w", err)
	}
	signer, err := authority(c.StateDir)
	if err != nil {
		return tls.Certificate{}, err
	}
	return sign(signer, host)
}

// authority returns the cloud's own authority and creates it if there is none, or if it has expired. It
// does not replace one that cannot be read, because clients and instances trust that.
func authority(stateDir string) (tls.Certificate, error) {
	cert, certErr := kept(filepath.Join(stateDir, certFile))
	key, keyErr := kept(filepath.Join(stateDir, keyFile))
	if err := errors.Join(certErr, keyErr); err != nil {
		return tls.Certificate{}, fmt.Errorf("read the cloud's certificate authority: %w", err)
	}
	if len(cert) == 0 || len(key) == 0 {
		return makeAuthority(stateDir)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return pair, fmt.Errorf("%s and %s in %s are not a certificate authority: %w; restore them, or remove both to get another one, which clients must then be given",
			certFile, keyFile, stateDir, err)
	}
	if time.Now().After(pair.Leaf.NotAfter) {
		return makeAuthority(stateDir)
	}
	return pair, nil
}

// makeAuthority creates an authority and saves it in the state folder.
func makeAuthority(stateDir string) (tls.Certificate, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "foocloud"}, NotAfter: time.Now().Add(certLifetime),
		KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
	made, err := makeCertificate(template, nil)
	if err != nil {
		return tls.Certificate{}, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("encode the key: %w", err)
	}
	cert, key := filepath.Join(stateDir, certFile), filepath.Join(stateDir, keyFile)
	// At no time is there a certificate whose key is another one.
	err = os.Remove(cert)
	if err == nil || errors.Is(err, os.ErrNotExist) {
		err = durable.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), secretMode)
	}
	if err == nil {
		err = durable.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Certificate[0]}), publicMode)
	}
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("write the certificate: %w", err)
	}
	return made, nil
}

// sign returns a certificate for a host and for this machine. It is never written to disk.
func sign(authority tls.Certificate, host string) (tls.Certificate, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "foocloud API"}, NotAfter: authority.Leaf.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = append(template.IPAddresses, ip)
	} else if host != "" {
		template.DNSNames = append(template.DNSNames, host)
	}
	return makeCertificate(template, &authority)
}

// makeCertificate creates a key and its certificate. The authority signs it; without one, it is
// self-signed.
func makeCertificate(template *x509.Certificate, authority *tls.Certificate) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a key: %w", err)
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits)); err != nil {
		return tls.Certificate{}, fmt.Errorf("make a certificate: %w", err)
	}
	template.NotBefore = time.Now().Add(-time.Hour)
	parent, signer := template, any(key)
	if authority != nil {
		parent, signer = authority.Leaf, authority.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read the certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}
