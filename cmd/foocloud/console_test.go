// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
)

// openConsole runs the command against a cloud that answers with the token of the call, and returns
// the address and the key that the command prints.
func openConsole(t *testing.T, arguments ...string) (address, key string) {
	t.Helper()
	g := NewWithT(t)
	cloud := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"name": "`+r.Header.Get("Authorization")+`", "readOnly": true}`)
	}))
	t.Cleanup(cloud.Close)
	folder := t.TempDir()
	for name, content := range map[string]string{"token": "full", "viewer-token": "viewer", "given": "given", "ca.crt": string(certificateOf(cloud))} {
		g.Expect(os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600)).To(Succeed())
	}
	t.Chdir(folder)
	t.Setenv(endpointEnv, cloud.URL)
	t.Setenv(fileEnv, filepath.Join(folder, "token"))
	t.Setenv(caFileEnv, filepath.Join(folder, "ca.crt"))
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	command := newCommand()
	command.SetArgs(append([]string{"console"}, arguments...))
	command.SetOut(writer)
	go func() { ended <- command.ExecuteContext(ctx) }()
	t.Cleanup(func() {
		cancel()
		g.Expect(<-ended).To(Succeed(), "it ends without an error")
	})
	lines := bufio.NewReader(reader)
	line, err := lines.ReadString('\n')
	g.Expect(err).NotTo(HaveOccurred())
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	parts := regexp.MustCompile(`^Open (http://127\.0\.0\.1:\d+)/console/#token=([A-Z2-7]{26,})\n$`).FindStringSubmatch(line)
	g.Expect(parts).To(HaveLen(3), line)
	return parts[1], parts[2]
}

func TestConsoleUsesTheViewerToken(t *testing.T) {
	for name, test := range map[string]struct {
		arguments []string
		token     string
	}{
		"by default":         {nil, "viewer"},
		"to write":           {[]string{"--write"}, "full"},
		"as the user wishes": {[]string{"--token-file=given"}, "given"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			address, key := openConsole(t, test.arguments...)
			status, text := ask(t, address+"/v1/tenant", "Bearer "+key)
			g.Expect(status).To(Equal(http.StatusOK))
			g.Expect(text).To(ContainSubstring(`"Bearer ` + test.token + `"`))
		})
	}
}

// The page is for everybody who can connect, but the API only for who has the key, which is no token
// of the cloud.
func TestConsoleNeedsItsKey(t *testing.T) {
	g := NewWithT(t)
	address, key := openConsole(t)
	g.Expect(key).NotTo(Equal("viewer"))
	for _, authorization := range []string{"", "Bearer ", "Bearer wrong", "Bearer viewer", "Bearer full", "Bearer " + key + "x"} {
		for _, path := range []string{"/v1/tenant", "/console/../v1/tenant", "/console/%2e%2e/v1/tenant", "//v1/tenant", "/healthz"} {
			status, text := ask(t, address+path, authorization)
			g.Expect(status).To(Equal(http.StatusUnauthorized), path)
			g.Expect(text).NotTo(ContainSubstring("Bearer"), path)
		}
	}
	status, _ := ask(t, address+"/console/", "")
	g.Expect(status).To(Equal(http.StatusOK))
}

// Without --write, no token lets the console change anything.
func TestConsoleRefusesATokenThatCanWrite(t *testing.T) {
	g := NewWithT(t)
	cloud := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"name": "red", "readOnly": false}`)
	}))
	t.Cleanup(cloud.Close)
	folder := t.TempDir()
	token, ca := filepath.Join(folder, "token"), filepath.Join(folder, "ca.crt")
	g.Expect(os.WriteFile(token, []byte("full"), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(ca, certificateOf(cloud), 0o600)).To(Succeed())
	got := runCommand("console", "--endpoint="+cloud.URL, "--ca-file="+ca, "--token-file="+token)
	g.Expect(got.code).To(Equal(exitUsage))
	g.Expect(got.out).To(BeEmpty())
	g.Expect(got.errOut).To(ContainSubstring("the token in " + token + " permits changes: add --write"))
}

func TestConsoleChecksTheCloudFirst(t *testing.T) {
	g := NewWithT(t)
	got := runCommand("console", "--endpoint=unix:///nowhere", "--token-file=/nowhere")
	g.Expect(got.code).To(Equal(exitUnauthorized))
	g.Expect(got.out).To(BeEmpty())
}

// ask sends a request and follows no redirects.
func ask(t *testing.T, url, authorization string) (status int, text string) {
	t.Helper()
	g := NewWithT(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	g.Expect(err).NotTo(HaveOccurred())
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	g.Expect(err).NotTo(HaveOccurred())
	content, err := io.ReadAll(response.Body)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(response.Body.Close()).To(Succeed())
	return response.StatusCode, string(content)
}
