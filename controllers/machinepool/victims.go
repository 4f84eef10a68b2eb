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
	byZone := map[string]int{}
	var candidates []member
	for _, m := range members {
		if !m.live() {
			continue
		}
		byZone[m.zone()]++
		if m.fooMachine != nil {
			candidates = append(candidates, m)
		}
	}
	slices.SortFunc(candidates, compareVictims)

	var chosen []member
	for len(chosen) < count && len(candidates) > 0 {
		best := bestOf(candidates, byZone)
		chosen = append(chosen, candidates[best])
		byZone[candidates[best].zone()]--
		candidates = slices.Delete(candidates, best, best+1)
	}
	return chosen
}

// compareVictims orders by all that does not change while victims are chosen.
func compareVictims(a, b member) int {
	return cmp.Or(
		cmp.Compare(rankOf(a), rankOf(b)),
		a.createdAt().Compare(b.createdAt()),
		strings.Compare(a.name, b.name),
	)
}

// bestOf returns the index of the first candidate, among those of the lowest rank, of a zone that has the most members.
func bestOf(candidates []member, byZone map[string]int) int {
	best := 0
	lowest := rankOf(candidates[0])
	for i, m := range candidates {
		if rankOf(m) != lowest {
			break
		}
		if byZone[m.zone()] > byZone[candidates[best].zone()] {
			best = i
		}
	}
	return best
}
