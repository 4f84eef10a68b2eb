// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package crowd_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/test/crowd"
)

func TestSlowest99(t *testing.T) {
	g := NewWithT(t)
	var mu sync.Mutex
	together, most := 0, 0
	enter := func(callers int) {
		mu.Lock()
		defer mu.Unlock()
		together += callers
		most = max(most, together)
	}
	arrived := make(chan struct{})
	var calls atomic.Int32
	took := crowd.Slowest99(func(int) {
		enter(1)
		defer enter(-1)
		if calls.Add(1) == crowd.AtOnce {
			close(arrived)
		}
		<-arrived // the first calls all run at the same time
	})
	g.Expect(calls.Load()).To(BeEquivalentTo(10 * crowd.AtOnce))
	g.Expect(most).To(Equal(crowd.AtOnce))
	g.Expect(took).To(BeNumerically(">", 0))
}

func TestWithin(t *testing.T) {
	for name, test := range map[string]struct {
		took      []time.Duration
		reference time.Duration
		holds     bool
		tries     int
	}{
		"at once":                          {[]time.Duration{crowd.Budget / 2}, crowd.Yardstick, true, 1},
		"in the end":                       {[]time.Duration{time.Second, time.Minute, crowd.Budget / 2}, crowd.Yardstick, true, 3},
		"never":                            {slices.Repeat([]time.Duration{crowd.Budget}, 10), crowd.Yardstick, false, 10},
		"on a slow machine":                {[]time.Duration{2 * crowd.Budget}, 3 * crowd.Yardstick, true, 1},
		"too slow even for that machine":   {slices.Repeat([]time.Duration{4 * crowd.Budget}, 10), 3 * crowd.Yardstick, false, 10},
		"a fast machine does not lower it": {[]time.Duration{crowd.Budget / 2}, crowd.Yardstick / 4, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			tries := 0
			m := crowd.Within(func(try int) time.Duration { tries++; return test.took[try] }, func() time.Duration { return test.reference })
			g.Expect(m.Holds()).To(Equal(test.holds), m.String())
			g.Expect(tries).To(Equal(test.tries))
		})
	}
}

func TestReferenceIsWork(t *testing.T) {
	NewWithT(t).Expect(crowd.Reference()).To(BeNumerically(">", 0))
}
