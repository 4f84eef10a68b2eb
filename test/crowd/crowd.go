// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crowd measures how long concurrent callers of the same function wait.
//
// Limits: only tests import it. It estimates the effect of a busy machine from the duration of
// plain work at the same time, so tests try several times.
package crowd

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// AtOnce is how many concurrent calls a runtime extension must handle.
	AtOnce = 50
	// Budget is the maximum duration of 99 of 100 responses of a runtime extension. Cluster API
	// gives up after 10 seconds.
	Budget = 200 * time.Millisecond
	// Yardstick is the maximum duration of 99 of 100 calls of Reference on the machine that Budget
	// is meant for: two otherwise idle cores.
	Yardstick = 20 * time.Millisecond

	// rounds is how many calls each caller makes, one after the other.
	rounds = 10
	// tries is the maximum number of measurements: one good measurement shows what the code can do.
	tries = 10
)

// Slowest99 runs AtOnce concurrent callers, each with several calls, and returns the maximum
// duration of 99 of 100 calls. A call gets the number of its caller, from 0.
func Slowest99(call func(caller int)) time.Duration {
	took := make([][]time.Duration, AtOnce)
	var calls sync.WaitGroup
	for caller := range AtOnce {
		calls.Go(func() {
			for range rounds {
				began := time.Now()
				call(caller)
				took[caller] = append(took[caller], time.Since(began))
			}
		})
	}
	calls.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	return all[len(all)*99/100]
}

// Measurement is the duration of 99 of 100 calls and its limit.
type Measurement struct {
	Took, Limit time.Duration
}

// Holds reports whether the calls were fast enough.
func (m Measurement) Holds() bool { return m.Took < m.Limit }

func (m Measurement) String() string {
	return fmt.Sprintf("99 of 100 calls within %s, of %s", m.Took.Round(time.Microsecond), m.Limit.Round(time.Millisecond))
}

// Within measures until a measurement holds, at most a few times, and returns the last one. The
// limit is Budget, increased if the machine is slower or busier than the one that Budget is meant
// for: each measurement is accompanied by one of a reference.
func Within(measure func(try int) time.Duration, reference func() time.Duration) Measurement {
	var m Measurement
	for try := range tries {
		before := reference()
		m.Took = measure(try)
		slower := float64(max(before, reference())) / float64(Yardstick)
		m.Limit = time.Duration(float64(Budget) * max(1, slower))
		if m.Holds() {
			break
		}
	}
	return m
}

// Reference measures CPU-bound work with Slowest99.
func Reference() time.Duration {
	return Slowest99(func(int) { sha256.Sum256(make([]byte, 256<<10)) })
}
