// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

func ask(ctx context.Context, t *testing.T, client *http.Client, address string) error {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	response, err := client.Do(request)
	if err == nil {
		err = response.Body.Close()
	}
	return err
}

// TestRealFailures sends requests to servers that fail in realistic ways.
func TestRealFailures(t *testing.T) {
	hang := make(chan struct{})
	slow := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer slow.Close()
	defer close(hang)
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			err = connection.Close()
		}
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
	}))
	defer cut.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	ended, end := context.WithCancel(t.Context())
	end()
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"refused":   {ask(t.Context(), t, http.DefaultClient, gone.URL), "listing nodes: connection refused"},
		"untrusted": {ask(t.Context(), t, http.DefaultClient, slow.URL), "listing nodes: the server's certificate is not trusted"},
		"slow":      {ask(short, t, slow.Client(), slow.URL), "listing nodes: no answer in time"},
		"ended":     {ask(ended, t, slow.Client(), slow.URL), "listing nodes: the attempt was canceled"},
		"cut":       {ask(t.Context(), t, http.DefaultClient, cut.URL), "listing nodes: the connection was closed before the answer"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(test.err).To(HaveOccurred())
			g.Expect(hooks.Message(fmt.Errorf("listing nodes: %w", test.err))).To(Equal(test.want))
		})
	}
}

func TestOf(t *testing.T) {
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"none":      {nil, ""},
		"not found": {fmt.Errorf("DNS: %w", apierrors.NewNotFound(deployments, "coredns")), `DNS: the API server answered NotFound for deployments.apps "coredns"`},
		"forbidden": {apierrors.NewForbidden(deployments, "", errors.New("from 10.1.2.3")), "the API server answered Forbidden"},
		"timeout":   {apierrors.NewTimeoutError("took 32.5s", 3), "the API server answered Timeout"},
		"no host":   {&net.DNSError{Err: "no such host", Name: "cluster.example", Server: "10.0.0.1:53", IsNotFound: true}, "the host name could not be resolved"},
		"other name": {fmt.Errorf("a: %w", &tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: "x"}}),
			"a: the server's certificate is for other names"},
		"expired": {&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired, Detail: "current time 2026-01-02T03:04:05Z"}},
			"the server's certificate has expired or is not valid yet"},
		"IPv4":      {errors.New("lost 10.0.0.1:6443 and 10.0.0.2: v1.36.3 stays"), "lost <address> and <address>: v1.36.3 stays"},
		"IPv6":      {errors.New("lost [fd00::1]:6443, [fe80::1%eth0] and fd00::2"), "lost <address>, <address> and <address>"},
		"URL":       {errors.New(`Post "https://user:password@10.0.0.1:6443/api?x=1": odd`), `Post "<address>": odd`},
		"host":      {errors.New("dialing localhost:8080: odd"), "dialing <address>: odd"},
		"times":     {errors.New("at 2026-01-02T03:04:05.678Z after 1m30.5s"), "at <time> after <time>"},
		"log times": {errors.New("2026/01/02 03:04:05 odd"), "<time> odd"},
		"token":     {errors.New("Authorization: Bearer abcdefgh12345 refused"), "Authorization: <token> refused"},
		"pointer":   {errors.New("at 0xc000123456"), "at <number>"},
		"lines":     {errors.Join(errors.New("one"), errors.New("\ttwo")), "one two"},
		"plain":     {errors.New(`Machine ns/name: 3 of 5 are not: a.b.c, "x"`), `Machine ns/name: 3 of 5 are not: a.b.c, "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(hooks.Message(test.err)).To(Equal(test.want))
		})
	}
}

func TestCause(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"none":         {nil, ""},
		"first asked":  {fmt.Errorf("listing: failed to get server groups: %w", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), "connection refused"},
		"asked again":  {fmt.Errorf("listing: %w", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), "connection refused"},
		"answered":     {fmt.Errorf("listing: %w", apierrors.NewUnauthorized("no")), "the API server answered Unauthorized"},
		"unknown type": {errors.New("odd: at 10.0.0.1:6443"), "odd: at <address>"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(hooks.Cause(test.err)).To(Equal(test.want))
		})
	}
}

func TestOfIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := hooks.Message(errors.New(rapid.StringN(0, 3000, -1).Draw(t, "text")))
		if len(text) > 1024 || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r\t") {
			t.Fatalf("%q", text)
		}
	})
}

func TestAddressesAreTakenOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		octet := rapid.IntRange(0, 255)
		address := fmt.Sprintf("%d.%d.%d.%d", octet.Draw(t, "a"), octet.Draw(t, "b"), octet.Draw(t, "c"), octet.Draw(t, "d"))
		port := rapid.IntRange(1, 65535).Draw(t, "port")
		text := hooks.Message(fmt.Errorf("read tcp %s:%d->%s:443: odd", address, port, address))
		if text != "read tcp <address>-><address>: odd" {
			t.Fatalf("%q", text)
		}
	})
}

func TestList(t *testing.T) {
	g := NewWithT(t)
	g.Expect(hooks.Join(nil, 3)).To(BeEmpty())
	g.Expect(hooks.Join([]string{"b", "a", "b"}, 2)).To(Equal("a; b"))
	g.Expect(hooks.Join([]string{"d", "c", "b", "a"}, 2)).To(Equal("a; b; and 2 more"))
	g.Expect(hooks.Join([]string{"b", "a"}, 0)).To(Equal("a; and 1 more"))
}
