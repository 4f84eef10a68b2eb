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

package controlplane

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
)

const (
	// unseenGrace is how long what was last known of a workload cluster is shown by default while it cannot be reached.
	unseenGrace = 5 * time.Minute
	// historyKnown bounds for how many control planes something is remembered. One that is forgotten is as one that is seen
	// for the first time.
	historyKnown = 10000
)

// history remembers of each control plane when its workload cluster could be observed last, since when members of its etcd
// have belonged to no Machine, since when Machines have been broken, and the Nodes of Machines that were let go. A manager that
// starts has no history, and waits as long as for something that it sees for the first time.
type history struct {
	known  *lru.Cache
	alone  *lru.Cache
	failed *lru.Cache
	left   *lru.Cache
}

func newHistory() *history {
	return &history{known: lru.New(historyKnown), alone: lru.New(historyKnown), failed: lru.New(historyKnown), left: lru.New(historyKnown)}
}

// strays takes down which members belong to no Machine now, and returns since when each has.
func (h *history) strays(owner types.UID, now time.Time, members []plan.Member) map[uint64]time.Time {
	ids := make([]uint64, 0, len(members))
	for _, member := range members {
		ids = append(ids, member.ID)
	}
	return since(h.alone, owner, now, ids)
}

// broken takes down which Machines are broken now, by name, and returns since when each has been, at every look. Who could
// not look says that none is: what is not seen may have been well for a while.
func (h *history) broken(owner types.UID, now time.Time, machines []string) map[string]time.Time {
	return since(h.failed, owner, now, machines)
}

// since takes down what is so now, forgets what is not, and returns since when each has been so.
func since[K comparable](memory *lru.Cache, owner types.UID, now time.Time, current []K) map[K]time.Time {
	var before map[K]time.Time
	if value, ok := memory.Get(owner); ok {
		before, _ = value.(map[K]time.Time)
	}
	if len(current) == 0 && len(before) == 0 {
		return nil
	}
	result := make(map[K]time.Time, len(current))
	for _, key := range current {
		result[key] = now
		if first, ok := before[key]; ok {
			result[key] = first
		}
	}
	memory.Add(owner, result)
	return result
}

// last returns when a control plane was last seen, which is now if there is no failure. One that was never seen is given
// its grace from its first failure on.
func (h *history) last(owner types.UID, now time.Time, failure error) time.Time {
	if value, ok := h.known.Get(owner); ok && failure != nil {
		if seen, ok := value.(time.Time); ok {
			return seen
		}
	}
	h.known.Add(owner, now)
	return now
}

// stillShown says whether what was known before is shown though the workload cluster cannot be observed now.
func (s *scope) stillShown() bool {
	return s.observation == nil && !s.lastSeen.IsZero() && s.now.Sub(s.lastSeen) < cmp.Or(s.unseenGrace, unseenGrace)
}

// leave takes down the Node of a Machine that is let go.
func (h *history) leave(owner types.UID, node string) {
	nodes := h.leaving(owner)
	if node != "" && !slices.Contains(nodes, node) {
		h.left.Add(owner, append(slices.Clone(nodes), node))
	}
}

// leaving are the Nodes of the Machines that were let go.
func (h *history) leaving(owner types.UID) []string {
	value, _ := h.left.Get(owner)
	nodes, _ := value.([]string)
	return nodes
}

// forget drops Nodes of Machines that are gone.
func (h *history) forget(owner types.UID, gone []string) {
	h.left.Add(owner, slices.DeleteFunc(slices.Clone(h.leaving(owner)), func(node string) bool { return slices.Contains(gone, node) }))
}
