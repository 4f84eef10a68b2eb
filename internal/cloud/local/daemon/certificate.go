/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package daemon

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	certFile = "tls.crt"
	keyFile  = "tls.key"

	certLifetime = 10 * 365 * 24 * time.Hour
	serialBits   = 127
)

// certificate returns the one that was given, or a self-signed one for the address, kept in the state folder so that
// clients can verify it after a restart too.
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
	cert, err := tls.LoadX509KeyPair(filepath.Join(c.StateDir, certFile), filepath.Join(c.StateDir, keyFile))
	if err == nil && (host == "" || cert.Leaf.VerifyHostname(host) == nil) && time.Now().Before(cert.Leaf.NotAfter) {
		return cert, nil
	}
	return selfSign(c.StateDir, host)
}

func selfSign(stateDir, host string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a certificate: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "foocloud"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(certLifetime),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = append(template.IPAddresses, ip)
	} else if host != "" {
		template.DNSNames = append(template.DNSNames, host)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("encode the key: %w", err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	if err := os.WriteFile(filepath.Join(stateDir, keyFile), keyPEM, secretMode); err != nil {
		return tls.Certificate{}, fmt.Errorf("write the key: %w", err)
	}
	if err := os.WriteFile(filepath.Join(stateDir, certFile), certPEM, publicMode); err != nil {
		return tls.Certificate{}, fmt.Errorf("write the certificate: %w", err)
	}
	return tls.X509KeyPair(certPEM, keyPEM)
}
