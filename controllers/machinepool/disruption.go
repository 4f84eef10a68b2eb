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

// budget counts the members while some of them are chosen to go. No choice looks at a member twice, so the whole decision
// takes as long for each member in a large pool as in a small one, but for sorting.
type budget struct {
	policy
	// candidates are the members that may go; once repair has chosen, broken has those that it leaves for later.
	candidates, broken []candidate
	// live members are to stay; available of them work, and updated of them have the current revision.
	live, available, updated, updatedAvailable int
	// leaving members are on their way out, but for those that take too long and those without an instance; draining members still
	// count in the cloud.
	leaving, draining int
	// starting members may still become available in time.
	starting int
	zones    map[string]int
	result   disruption
}

// disrupt decides which members go now and how many instances the pool is to have. At no time has it
//   - fewer available members than replicas less maxUnavailable because of what it decides, but for a shrink that was asked for,
//   - or more instances than replicas and maxSurge because of what it decides.
//
// Members that do not work go first, and not more at a time than maxUnavailable and at least one, counting those on their
// way in and out: whoever says that they do not work may be wrong. A drain that takes too long counts no more. Members without an
// instance go at once: the cloud never omits an instance that exists. Members that the cloud takes back go at once, however many: they work no longer than until then, and whether they are drained before is all that is left to
// decide.
func disrupt(members []member, p policy) disruption {
	b := newBudget(members, p)
	b.repair()
	b.scaleDown()
	b.rollOut()
	b.resize()
	return b.result
}

func newBudget(members []member, p policy) *budget {
	b := &budget{policy: p, zones: map[string]int{}}
	for _, m := range members {
		c := p.assess(m)
		switch {
		case m.leaving():
			if m.instance != nil && !p.stuck(m) {
				b.leaving++
				b.look(p.stuckAt(m))
			}
			if m.counted() {
				b.draining++
			}
			continue
		case m.live():
			b.count(c, 1)
			b.look(c.deadline)
		}
		if m.machine != nil && (m.fooMachine != nil || m.lost()) {
			b.candidates = append(b.candidates, c)
		}
	}
	return b
}

// count adds a live member to all counts it belongs to, or takes it away.
func (b *budget) count(c candidate, by int) {
	b.live += by
	b.zones[c.zone()] += by
	if c.state == stateStarting {
		b.starting += by
	}
	if c.state == stateAvailable {
		b.available += by
	}
	if c.outdated {
		return
	}
	b.updated += by
	if c.state == stateAvailable {
		b.updatedAvailable += by
	}
}

func (b *budget) look(at time.Time) {
	if !at.IsZero() && (b.result.next.IsZero() || at.Before(b.result.next)) {
		b.result.next = at
	}
}

// remove chooses a member to go.
func (b *budget) remove(c candidate, why cause) {
	v := victim{member: c.member, why: why}
	if c.failedToJoin() {
		v.failure = c.problem
	}
	b.result.victims = append(b.result.victims, v)
	if !c.live() {
		return
	}
	b.leaving++
	b.count(c, -1)
	b.draining++
}

// repair takes away what does not work: all that is lost, since nothing is left of it that could be disrupted, and the rest by age.
func (b *budget) repair() {
	broken, rest := split(b.candidates, func(c candidate) bool { return c.state == stateBroken })
	b.candidates = rest
	slices.SortFunc(broken, b.compare)
	failed, retry := b.failedBudget()
	for _, c := range broken {
		if c.why != causeReclaim && !c.lost() && b.leaving+b.starting >= b.repairLimit() {
			b.broken = append(b.broken, c)
			continue
		}
		counts := c.failedToJoin() && !slices.Contains(b.counted, c.name)
		if counts && failed == 0 {
			b.broken = append(b.broken, c)
			b.look(retry)
			continue
		}
		if counts {
			failed--
		}
		b.remove(c, c.why)
	}
}

// scaleDown takes away what is too many, also of what is broken and could not be repaired yet: before that goes, nothing that works
// does. What is lost is none of those that are too many. While a rollout runs, the surge is not too many, but for members that are
// marked for deletion, which the rollout would keep: who made the pool smaller meant them.
func (b *budget) scaleDown() {
	if b.scaling != scalingHere {
		return
	}
	allowed := b.replicas
	if b.rollsOut() {
		allowed += b.maxSurge
	}
	broken, _ := split(b.broken, candidate.live)
	marked, others := split(slices.Concat(b.candidates, broken), func(c candidate) bool {
		return b.rollsOut() && c.marked() && !c.outdated
	})
	b.take(marked, b.live-b.replicas, causeScaleDown)
	b.take(others, b.live-allowed, causeScaleDown)
}

// rollOut takes away outdated members, as many as members of the current revision have become available in their place.
func (b *budget) rollOut() {
	if !b.rollsOut() {
		return
	}
	outdated, _ := split(b.candidates, func(c candidate) bool { return c.outdated })
	count := b.live - b.minAvailable() - (b.updated - b.updatedAvailable)
	b.take(outdated, count, causeRollout)
}

// rollsOut reports whether there are outdated members to replace.
func (b *budget) rollsOut() bool { return b.rollout == rolloutRuns && b.live > b.updated }

// take takes up to count of the members away, and none that works where that leaves too few.
func (b *budget) take(from []candidate, count int, why cause) {
	if count <= 0 {
		return
	}
	gone := map[string]bool{}
	for _, c := range victims(from, b.zones, len(from), b.compare) {
		if len(gone) == count {
			break
		}
		if c.state == stateAvailable && b.available <= b.minAvailable() {
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
		missing = b.replicas - b.updated
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
