// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubelet

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
	"os"
	"path/filepath"
	"time"
)

// PKIFolder is where the kubelet looks for its serving certificate.
const PKIFolder = "/var/lib/kubelet/pki"

// WriteServingCertificate writes a self-signed serving certificate for the kubelet to the folder,
// which is PKIFolder, unless a usable one is there. Without it, the kubelet would create an RSA key,
// which takes seconds on a busy machine. A kubelet that is configured to use or request another
// certificate ignores it.
func WriteServingCertificate(folder, hostname string) error {
	certPath, keyPath := filepath.Join(folder, "kubelet.crt"), filepath.Join(folder, "kubelet.key")
	if _, err := tls.LoadX509KeyPair(certPath, keyPath); err == nil {
		return nil
	}
	if err := writeSelfSigned(certPath, keyPath, hostname); err != nil {
		return fmt.Errorf("serving certificate of the kubelet: %w", err)
	}
	return nil
}

// writeSelfSigned writes the files with the modes that the kubelet gives them.
func writeSelfSigned(certPath, keyPath, hostname string) error {
	const folderMode, certMode, keyMode = 0o755, 0o644, 0o600
	certificate, key, err := selfSigned(hostname)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(keyPath), folderMode); err != nil {
		return err
	}
	if err := os.WriteFile(keyPath, key, keyMode); err != nil {
		return err
	}
	return os.WriteFile(certPath, certificate, certMode)
}

// selfSigned returns a certificate that is valid for as long as one that the kubelet creates, and
// its key, both in PEM.
func selfSigned(hostname string) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: hostname},
		DNSNames:     []string{hostname},
		NotBefore:    now.Add(-time.Hour), // clients may have another time
		NotAfter:     now.AddDate(1, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}
