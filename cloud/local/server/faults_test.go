// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
)

// overSocket serves the same cloud on a unix socket and returns a client of tenant a for it.
func (w *world) overSocket(t *testing.T) *client.Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cloud.sock")
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	w.Expect(err).NotTo(HaveOccurred())
	web := &httptest.Server{Listener: listener, Config: &http.Server{Handler: validated(t, w.handler)}}
	web.Start()
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	c, err := client.NewClient(client.Options{Endpoint: "unix://" + path, Token: tokenA})
	w.Expect(err).NotTo(HaveOccurred())
	return c
}

func TestFaultRuleLife(t *testing.T) {
	w := newWorld(t)
	spec := fault.Spec{
		Name: "rule", Kind: fault.SpotReclaim, Pool: "pool", Zone: "zone-a", Probability: 0.5, Seed: 9, Count: 3,
		DelaySeconds: 1, NoticeSeconds: 2,
	}
	rule, err := w.client.EnsureFault(ctx, spec)
	w.Expect(err).NotTo(HaveOccurred())
	spec.Tenant = "a"
	w.Expect(rule.Spec).To(Equal(spec))
	w.Expect(w.client.GetFault(ctx, "", "rule")).To(Equal(rule))
	w.Expect(w.client.ListFaults(ctx)).To(Equal([]fault.Rule{rule}))
	w.Expect(w.client.RemoveFault(ctx, "", "rule")).To(Succeed())
	err = w.client.RemoveFault(ctx, "", "rule")
	w.Expect(err).To(Equal(&cloud.NotFoundError{Kind: "fault rule", Name: "rule"}))
	w.Expect(w.client.ListFaults(ctx)).To(BeEmpty())
	_, err = w.client.EnsureFault(ctx, fault.Spec{Name: "rule", Kind: "Earthquake"})
	w.Expect(cloud.IsInvalid(err)).To(BeTrue(), "%v", err)
	w.Expect(err.Error()).To(ContainSubstring("allowed: APILatency, BootFailure"))
}

// Over https, a token is valid only for its own tenant. Anyone who may connect to the socket owns
// the cloud.
func TestOnlyTheOwnerOfTheSocketReachesOtherTenants(t *testing.T) {
	w := newWorld(t)
	administrator := w.overSocket(t)
	for _, tenant := range []string{"b", fault.EveryTenant} {
		spec := fault.Spec{Name: "rule", Kind: fault.Stockout, Tenant: tenant}
		_, err := w.client.EnsureFault(ctx, spec)
		w.Expect(cloud.IsInvalid(err)).To(BeTrue(), "%v", err)
		w.Expect(err.Error()).To(ContainSubstring("allowed: a"))
		_, err = administrator.EnsureFault(ctx, spec)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(w.client.ListFaults(ctx)).To(BeEmpty())
		_, err = w.client.GetFault(ctx, tenant, "rule")
		w.Expect(cloud.IsNotFound(err)).To(BeTrue(), "%v", err)
		err = w.client.RemoveFault(ctx, tenant, "rule")
		w.Expect(cloud.IsNotFound(err)).To(BeTrue(), "%v", err)
	}
	w.Expect(administrator.ListFaults(ctx)).To(HaveLen(2))
	_, err := administrator.EnsureFault(ctx, fault.Spec{Name: "rule", Kind: fault.Stockout, Tenant: "c"})
	w.Expect(err).To(MatchError(ContainSubstring("allowed: *, a, b")))
	_, err = w.client.EnsureInstance(ctx, instanceSpec("one"))
	w.Expect(err).To(Equal(&cloud.CapacityError{Message: "fault rule rule"}), "the rule for all strikes")
	w.Expect(administrator.RemoveFault(ctx, fault.EveryTenant, "rule")).To(Succeed())
	_, err = w.client.EnsureInstance(ctx, instanceSpec("one"))
	w.Expect(err).NotTo(HaveOccurred(), "the rule of b strikes b")
	_, err = w.other.EnsureInstance(ctx, instanceSpec("one"))
	w.Expect(cloud.IsOutOfCapacity(err)).To(BeTrue(), "%v", err)
}

func TestFaultsOfCalls(t *testing.T) {
	w := newWorld(t)
	add := func(spec fault.Spec) {
		spec.Name = "rule"
		_, err := w.client.EnsureFault(ctx, spec)
		w.Expect(err).NotTo(HaveOccurred())
	}
	add(fault.Spec{Kind: fault.APILatency, DelaySeconds: 0.2})
	began := time.Now()
	_, err := w.client.Zones(ctx)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(time.Since(began)).To(BeNumerically(">=", 200*time.Millisecond))

	for status, reason := range map[int]string{500: "CloudError", 502: "Unavailable", 503: "Unavailable", 504: "Unavailable"} {
		add(fault.Spec{Kind: fault.ServerError, Status: status})
		response := w.ask(tokenA, api.PathZones)
		w.Expect(response.StatusCode).To(Equal(status))
		w.Expect(w.body(response)).To(ContainSubstring(`"reason":"` + reason + `"`))
	}
	add(fault.Spec{Kind: fault.Throttling, RetryAfterSeconds: 2.5})
	response := w.ask(tokenA, api.PathWatch)
	w.Expect(response.StatusCode).To(Equal(http.StatusTooManyRequests))
	w.Expect(response.Header.Get("Retry-After")).To(Equal("3"))
	w.Expect(w.body(response)).To(ContainSubstring(`"retryAfterSeconds":2.5`))
	w.Expect(w.ask(tokenB, api.PathZones).StatusCode).To(Equal(http.StatusOK), "others are not struck")
	w.Expect(w.ask("", api.PathHealth).StatusCode).To(Equal(http.StatusOK))
	w.Expect(w.client.RemoveFault(ctx, "", "rule")).To(Succeed(), "a rule can always be removed")
	w.Expect(w.ask(tokenA, api.PathZones).StatusCode).To(Equal(http.StatusOK))
}
