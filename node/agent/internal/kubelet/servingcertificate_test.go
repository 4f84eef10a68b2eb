// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/tls"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteServingCertificate(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "pki")
	certPath, keyPath := filepath.Join(folder, "kubelet.crt"), filepath.Join(folder, "kubelet.key")
	write := func() []byte {
		t.Helper()
		if err := WriteServingCertificate(folder, "node-1"); err != nil {
			t.Fatal(err)
		}
		pair, err := tls.LoadX509KeyPair(certPath, keyPath)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := pair.PrivateKey.(*ecdsa.PrivateKey); !ok {
			t.Errorf("the key is a %T", pair.PrivateKey)
		}
		if err := pair.Leaf.VerifyHostname("node-1"); err != nil {
			t.Error(err)
		}
		return pair.Certificate[0]
	}
	first := write()
	if !bytes.Equal(write(), first) {
		t.Error("a usable certificate was replaced")
	}
	info, err := os.Stat(keyPath)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's mode is %v, %v", info.Mode(), err)
	}
	// The instance lost its power while the certificate was written.
	if err := os.Truncate(certPath, 10); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(write(), first) {
		t.Error("the half certificate was kept")
	}
}
