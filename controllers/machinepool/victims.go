/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package machinepool

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
)

// rank orders members by how little is lost with them; the lowest goes first.
type rank int

const (
	// rankMarked is a member that a user or the cluster autoscaler has marked for deletion.
	rankMarked rank = iota
	// rankBroken is a member that can never work again.
	rankBroken
	// rankUnfinished is a member that does not work yet.
	rankUnfinished
	// rankWorking is a member that works.
	rankWorking
)

func rankOf(m member) rank {
	switch {
	case m.hasAnnotation(clusterv1.DeleteMachineAnnotation):
		return rankMarked
	case m.instance.State.Terminal() || m.instance.Bootstrap.State == cloud.BootstrapFailed:
		return rankBroken
	case !m.ready():
		return rankUnfinished
	default:
		return rankWorking
	}
}

// victims chooses which members go so that count fewer are left: by rank, then from the zone that has the most, so that
// what is left stays spread, then the oldest, then by name. The same members always give the same victims.
func victims(members []member, count int) []member {
	left := map[string]int{}
	byRank := map[rank][]member{}
	for _, m := range members {
		if !m.live() {
			continue
		}
		left[m.zone()]++
		if m.fooMachine != nil {
			byRank[rankOf(m)] = append(byRank[rankOf(m)], m)
		}
	}
	var chosen []member
	for r := rankMarked; r <= rankWorking && len(chosen) < count; r++ {
		chosen = append(chosen, fromFullestZones(byRank[r], left, count-len(chosen))...)
	}
	return chosen
}

// fromFullestZones chooses up to count candidates, one after the other from the zone that has the most members left, and
// counts left down. It costs as much per choice as there are zones, however many candidates there are.
func fromFullestZones(candidates []member, left map[string]int, count int) []member {
	slices.SortFunc(candidates, compareByAge)
	queues := map[string][]member{}
	for _, m := range candidates {
		queues[m.zone()] = append(queues[m.zone()], m)
	}
	count = min(count, len(candidates))
	chosen := make([]member, 0, max(count, 0))
	for len(chosen) < count {
		zone := fullest(queues, left)
		chosen = append(chosen, queues[zone][0])
		left[zone]--
		if queues[zone] = queues[zone][1:]; len(queues[zone]) == 0 {
			delete(queues, zone)
		}
	}
	return chosen
}

// fullest returns the zone with the most members left; of equal ones, that with the oldest candidate.
func fullest(queues map[string][]member, left map[string]int) string {
	return slices.MinFunc(slices.Collect(maps.Keys(queues)), func(a, b string) int {
		return cmp.Or(cmp.Compare(left[b], left[a]), compareByAge(queues[a][0], queues[b][0]))
	})
}

func compareByAge(a, b member) int {
	return cmp.Or(a.createdAt().Compare(b.createdAt()), strings.Compare(a.name, b.name))
}
