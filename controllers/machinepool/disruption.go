// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// cause is why a member is removed.
type cause string

const (
	causeScaleDown   cause = "ScaleDown"
	causeRollout     cause = "Rollout"
	causeRepair      cause = "Repair"
	causeRemediation cause = "Remediation"
	causeReclaim     cause = "Reclaim"
	causePoolDeleted cause = "PoolDeleted"
)

// victim is a member to remove, and why.
type victim struct {
	member

	why cause
	// failure is why the member did not join; empty unless it counts as a failure.
	failure string
}

// disruption is what to do with the members of a pool now. While the pool stays, nothing else
// decides about removing members.
type disruption struct {
	victims []victim
	// size is how many instances the pool should have in the cloud, including those being drained.
	size int
	// next is when to decide again if nothing happens before; zero for never.
	next time.Time
}

// budget counts the members while some of them are chosen. No choice looks at a member twice, so
// the cost per member is the same in a large pool as in a small one, except for sorting.
type budget struct {
	policy
	// candidates holds the members that may be chosen; broken holds those that repair leaves for
	// later.
	candidates, broken []candidate
	// live counts the members that stay. Of them, available work, outdated have an earlier
	// revision, and ready are Ready.
	live, available, outdated, ready int
	// leaving counts the members on their way out that delay repair; draining counts those that the
	// cloud still counts.
	leaving, draining int
	// starting counts the members that may still become available in time, and waiting those that wait
	// for capacity, which may take forever.
	starting, waiting int
	zones             map[string]int
	result            disruption
}

// disrupt decides which members are removed now and how many instances the pool should have. Its
// decisions never cause
//   - fewer available members than replicas minus maxUnavailable, except in a scale-down,
//   - or more instances than replicas plus maxSurge.
//
// Up to maxUnavailable broken members are removed at a time, or one if it is 0, counting those on their
// way in and out. Members that wait for capacity count only if a MachineHealthCheck reported the broken
// one, since only that report may be wrong. A drain that takes too long no longer counts. Members whose
// instance is gone or being deleted are removed immediately: the cloud omits no instance that exists,
// and keeps none that it deletes. Members that the cloud reclaims are removed immediately too: the only
// choice left is whether they are drained first.
func disrupt(all []candidate, p policy) disruption {
	b := newBudget(all, p)
	b.repair()
	b.scaleDown()
	b.rollOut()
	b.resize()
	return b.result
}

func newBudget(all []candidate, p policy) *budget {
	b := &budget{policy: p, zones: map[string]int{}}
	for _, c := range all {
		b.lookAgain(c.deadline)
		b.count(c, 1)
		if (c.state.stays() && c.machine != nil && c.fooMachine != nil) || (c.state == stateLost && c.machine != nil) {
			b.candidates = append(b.candidates, c)
		}
	}
	return b
}

// count adds a member to all counts that it belongs to, or subtracts it.
func (b *budget) count(c candidate, by int) {
	if !c.state.stays() {
		if c.state == stateLeaving && c.instance != nil {
			b.leaving += by
		}
		if c.counted() {
			b.draining += by
		}
		return
	}
	b.live += by
	b.zones[c.zone()] += by
	switch {
	case c.state.starting() && c.waitsForCapacity():
		b.waiting += by
	case c.state.starting():
		b.starting += by
	}
	if c.state.available() {
		b.available += by
	}
	if c.state.outdated() {
		b.outdated += by
	}
	if c.state == stateReady {
		b.ready += by
	}
}

func (b *budget) lookAgain(at time.Time) {
	if at.After(b.now) && (b.result.next.IsZero() || at.Before(b.result.next)) {
		b.result.next = at
	}
}

// remove chooses a member as a victim.
func (b *budget) remove(c candidate, why cause) {
	v := victim{member: c.member, why: why}
	if c.state == stateFailed {
		v.failure = c.problem
	}
	b.result.victims = append(b.result.victims, v)
	b.count(c, -1)
	c.state = stateLeaving
	b.count(c, 1)
}

// repair removes broken members: all that are lost or reclaimed, and of the rest the first by the
// delete policy.
func (b *budget) repair() {
	broken, rest := split(b.candidates, func(c candidate) bool { return c.state.broken() })
	b.candidates = rest
	slices.SortFunc(broken, compare)
	failed, retry := b.failedBudget()
	for _, c := range broken {
		if c.state != stateReclaimed && c.state != stateLost && b.inMotion(c) >= b.repairLimit() {
			b.broken = append(b.broken, c)
			continue
		}
		if c.state == stateFailed && !slices.Contains(b.counted, c.name) {
			if failed == 0 {
				b.broken = append(b.broken, c)
				b.lookAgain(retry)
				continue
			}
			failed--
		}
		b.remove(c, c.why)
	}
}

// inMotion returns how many members delay the repair of a broken one. Those that wait for capacity do not
// delay it if the instance is certainly of no use: its removal may be what makes the room.
func (b *budget) inMotion(broken candidate) int {
	if broken.why == causeRemediation {
		return b.leaving + b.starting + b.waiting
	}
	return b.leaving + b.starting
}

// scaleDown removes surplus members, including broken ones that could not be repaired yet: those
// are removed before any that works. While a rollout runs, the surge is not surplus, except for
// members that are marked for deletion and that the rollout would keep: whoever shrank the pool
// wants these removed.
func (b *budget) scaleDown() {
	if b.scaling == scalingElsewhere || b.scaling == scalingWaits || (b.scaling == scalingRestores && b.rollsOut()) {
		return
	}
	allowed := b.replicas
	if b.rollsOut() {
		allowed += b.maxSurge
	}
	marked, others := split(slices.Concat(b.candidates, b.broken), func(c candidate) bool {
		return b.rollsOut() && c.marked() && !c.state.outdated()
	})
	b.take(victims(marked, b.zones), b.live-b.replicas, causeScaleDown)
	b.take(victims(others, b.zones), b.live-allowed, causeScaleDown)
}

// rollOut removes as many outdated members as members of the current revision have become available
// in their place.
func (b *budget) rollOut() {
	if !b.rollsOut() {
		return
	}
	outdated, _ := split(b.candidates, func(c candidate) bool { return c.state.outdated() })
	// The zone with the most to replace and the least replaced comes first: the cloud creates the
	// next instance where that leaves a gap.
	zones := map[string]int{}
	for zone, live := range b.zones {
		zones[zone] = -live
	}
	for _, c := range outdated {
		zones[c.zone()] += 2
	}
	b.take(victims(outdated, zones), b.outdated+b.ready-b.minAvailable(), causeRollout)
}

// rollsOut reports whether there are outdated members to replace.
func (b *budget) rollsOut() bool { return b.rollout == rolloutRuns && b.outdated > 0 }

// take removes the first members, up to count. It skips working members whose removal would leave
// too few.
func (b *budget) take(from []candidate, count int, why cause) {
	if count <= 0 {
		return
	}
	gone := map[string]bool{}
	for _, c := range from {
		if len(gone) == count {
			break
		}
		if c.state.available() && b.available <= b.minAvailable() {
			continue
		}
		b.remove(c, why)
		gone[c.name] = true
	}
	_, b.candidates = split(b.candidates, func(c candidate) bool { return gone[c.name] })
}

// resize orders the missing instances, as far as those not gone yet leave room.
func (b *budget) resize() {
	counted := b.live + b.draining
	missing := b.replicas - b.live
	if b.rollsOut() {
		missing += b.outdated
	}
	room := b.replicas + b.maxSurge - counted
	b.result.size = counted + max(min(missing, room), 0)
}

func split(all []candidate, matches func(candidate) bool) (matching, others []candidate) {
	for _, c := range all {
		if matches(c) {
			matching = append(matching, c)
		} else {
			others = append(others, c)
		}
	}
	return matching, others
}

// victims orders candidates by rank, then so that the rest stays spread: first from the zone with the
// most members left, then in the order of compare. The same candidates always get the same order.
func victims(candidates []candidate, zones map[string]int) []candidate {
	slices.SortFunc(candidates, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.rank(), b.rank()), compare(a, b)) })
	left, turns := maps.Clone(zones), map[string]int{}
	for _, c := range candidates {
		turns[c.name] = left[c.zone()] // how many its zone has left when it is its turn there
		left[c.zone()]--
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(turns[b.name], turns[a.name]), compare(a, b))
	})
	return candidates
}
