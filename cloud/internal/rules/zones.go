// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package rules

// EmptiestZone returns the zone with the fewest instances, which taken counts by zone. Ties go to the zone that is listed first.
func EmptiestZone(zones []string, taken map[string]int) string {
	best := ""
	for _, zone := range zones {
		if best == "" || taken[zone] < taken[best] {
			best = zone
		}
	}
	return best
}
