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
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
)

// The tokens of all tenants of a cloud are in one folder.
func TestTokenOfATenant(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	token := filepath.Join(folder, "token")
	g.Expect(os.WriteFile(token+"-red", nil, 0o600)).To(Succeed())
	for _, test := range []struct{ environment, arguments, want string }{
		{"", "", "/var/lib/foocloud/token"},
		{"", "--tenant=red", "/var/lib/foocloud/token-red"},
		{token, "--tenant=default", token},
		{token, "--tenant=red", token + "-red"},
		{token + "-mine", "--tenant=blue", token + "-mine"},
		{"", "--tenant=red --token-file=" + token, token},
	} {
		t.Run(test.environment+" "+test.arguments, func(t *testing.T) {
			t.Setenv(fileEnv, test.environment)
			c, command := &connection{}, &cobra.Command{}
			c.addFlags(command)
			c.addTenantFlag(command)
			g := NewWithT(t)
			g.Expect(command.ParseFlags(strings.Fields(test.arguments))).To(Succeed())
			g.Expect(c.tenantToken()).To(Equal(test.want))
		})
	}
}

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
