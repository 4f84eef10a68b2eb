// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func TestCandidates(t *testing.T) {
	g := NewWithT(t)
	for _, test := range []struct {
		name   string
		states []health
		turn   uint
		want   []int
	}{
		{"none", nil, 0, nil},
		{"all down", []health{down, down}, 0, nil},
		{"ready ones only", []health{ready, accepting, ready}, 0, []int{0, 2}},
		{"in turn", []health{ready, accepting, ready}, 1, []int{2, 0}},
		{"leaving ones when no other is ready", []health{accepting, leaving}, 0, []int{1}},
		{"no leaving one beside a ready one", []health{leaving, ready}, 0, []int{1}},
		{"accepting when none is ready", []health{down, accepting}, 5, []int{1}},
	} {
		g.Expect(candidates(test.states, test.turn)).To(Equal(test.want), test.name)
	}
}

func TestDrained(t *testing.T) {
	g := NewWithT(t)
	g.Expect(drained([]health{ready, accepting, down})).To(Equal([]int{1, 2}))
	g.Expect(drained([]health{leaving, ready})).To(Equal([]int{0}))
	g.Expect(drained([]health{accepting, down})).To(BeEmpty(), "there is nowhere to go")
	g.Expect(drained([]health{leaving, leaving})).To(BeEmpty(), "all leave")
}

func TestTurnsAreFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states := rapid.SliceOf(rapid.SampledFrom([]health{down, accepting, leaving, ready})).Draw(t, "states")
		start := rapid.Uint().Draw(t, "turn")
		places := candidates(states, 0)
		counts := map[int]int{}
		for i := range len(places) {
			list := candidates(states, start%1000+uint(i))
			counts[list[0]]++
			slices.Sort(list)
			if !slices.Equal(list, slices.Sorted(slices.Values(places))) {
				t.Fatalf("candidates %v and %v differ", list, places)
			}
		}
		for place, count := range counts {
			if count != 1 || states[place] == down {
				t.Fatalf("backend %d of %v is first %d times in a round", place, states, count)
			}
		}
	})
}
