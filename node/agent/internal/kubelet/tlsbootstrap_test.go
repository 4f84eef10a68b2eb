// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// joining is a machine whose kubelet joins, with the API server that it joins through.
type joining struct {
	bootstrap TLSBootstrap
	// looks counts the requests; the API server knows the token from request readyAt on.
	looks   atomic.Int32
	readyAt int32
	// onReady is called when the API server first accepts the token.
	onReady func()
	server  *httptest.Server
}

func newJoining(t *testing.T, readyAt int32) *joining {
	t.Helper()
	folder := t.TempDir()
	j := &joining{readyAt: readyAt, onReady: func() {}, bootstrap: TLSBootstrap{
		kubeconfig: filepath.Join(folder, "bootstrap-kubelet.conf"), certificate: filepath.Join(folder, "kubelet-client-current.pem"),
	}}
	j.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		look := j.looks.Add(1)
		if r.Header.Get("Authorization") != "Bearer abcdef.0123456789abcdef" || look < j.readyAt {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if look == j.readyAt {
			j.onReady()
		}
	}))
	t.Cleanup(j.server.Close)
	return j
}

func (j *joining) authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: j.server.Certificate().Raw})
}

func (j *joining) kubeconfig(authority []byte) string {
	return `apiVersion: v1
kind: Config
clusters:
- name: kubernetes
  cluster: {server: "` + j.server.URL + `", certificate-authority-data: ` + base64.StdEncoding.EncodeToString(authority) + `}
users:
- name: tls-bootstrap-token-user
  user: {token: abcdef.0123456789abcdef}
`
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLate has the answer for each course of a join.
func TestLate(t *testing.T) {
	for name, test := range map[string]struct {
		readyAt int32
		// certified gives the kubelet its certificate as soon as the API server knows the token.
		certified bool
		want      bool
	}{
		"the server was ready before":           {readyAt: 1},
		"the kubelet was refused":               {readyAt: 3, want: true},
		"the kubelet has its certificate first": {readyAt: 3, certified: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJoining(t, test.readyAt)
			if test.certified {
				j.onReady = func() { write(t, j.bootstrap.certificate, "certificate") }
			}
			write(t, j.bootstrap.kubeconfig, j.kubeconfig(j.authority()))
			if got := j.bootstrap.Late(t.Context()); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}

// TestLateWaitsForKubeadm waits until kubeadm has written the whole kubeconfig.
func TestLateWaitsForKubeadm(t *testing.T) {
	t.Parallel()
	j := newJoining(t, 2)
	result := make(chan bool)
	go func() { result <- j.bootstrap.Late(t.Context()) }()
	write(t, j.bootstrap.kubeconfig, "")
	write(t, j.bootstrap.kubeconfig, j.kubeconfig(j.authority()))
	if !<-result {
		t.Error("got false, want true")
	}
}

// TestLateEndsWithTheBootstrapData returns false when no kubelet has joined before ctx is done.
func TestLateEndsWithTheBootstrapData(t *testing.T) {
	j := newJoining(t, 2)
	for name, kubeconfig := range map[string]string{
		"not YAML":          "\t",
		"no cluster":        "clusters: []\nusers: [{user: {token: abcdef.0123456789abcdef}}]",
		"no authority":      j.kubeconfig(nil),
		"another authority": j.kubeconfig(authority(t)),
	} {
		t.Run(name, func(t *testing.T) {
			write(t, j.bootstrap.kubeconfig, kubeconfig)
			ctx, cancel := context.WithTimeout(t.Context(), 3*bootstrapPoll)
			defer cancel()
			if j.bootstrap.Late(ctx) || j.looks.Load() != 0 {
				t.Errorf("got true, or the server was asked %d times, want neither", j.looks.Load())
			}
		})
	}
}

// authority returns the certificate of an authority that has signed nothing.
func authority(t *testing.T) []byte {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
}
