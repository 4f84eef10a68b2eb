// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/store"

// byZone counts the instances of each zone. Instances on their way out do not count, so that what replaces one can take its place.
func byZone(instances []store.Instance) map[string]int {
	counts := map[string]int{}
	for i := range instances {
		if !leaving(&instances[i]) {
			counts[instances[i].Zone]++
		}
	}
	return counts
}

// nextZone returns the zone of which the fewest are taken, the first in the order given among equals.
func nextZone(zones []string, taken map[string]int) string {
	best := ""
	for _, zone := range zones {
		if best == "" || taken[zone] < taken[best] {
			best = zone
		}
	}
	return best
}
