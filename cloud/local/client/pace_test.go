// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
)

// moody is a client whose server gives each of the answers once and succeeds from then on.
type moody struct {
	*Client
	calls atomic.Int32
}

func newMoody(t *testing.T, answers ...http.HandlerFunc) *moody {
	t.Helper()
	g := NewWithT(t)
	m := &moody{}
	path := filepath.Join(t.TempDir(), "cloud.sock")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	g.Expect(err).NotTo(HaveOccurred())
	web := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if call := int(m.calls.Add(1)); call <= len(answers) {
			answers[call-1](w, r)
			return
		}
		w.Header().Set("Content-Type", api.JSON)
		_, _ = w.Write([]byte(`{"items": []}`))
	})}}
	web.Start()
	t.Cleanup(web.Close)
	m.Client, err = NewClient(Options{Endpoint: "unix://" + path, Token: "x"})
	g.Expect(err).NotTo(HaveOccurred())
	return m
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func sent(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", api.JSON)
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

// hangUp closes the connection without an answer.
func hangUp(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = connection.Close()
	}
}

func TestPassingTroubleIsOvercome(t *testing.T) {
	for name, answers := range map[string][]http.HandlerFunc{
		"no backend":            {status(http.StatusBadGateway), status(http.StatusServiceUnavailable)},
		"an error of the cloud": {sent(http.StatusInternalServerError, `{"reason":"CloudError","message":"odd"}`)},
		"the cloud unavailable": {sent(http.StatusServiceUnavailable, `{"reason":"Unavailable","message":"down"}`)},
		"no answer":             {hangUp, hangUp, hangUp},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMoody(t, answers...)
			_, err := m.Zones(t.Context())
			g.Expect(err).NotTo(HaveOccurred())
			// Go's transport itself retries a call on a connection that was closed before it was
			// used.
			g.Expect(int(m.calls.Load())).To(BeNumerically(">", len(answers)))
		})
	}
}

func TestOrdersAreRepeatedToo(t *testing.T) {
	g := NewWithT(t)
	m := newMoody(t, status(http.StatusBadGateway))
	g.Expect(m.DeleteInstance(t.Context(), "i1")).To(Succeed())
	g.Expect(m.calls.Load()).To(BeEquivalentTo(2))
}

func TestWhatDoesNotPassIsNotRepeated(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"no capacity":  sent(http.StatusServiceUnavailable, `{"reason":"OutOfCapacity","message":"full"}`),
		"invalid":      sent(http.StatusUnprocessableEntity, `{"reason":"Invalid","message":"odd"}`),
		"unauthorized": status(http.StatusUnauthorized),
		"throttled":    sent(http.StatusTooManyRequests, `{"reason":"Throttled","message":"busy","retryAfterSeconds":0.01}`),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMoody(t, answer)
			_, err := m.Zones(t.Context())
			g.Expect(err).To(HaveOccurred())
			g.Expect(m.calls.Load()).To(BeEquivalentTo(1))
		})
	}
}

func TestLongTroubleIsLeftToTheCaller(t *testing.T) {
	g := NewWithT(t)
	bad := status(http.StatusBadGateway)
	m := newMoody(t, bad, bad, bad, bad, bad)
	_, err := m.Zones(t.Context())
	g.Expect(cloud.IsUnavailable(err)).To(BeTrue(), "%v", err)
	g.Expect(m.calls.Load()).To(BeEquivalentTo(attempts))
	_, err = m.Zones(t.Context())
	g.Expect(cloud.IsUnavailable(err)).To(BeTrue(), "%v", err)
	g.Expect(m.calls.Load()).To(BeEquivalentTo(attempts+1), "the cloud is known to be down")
	_, err = m.Zones(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
}

// While the cloud throttles the client, other calls do not reach it either.
func TestAThrottledClientLeavesTheCloudAlone(t *testing.T) {
	g := NewWithT(t)
	m := newMoody(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	began := time.Now()
	_, err := m.Zones(t.Context())
	after, throttled := cloud.RetryAfter(err)
	g.Expect(throttled).To(BeTrue(), "%v", err)
	g.Expect(after).To(Equal(5 * time.Second))
	for _, call := range []func() error{
		func() error { _, err := m.Images(t.Context()); return err },
		func() error { return m.DeletePool(t.Context(), "p") },
		func() error { _, err := m.Watch(t.Context()); return err },
	} {
		after, throttled = cloud.RetryAfter(call())
		g.Expect(throttled).To(BeTrue())
		g.Expect(after).To(And(BeNumerically(">", 0), BeNumerically("<=", 5*time.Second)))
	}
	g.Expect(m.calls.Load()).To(BeEquivalentTo(1))
	g.Eventually(func() error { _, err := m.Images(t.Context()); return err }, "30s", "20ms").Should(Succeed(), "the time passes")
	g.Expect(time.Since(began)).To(BeNumerically(">=", 5*time.Second))
}

func TestTryingEndsWithTheContext(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	var p pace
	calls := 0
	err := p.persist(ctx, func() error {
		calls++
		cancel()
		return &cloud.UnavailableError{Message: "down"}
	})
	g.Expect(cloud.IsUnavailable(err)).To(BeTrue(), "%v", err)
	g.Expect(calls).To(Equal(1))
	g.Expect(isPassing(errors.New("unknown"))).To(BeFalse())
}
