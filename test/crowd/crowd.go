// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crowd measures how long those wait who call the same thing at once.
//
// Limits: it is imported by tests only. What a busy machine does to a measurement it only guesses, from what plain work takes
// beside it, so tests try several times.
package crowd

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// AtOnce is how many calls a runtime extension has to stand at once.
	AtOnce = 50
	// Budget is what 99 of 100 answers of a runtime extension may take at most. Cluster API gives up after 10 seconds.
	Budget = 200 * time.Millisecond
	// Yardstick is what 99 of 100 calls of Reference take on the machine that Budget is meant for: two cores that do
	// nothing else.
	Yardstick = 20 * time.Millisecond

	// rounds is how many calls each of those who call makes, one after the other.
	rounds = 10
	// tries is how often it is measured at most: one good measurement shows what the code can do.
	tries = 10
)

// Slowest99 has as many callers as AtOnce call at once, several times each, and returns how long 99 of 100 calls took at most.
// A call is told the number of its caller, from 0.
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

// Measurement is what 99 of 100 calls took, and what they may take.
type Measurement struct {
	Took, Limit time.Duration
}

// Holds says whether the calls were quick enough.
func (m Measurement) Holds() bool { return m.Took < m.Limit }

func (m Measurement) String() string {
	return fmt.Sprintf("99 of 100 calls within %s, of %s", m.Took.Round(time.Microsecond), m.Limit.Round(time.Millisecond))
}

// Within measures until a measurement holds, a few times at most, and returns the last one. The limit is Budget, and more by as
// much as the machine is slower or busier meanwhile than the one it is meant for: a reference is measured beside each
// measurement.
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

// Reference has a crowd do plain work for a processor, and returns what Slowest99 returns.
func Reference() time.Duration {
	return Slowest99(func(int) { sha256.Sum256(make([]byte, 256<<10)) })
}
