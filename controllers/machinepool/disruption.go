// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"slices"
	"time"
)

// cause is why a member has to go.
type cause string

const (
	causeScaleDown   cause = "ScaleDown"
	causeRollout     cause = "Rollout"
	causeRepair      cause = "Repair"
	causeRemediation cause = "Remediation"
	causeReclaim     cause = "Reclaim"
	causePoolDeleted cause = "PoolDeleted"
)

// victim is a member that has to go, and why.
type victim struct {
	member

	why cause
	// failure says why it did not join; empty unless that counts.
	failure string
}

// disruption is what is done to the members of a pool now. It is the only decision about members to go while the pool stays.
type disruption struct {
	victims []victim
	// size is how many instances the pool is to have in the cloud, those included that are being drained.
	size int
	// next is when to decide again though nothing happens; zero for never.
	next time.Time
}

// budget counts the members while some of them are chosen. No choice looks at a member twice, so the whole decision takes as long
// for each member in a large pool as in a small one, but for sorting.
type budget struct {
	policy
	// candidates are the members that may be chosen; once repair has chosen, broken has those that it leaves for later.
	candidates, broken []candidate
	// live members are to stay; available of them work, and outdated of them have an earlier revision.
	live, available, outdated, ready int
	// leaving members are on their way out and delay repair; draining members still count in the cloud.
	leaving, draining int
	// starting members may still become available in time.
	starting int
	zones    map[string]int
	result   disruption
}

// disrupt decides which members are removed now and how many instances the pool is to have. At no time has it
//   - fewer available members than replicas less maxUnavailable because of what it decides, but for a scale-down that was asked for,
//   - or more instances than replicas and maxSurge because of what it decides.
//
// At most maxUnavailable members that do not work are removed at a time, and at least one, counting those on their way in and out:
// whoever says that they do not work may be wrong. A drain that takes too long counts no more. Members without an instance are removed
// at once: the cloud omits no instance that exists. Members that the cloud takes back are removed at once too: all that is left to decide
// is whether they are drained before.
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

// count adds a member to all counts it belongs to, or takes it away.
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
	if c.state.starting() {
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

// remove chooses a member.
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

// repair removes what does not work: all that is lost or taken back, and of the rest the first by the delete policy.
func (b *budget) repair() {
	broken, rest := split(b.candidates, func(c candidate) bool { return c.state.broken() })
	b.candidates = rest
	slices.SortFunc(broken, compare)
	failed, retry := b.failedBudget()
	for _, c := range broken {
		if c.state != stateReclaimed && c.state != stateLost && b.leaving+b.starting >= b.repairLimit() {
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

// scaleDown removes what is too many, also of what is broken and could not be repaired yet: before that is removed, nothing that works
// is. While a rollout runs, the surge is not too many, but for members that are marked for deletion, which the rollout would keep:
// whoever made the pool smaller meant them.
func (b *budget) scaleDown() {
	if b.scaling != scalingHere {
		return
	}
	allowed := b.replicas
	if b.rollsOut() {
		allowed += b.maxSurge
	}
	marked, others := split(slices.Concat(b.candidates, b.broken), func(c candidate) bool {
		return b.rollsOut() && c.marked() && !c.state.outdated()
	})
	b.take(victims(marked, b.zones, len(marked), compare), b.live-b.replicas, causeScaleDown)
	b.take(victims(others, b.zones, len(others), compare), b.live-allowed, causeScaleDown)
}

// rollOut removes outdated members, as many as members of the current revision have become available in their place.
func (b *budget) rollOut() {
	if !b.rollsOut() {
		return
	}
	outdated, _ := split(b.candidates, func(c candidate) bool { return c.state.outdated() })
	// The zone with the most to replace and the least replaced comes first: the cloud makes the next instance where it leaves a gap.
	zones := map[string]int{}
	for zone, live := range b.zones {
		zones[zone] = -live
	}
	for _, c := range outdated {
		zones[c.zone()] += 2
	}
	b.take(victims(outdated, zones, len(outdated), compare), b.outdated+b.ready-b.minAvailable(), causeRollout)
}

// rollsOut reports whether there are outdated members to replace.
func (b *budget) rollsOut() bool { return b.rollout == rolloutRuns && b.outdated > 0 }

// take removes the first of the members, up to count, and none that works where that leaves too few.
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

// resize orders what is missing, with room for what is not gone yet.
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
