// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/lru"

	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
)

const (
	// unseenGrace is how long what was last known of a workload cluster is shown by default while it cannot be reached.
	unseenGrace = 5 * time.Minute
	// sightGap is how far apart two looks may be for what both see to have lasted from one to the other. What is broken is looked
	// at every few seconds, unless the control plane is paused.
	sightGap = 2 * time.Minute
	// memoriesKept bounds how many control planes are remembered. One that is forgotten is as one that is seen for the first time.
	memoriesKept = 10000
)

// memories holds what is remembered of each control plane between reconciles. A manager that starts remembers nothing, and
// waits as long as for something that it sees for the first time.
type memories struct{ kept *lru.Cache }

func newMemories() memories { return memories{kept: lru.New(memoriesKept)} }

// memory is what is remembered of one control plane. Only the reconcile of that control plane uses it.
type memory struct {
	// lastSeen is when the workload cluster could be observed last, or when it was first tried; zero if it never was.
	lastSeen time.Time
	// strays, broken and provisioned are since when members of etcd have belonged to no Machine, and since when Machines have
	// been broken and their infrastructure has been up.
	strays              map[uint64]time.Time
	broken, provisioned map[string]time.Time
	// brokenSeen is when it was last taken down which Machines are broken.
	brokenSeen time.Time
	// leaving are the Nodes of Machines that were let go.
	leaving sets.Set[string]
	// failed are the effects that failed, or found the cache behind.
	failed attempts
	// random is that part of the name of the next Machine. It stays the same until the Machine exists: an error that named
	// another Machine each time would be another error each time.
	random string
	// made is what the newest Machine was made with, until that is applied.
	made *made
	// tokens are when the tokens of Machines that have yet to join were last kept, by Machine.
	tokens map[string]time.Time
	// refused is what was last said to be wrong with the spec.
	refused string
	// addons are those that were in step.
	addons addonsSeen
}

// made is what a Machine was made with of what may change in place.
type made struct {
	machine            string
	settings, metadata map[string]any
}

func (m memories) of(owner types.UID) *memory {
	value, _ := m.kept.Get(owner)
	if known, ok := value.(*memory); ok {
		return known
	}
	fresh := &memory{failed: attempts{}}
	m.kept.Add(owner, fresh)
	return fresh
}

// noteStrays takes down which members belong to no Machine now.
func (m *memory) noteStrays(now time.Time, members []plan.Member) {
	ids := make([]uint64, 0, len(members))
	for _, member := range members {
		ids = append(ids, member.ID)
	}
	m.strays = since(m.strays, now, ids)
}

// noteBroken takes down which Machines are broken now, by name, at every look. Who could not look says that none is: what is
// not seen may have been well for a while.
func (m *memory) noteBroken(now time.Time, machines []string) {
	if now.Sub(m.brokenSeen) > sightGap {
		m.broken = nil
	}
	m.broken, m.brokenSeen = since(m.broken, now, machines), now
}

// since drops what is no longer so, and takes down since when the rest has been so.
func since[K comparable](before map[K]time.Time, now time.Time, current []K) map[K]time.Time {
	result := make(map[K]time.Time, len(current))
	for _, key := range current {
		result[key] = now
		if first, ok := before[key]; ok {
			result[key] = first
		}
	}
	return result
}

// noteLook takes down a look at the workload cluster. One that was never seen is given its grace from the first look on.
func (m *memory) noteLook(now time.Time, failure error) {
	if failure == nil || m.lastSeen.IsZero() {
		m.lastSeen = now
	}
}

// stillShown says whether what was known before is shown though the workload cluster cannot be observed now.
func (s *scope) stillShown() bool {
	return s.observation == nil && !s.memory.lastSeen.IsZero() && s.now.Sub(s.memory.lastSeen) < cmp.Or(s.unseenGrace, unseenGrace)
}

// nextRandom returns the random part of the next Machine's name, and whether it was used before, for a Machine that could not
// be created.
func (m *memory) nextRandom() (random string, used bool) {
	if m.random != "" {
		return m.random, true
	}
	m.random = rand.String(randomLength)
	return m.random, false
}
