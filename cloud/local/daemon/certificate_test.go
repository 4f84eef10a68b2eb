// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"
)

// Whoever renews the certificate cannot restart the daemon.
func TestARenewedCertificateIsServed(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	c := &checked{Options: Options{
		Listen: []string{"https://127.0.0.1:0"}, TLSCert: filepath.Join(folder, "cert.pem"), TLSKey: filepath.Join(folder, "key.pem"),
	}}
	trusted := x509.NewCertPool()
	renewed := func(name string) (cert, key []byte) {
		cert, key = testPair(g, name)
		g.Expect(trusted.AppendCertsFromPEM(cert)).To(BeTrue())
		return cert, key
	}
	lines := make(chan string, 100)
	klog.SetLogger(funcr.New(func(_, line string) { lines <- line }, funcr.Options{}))
	t.Cleanup(klog.ClearLogger)
	logged := func() (all []string) {
		for len(lines) > 0 {
			all = append(all, <-lines)
		}
		return all
	}
	write := func(path string, content []byte) { g.Expect(os.WriteFile(path, content, 0o600)).To(Succeed()) }

	cert, key := renewed("first")
	write(c.TLSCert, cert)
	write(c.TLSKey, key)
	listeners, err := c.listen(t.Context(), c.outside)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { closeAll(listeners) })
	go func() {
		for {
			conn, err := listeners[0].Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).Handshake()
			_ = conn.Close()
		}
	}()
	served := func() string {
		dialer := &tls.Dialer{Config: &tls.Config{RootCAs: trusted, ServerName: "localhost", MinVersion: tls.VersionTLS12}}
		conn, err := dialer.DialContext(t.Context(), "tcp", listeners[0].Addr().String())
		g.Expect(err).NotTo(HaveOccurred())
		defer func() { _ = conn.Close() }()
		return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].Subject.CommonName
	}
	g.Expect(served()).To(Equal("first"))
	g.Expect(logged()).To(BeEmpty())

	cert, key = renewed("second")
	write(c.TLSCert, cert)
	g.Expect(served()).To(Equal("first"), "the key is still the old one")
	g.Expect(served()).To(Equal("first"))
	g.Expect(logged()).To(ConsistOf(ContainSubstring("private key does not match")), "not once for each connection")
	write(c.TLSKey, key)
	g.Expect(served()).To(Equal("second"))
	g.Expect(served()).To(Equal("second"))
	g.Expect(logged()).To(ConsistOf(ContainSubstring("renewed")))

	g.Expect(os.Remove(c.TLSCert)).To(Succeed())
	g.Expect(served()).To(Equal("second"))
	g.Expect(served()).To(Equal("second"))
	g.Expect(logged()).To(ConsistOf(ContainSubstring("no such file")))
	cert, key = renewed("third")
	write(c.TLSKey, key)
	write(c.TLSCert, cert)
	g.Expect(served()).To(Equal("third"))
}

// Every client was given the authority, and every instance that runs.
func TestTheAuthorityIsNotReplacedByMistake(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	cert, key := filepath.Join(folder, certFile), filepath.Join(folder, keyFile)
	write := func(path string, content []byte) { g.Expect(os.WriteFile(path, content, 0o600)).To(Succeed()) }
	read := func() [2]string {
		inCert, err := os.ReadFile(cert)
		g.Expect(err).NotTo(HaveOccurred())
		inKey, err := os.ReadFile(key)
		g.Expect(err).NotTo(HaveOccurred())
		return [2]string{string(inCert), string(inKey)}
	}
	_, err := authority(folder)
	g.Expect(err).NotTo(HaveOccurred())
	made := read()
	_, otherKey := testPair(g, "other")
	for path, content := range map[string][]byte{cert: []byte("damaged"), key: otherKey} {
		before, err := os.ReadFile(path)
		g.Expect(err).NotTo(HaveOccurred())
		write(path, content)
		damaged := read()
		_, err = authority(folder)
		g.Expect(err).To(MatchError(ContainSubstring("remove both to get another one")), path)
		g.Expect(read()).To(Equal(damaged), path)
		write(path, before)
	}
	g.Expect(os.Rename(key, key+".kept")).To(Succeed())
	g.Expect(os.Symlink(keyFile, key)).To(Succeed())
	_, err = authority(folder)
	g.Expect(err).To(MatchError(unix.ELOOP), "the key is there, but cannot be read")
	g.Expect(os.Rename(key+".kept", key)).To(Succeed())
	_, err = authority(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read()).To(Equal(made))

	for name, spoil := range map[string]func(){
		"missing":                    func() { g.Expect(os.Remove(cert)).To(Succeed()) },
		"emptied by a power failure": func() { g.Expect(os.Truncate(key, 0)).To(Succeed()) },
		"expired": func() {
			expired, err := makeCertificate(&x509.Certificate{NotAfter: time.Now().Add(-time.Minute)}, nil)
			g.Expect(err).NotTo(HaveOccurred())
			der, err := x509.MarshalPKCS8PrivateKey(expired.PrivateKey)
			g.Expect(err).NotTo(HaveOccurred())
			write(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: expired.Certificate[0]}))
			write(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
		},
	} {
		spoil()
		_, err := authority(folder)
		g.Expect(err).NotTo(HaveOccurred(), name)
		now := read()
		g.Expect(now).NotTo(Equal(made), name)
		_, err = tls.X509KeyPair([]byte(now[0]), []byte(now[1]))
		g.Expect(err).NotTo(HaveOccurred(), name)
	}
}

// testPair returns a certificate with a name, and its key, in PEM.
func testPair(g Gomega, name string) (cert, key []byte) {
	made, err := makeCertificate(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour),
	}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	der, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	g.Expect(err).NotTo(HaveOccurred())
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Certificate[0]}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
