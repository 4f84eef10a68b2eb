// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
)

// forward serves what a client forwards.
func (w *world) forward(c *client.Client) *httptest.Server {
	handler, err := c.Forward()
	w.Expect(err).NotTo(HaveOccurred())
	web := httptest.NewServer(handler)
	w.t.Cleanup(web.Close)
	w.t.Cleanup(web.CloseClientConnections)
	return web
}

// A caller of a client that forwards acts as the client's tenant, and gets events at once.
func TestCallsAreForwardedAsTheTenant(t *testing.T) {
	w := newWorld(t)
	web := w.forward(w.client)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+api.PathWatch, nil)
	w.Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Authorization", "Bearer "+tokenB)
	response, err := http.DefaultTransport.RoundTrip(request)
	w.Expect(err).NotTo(HaveOccurred())
	lines := bufio.NewReader(response.Body)
	w.Expect(lines.ReadString('\n')).To(ContainSubstring("Synced"))
	_, err = w.client.EnsureInstance(ctx, instanceSpec("of-a"))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(lines.ReadString('\n')).To(ContainSubstring("of-a"))
}

func TestForwardedCallsFailWithErrorsOfTheAPI(t *testing.T) {
	w := newWorld(t)
	down, err := client.NewClient(client.Options{Endpoint: "unix:///nowhere", Token: tokenA})
	w.Expect(err).NotTo(HaveOccurred())
	unknown, err := client.NewClient(client.Options{Endpoint: w.endpoint, CAFile: w.caFile, TokenFile: "/nowhere"})
	w.Expect(err).NotTo(HaveOccurred())
	for status, c := range map[int]*client.Client{http.StatusServiceUnavailable: down, http.StatusUnauthorized: unknown} {
		response, err := http.Get(w.forward(c).URL + api.PathTenant)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(response.StatusCode).To(Equal(status))
		w.Expect(w.text(response)).To(ContainSubstring(`"reason"`))
	}
}
