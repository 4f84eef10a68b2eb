// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestOldFailuresAreForgotten(t *testing.T) {
	g := NewWithT(t)
	tried, now := attempts{}, time.Now()
	failing := func() error { return errors.New("refused") }
	for range 10 {
		g.Expect(postponed(tried.run("create 1", now, failing))).To(BeZero(), "the effect is tried")
		again := postponed(tried.run("create 1", now, failing))
		g.Expect(again).To(BeTemporally(">", now))
		now = again
	}
	now = now.Add(time.Hour)
	g.Expect(tried.run("create 2", now, failing)).To(HaveOccurred())
	g.Expect(tried).To(HaveLen(1), "effects of earlier generations are dropped")
	g.Expect(tried.run("create 1", now, failing)).To(HaveOccurred())
	g.Expect(postponed(tried.run("create 1", now, failing))).To(Equal(now.Add(firstBackoff)), "the backoff starts again")
}

// A cache that never catches up is a failure like any other.
func TestACacheThatStaysBehindIsAFailure(t *testing.T) {
	g := NewWithT(t)
	tried, now := attempts{}, time.Now()
	behind := func() error { return fmt.Errorf("%w: not found", errStale) }
	for range maxStale {
		g.Expect(tried.run("propagate 1", now, behind)).To(MatchError(errStale))
		now = now.Add(staleInterval)
	}
	err := tried.run("propagate 1", now, behind)
	g.Expect(err).NotTo(MatchError(errStale))
	g.Expect(err).To(MatchError("the cache is behind: not found"))
	g.Expect(postponed(tried.run("propagate 1", now, behind))).To(Equal(now.Add(firstBackoff)))
	g.Expect(tried.run("propagate 1", now.Add(firstBackoff), func() error { return nil })).To(Succeed())
	g.Expect(tried.run("propagate 1", now.Add(firstBackoff), behind)).To(MatchError(errStale), "the backoff starts again")
}
