// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"cmp"
	"maps"
	"slices"
)

// victims chooses up to count candidates: by rank, then from the zone with the most members left,
// so that the rest stays spread, then in the order of compare. The same candidates always give the
// same victims. It does not change zones.
func victims(candidates []candidate, zones map[string]int, count int, compare func(a, b candidate) int) []candidate {
	left := maps.Clone(zones)
	byRank := map[rank][]candidate{}
	for _, c := range candidates {
		byRank[c.rank()] = append(byRank[c.rank()], c)
	}
	var chosen []candidate
	for r := rankMarked; r <= lastRank && len(chosen) < count; r++ {
		chosen = append(chosen, fromFullestZones(byRank[r], left, count-len(chosen), compare)...)
	}
	return chosen
}

// fromFullestZones chooses up to count candidates, one after the other from the zone with the most
// members left, and counts left down. The cost per choice depends on the number of zones, not on
// the number of candidates.
func fromFullestZones(candidates []candidate, left map[string]int, count int, compare func(a, b candidate) int) []candidate {
	slices.SortFunc(candidates, compare)
	queues := map[string][]candidate{}
	for _, c := range candidates {
		queues[c.zone()] = append(queues[c.zone()], c)
	}
	count = min(count, len(candidates))
	chosen := make([]candidate, 0, max(count, 0))
	for len(chosen) < count {
		zone := fullest(queues, left, compare)
		chosen = append(chosen, queues[zone][0])
		left[zone]--
		if queues[zone] = queues[zone][1:]; len(queues[zone]) == 0 {
			delete(queues, zone)
		}
	}
	return chosen
}

// fullest returns the zone with the most members left; among equal ones, the one whose first
// candidate comes first.
func fullest(queues map[string][]candidate, left map[string]int, compare func(a, b candidate) int) string {
	return slices.MinFunc(slices.Collect(maps.Keys(queues)), func(a, b string) int {
		return cmp.Or(cmp.Compare(left[b], left[a]), compare(queues[a][0], queues[b][0]))
	})
}
