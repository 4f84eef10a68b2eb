// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"io"
	"net/http"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/console"
)

// request sends a request as a browser does, without a token, and follows no redirects.
func (w *world) request(method, path string, headers map[string]string) *http.Response {
	request, err := http.NewRequest(method, w.endpoint+path, nil)
	w.Expect(err).NotTo(HaveOccurred())
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := w.http().Transport.RoundTrip(request)
	w.Expect(err).NotTo(HaveOccurred())
	w.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func (w *world) text(response *http.Response) string {
	text, err := io.ReadAll(response.Body)
	w.Expect(err).NotTo(HaveOccurred())
	return string(text)
}

func TestConsoleIsServedToEverybody(t *testing.T) {
	w := newWorld(t)
	root := w.request(http.MethodGet, "/", nil)
	w.Expect(root.StatusCode).To(Equal(http.StatusFound))
	w.Expect(root.Header.Get("Location")).To(Equal(console.Path))
	page := w.request(http.MethodGet, console.Path, nil)
	w.Expect(page.StatusCode).To(Equal(http.StatusOK))
	w.Expect(page.Header.Get("Content-Type")).To(Equal("text/html; charset=utf-8"))
	text := w.text(page)
	w.Expect(text).NotTo(MatchRegexp(`(?i)<script[^>]*>[^<]|<style|\sstyle=|\son[a-z]+=|https?://`), "the policy permits nothing inline and nothing from elsewhere")
	for _, one := range regexp.MustCompile(`(?:src|href)="([a-z.]+)"`).FindAllStringSubmatch(text, -1) {
		part := w.request(http.MethodGet, console.Path+one[1], nil)
		w.Expect(part.StatusCode).To(Equal(http.StatusOK), one[1])
		w.Expect(part.Header.Get("Content-Type")).To(HavePrefix(map[string]string{"console.js": "text/javascript", "console.css": "text/css", "icon.svg": "image/svg+xml"}[one[1]]))
	}
	again := w.request(http.MethodGet, console.Path, map[string]string{"If-None-Match": page.Header.Get("ETag")})
	w.Expect(again.StatusCode).To(Equal(http.StatusNotModified))
	w.Expect(w.request(http.MethodHead, console.Path, nil).StatusCode).To(Equal(http.StatusOK))
}

func TestConsoleIsLockedDown(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{console.Path, console.Path + "console.js", console.Path + "missing"} {
		headers := w.request(http.MethodGet, path, nil).Header
		w.Expect(headers.Get("Content-Security-Policy")).To(And(
			ContainSubstring("default-src 'none'"), ContainSubstring("script-src 'self';"), ContainSubstring("connect-src 'self'"), ContainSubstring("frame-ancestors 'none'"),
			ContainSubstring("form-action 'none'"), ContainSubstring("base-uri 'none'"), ContainSubstring("require-trusted-types-for 'script'"), Not(ContainSubstring("unsafe")),
		), path)
		w.Expect(headers.Get("X-Content-Type-Options")).To(Equal("nosniff"), path)
		w.Expect(headers.Get("Referrer-Policy")).To(Equal("no-referrer"), path)
		w.Expect(headers.Get("X-Frame-Options")).To(Equal("DENY"), path)
		w.Expect(headers).NotTo(HaveKey("Set-Cookie"), path)
		w.Expect(headers).NotTo(HaveKey("Access-Control-Allow-Origin"), path)
	}
}

func TestConsoleServesOnlyItsFiles(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{
		"/console/doc.go", "/console/page/index.html", "/console/%2e%2e/console.go", "/console/..%2fconsole.go", "/console/../v1/zones", "/console//etc/passwd",
		"/console/v1/zones", "/console/index.html/", "/console/%00",
	} {
		response := w.request(http.MethodGet, path, nil)
		w.Expect(response.StatusCode).To(BeElementOf(http.StatusNotFound, http.StatusMovedPermanently, http.StatusTemporaryRedirect), path)
		w.Expect(w.text(response)).NotTo(Or(ContainSubstring("package console"), ContainSubstring("zone-a")), path)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		w.Expect(w.request(method, console.Path, nil).StatusCode).NotTo(Equal(http.StatusOK), method)
	}
	w.Expect(w.request(http.MethodGet, "/v1/zones", nil).StatusCode).To(Equal(http.StatusUnauthorized), "the API still needs a token")
}
