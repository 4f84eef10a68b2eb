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
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

const (
	// unseenGrace is how long what was last known of a workload cluster is shown while it can not be reached.
	unseenGrace = 5 * time.Minute
	// sightingsKnown bounds for how many control planes it is remembered when they were seen; of one that is forgotten it
	// is as if it was seen when it was next tried.
	sightingsKnown = 10000
)

// sightings remembers of each control plane when its workload cluster could be observed last, and since when members of its
// etcd have belonged to no Machine.
type sightings struct {
	known *lru.Cache
	alone *lru.Cache
}

func newSightings() *sightings {
	return &sightings{known: lru.New(sightingsKnown), alone: lru.New(sightingsKnown)}
}

// strays takes down which members belong to no Machine now, and returns since when each has.
func (m *sightings) strays(owner types.UID, now time.Time, members []workload.Member) map[uint64]time.Time {
	var before map[uint64]time.Time
	if value, ok := m.alone.Get(owner); ok {
		before, _ = value.(map[uint64]time.Time)
	}
	if len(members) == 0 && len(before) == 0 {
		return nil
	}
	since := make(map[uint64]time.Time, len(members))
	for _, member := range members {
		since[member.ID] = now
		if first, ok := before[member.ID]; ok {
			since[member.ID] = first
		}
	}
	m.alone.Add(owner, since)
	return since
}

// last returns when a control plane was last seen, which is now if there is no failure. One that was never seen is given
// its grace from its first failure on.
func (m *sightings) last(owner types.UID, now time.Time, failure error) time.Time {
	if value, ok := m.known.Get(owner); ok && failure != nil {
		if seen, ok := value.(time.Time); ok {
			return seen
		}
	}
	m.known.Add(owner, now)
	return now
}

// stillShown says whether what was known before is shown though the workload cluster can not be observed now.
func (s *scope) stillShown() bool {
	return s.observation == nil && !s.lastSeen.IsZero() && s.now.Sub(s.lastSeen) < unseenGrace
}
