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
	// unseenGrace is the default for how long to show the last known state of an unreachable workload
	// cluster.
	unseenGrace = 5 * time.Minute
	// sightGap is the longest gap between two observations after which a problem seen in both counts
	// as having lasted throughout. Broken Machines are observed every few seconds, unless the control
	// plane is paused.
	sightGap = 2 * time.Minute
	// memoriesKept limits how many control planes are remembered. A forgotten one is treated like a
	// new one.
	memoriesKept = 10000
)

// memories holds what the manager remembers of each control plane between reconciles. A manager
// that has just started remembers nothing, so its grace periods start again.
type memories struct{ kept *lru.Cache }

func newMemories() memories { return memories{kept: lru.New(memoriesKept)} }

// memory is what is remembered of one control plane. Only that control plane's reconcile uses it.
type memory struct {
	// lastSeen is when the workload cluster was last observed, or else first tried; zero if it never
	// was.
	lastSeen time.Time
	// strays holds since when etcd members have belonged to no Machine; broken, since when Machines
	// have been broken; provisioned, since when their infrastructure has been up.
	strays              map[uint64]time.Time
	broken, provisioned map[string]time.Time
	// brokenSeen is when broken was last updated.
	brokenSeen time.Time
	// leaving holds the Nodes of Machines that were released.
	leaving sets.Set[string]
	// failed holds the effects that failed or found the cache stale.
	failed attempts
	// random is the random part of the next Machine's name. It stays the same until the Machine
	// exists, since an error that names a different Machine each time would look like a new error each
	// time.
	random string
	// made is what the newest Machine was made with, until that is applied.
	made *made
	// tokens maps Machines that have yet to join to when their token was last extended.
	tokens map[string]time.Time
	// refused is the last reported problem with the spec.
	refused string
	addons  addonsSeen
}

// made holds the in-place mutable fields that a Machine was made with.
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

// noteStrays records which members belong to no Machine now.
func (m *memory) noteStrays(now time.Time, members []plan.Member) {
	ids := make([]uint64, 0, len(members))
	for _, member := range members {
		ids = append(ids, member.ID)
	}
	m.strays = since(m.strays, now, ids)
}

// noteBroken records which Machines are broken now, by name, at every observation. A failed
// observation passes none: a Machine that was not seen may have recovered in between.
func (m *memory) noteBroken(now time.Time, machines []string) {
	if now.Sub(m.brokenSeen) > sightGap {
		m.broken = nil
	}
	m.broken, m.brokenSeen = since(m.broken, now, machines), now
}

// since drops the keys that are no longer current, and records now for new ones.
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

// noteLook records an observation of the workload cluster. The grace period of a cluster that was
// never observed starts with the first attempt.
func (m *memory) noteLook(now time.Time, failure error) {
	if failure == nil || m.lastSeen.IsZero() {
		m.lastSeen = now
	}
}

// stillShown reports whether to keep showing the last known state although the workload cluster
// cannot be observed now.
func (s *scope) stillShown() bool {
	return s.observation == nil && !s.memory.lastSeen.IsZero() && s.now.Sub(s.memory.lastSeen) < cmp.Or(s.unseenGrace, unseenGrace)
}

// nextRandom returns the random part of the next Machine's name, and whether an earlier attempt to
// create a Machine used it.
func (m *memory) nextRandom() (random string, used bool) {
	if m.random != "" {
		return m.random, true
	}
	m.random = rand.String(randomLength)
	return m.random, false
}
