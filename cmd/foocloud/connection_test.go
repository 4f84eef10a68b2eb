// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
)

func certificateOf(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

// foocloud also uses the variables exported for clusterctl, including the certificate.
func TestClientTrustsTheCertificateOfTheEnvironment(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(server.Close)
	token := filepath.Join(t.TempDir(), "token")
	g.Expect(os.WriteFile(token, []byte("secret"), 0o600)).To(Succeed())
	certificate := certificateOf(server)
	images := func() error {
		c := &connection{}
		c.addFlags(&cobra.Command{})
		foocloud, err := c.client()
		if err != nil {
			return err
		}
		_, err = foocloud.Images(t.Context())
		return err
	}
	t.Setenv(endpointEnv, server.URL)
	t.Setenv(fileEnv, token)
	g.Expect(images()).To(MatchError(ContainSubstring("certificate")))
	t.Setenv(caEnv, base64.StdEncoding.EncodeToString(certificate))
	g.Expect(images()).To(Succeed())
	t.Setenv(caEnv, "not base64")
	g.Expect(images()).To(MatchError(ContainSubstring(caEnv)))
}
