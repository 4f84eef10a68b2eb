// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	"pgregory.net/rapid"
)

func TestSpreadIsEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zones := rapid.SliceOfNDistinct(rapid.StringMatching("[a-e]"), 1, 5, rapid.ID).Draw(t, "zones")
		count := rapid.IntRange(0, 40).Draw(t, "count")
		counts := map[string]int{}
		for range count {
			counts[EmptiestZone(zones, counts)]++
		}
		for _, a := range zones {
			for _, b := range zones {
				if counts[a]-counts[b] > 1 {
					t.Fatalf("%d instances are spread as %v", count, counts)
				}
			}
		}
	})
}
