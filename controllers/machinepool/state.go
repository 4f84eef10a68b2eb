// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// state is what a member is to its pool. Each reconcile derives it once; budget, victims,
// conditions and status read it.
//
//	state                what is known about the member                         stays  available  replaced by
//	Starting             its instance has not finished its bootstrap            yes    no         -
//	Joining              its bootstrap succeeded; its Machine is not available  yes    no         -
//	Ready                its Machine is available                               yes    yes        -
//	Unavailable          its Node joined, and is not available in time          yes    no         a MachineHealthCheck
//	Outdated             an earlier revision, available                         yes    yes        rollout
//	OutdatedUnavailable  an earlier revision, not available                     yes    no         rollout
//	Failed               the current revision, never joined and will not        yes    no         repair, which counts it
//	Broken               does not work, or a MachineHealthCheck says so         yes    no         repair
//	Reclaimed            works until the cloud takes it back                    yes    no         repair, immediately
//	Lost                 its instance is gone or going, its Machine stays       no     no         repair, immediately
//	Leaving              its Machine or FooMachine is being deleted             no     no         -
//	Stuck                its deletion takes longer than a Node may take to join no     no         -
//
// Nothing removes an instance in one of the first six states while it has no Machine.
type state string

const (
	stateStarting            state = "Starting"
	stateJoining             state = "Joining"
	stateReady               state = "Ready"
	stateUnavailable         state = "Unavailable"
	stateOutdated            state = "Outdated"
	stateOutdatedUnavailable state = "OutdatedUnavailable"
	stateFailed              state = "Failed"
	stateBroken              state = "Broken"
	stateReclaimed           state = "Reclaimed"
	stateLost                state = "Lost"
	stateLeaving             state = "Leaving"
	stateStuck               state = "Stuck"
)

// stays reports whether the member is one of the instances that the pool should have.
func (s state) stays() bool { return s != stateLost && s != stateLeaving && s != stateStuck }

// available reports whether the member takes load.
func (s state) available() bool { return s == stateReady || s == stateOutdated }

// outdated reports whether a rollout replaces the member.
func (s state) outdated() bool { return s == stateOutdated || s == stateOutdatedUnavailable }

// broken reports whether repair replaces the member.
func (s state) broken() bool {
	return s == stateFailed || s == stateBroken || s == stateReclaimed || s == stateLost
}

// starting reports whether the member may become available in time.
func (s state) starting() bool { return s == stateStarting || s == stateJoining }

// runs reports whether the instance runs and its bootstrap succeeded.
func (s state) runs() bool {
	return s == stateJoining || s == stateReady || s == stateUnavailable || s == stateOutdated || s == stateReclaimed
}

// candidate is a member with its state.
type candidate struct {
	member

	state state
	// why and problem are why the member has to be replaced, if repair replaces members in its
	// state.
	why     cause
	problem string
	// replaced is true if the member has to be replaced, even if it is already on its way out.
	replaced bool
	// deadline is when its state changes by time alone; zero for never.
	deadline time.Time
	// order is its place in the order of the delete policy.
	order int64
}

// assess derives the states of all members.
func (p policy) assess(members []member) []candidate {
	all := make([]candidate, 0, len(members))
	for _, m := range members {
		c := candidate{member: m, order: p.orderOf(m)}
		p.derive(&c)
		all = append(all, c)
	}
	return all
}

// derive sets the state of a member and the fields that go with it.
func (p policy) derive(c *candidate) {
	outdated := c.instance != nil && p.revision != "" && c.instance.Revision != p.revision
	c.why, c.problem = p.broken(c.member)
	c.replaced = c.why != "" || outdated
	switch {
	case c.leaving():
		c.deadline = p.stuckAt(c.member)
		c.state = map[bool]state{true: stateLeaving, false: stateStuck}[c.deadline.IsZero() || p.now.Before(c.deadline)]
	case !c.counted():
		c.state = stateLost
	case c.why == causeReclaim:
		c.state = stateReclaimed
	case c.why != "":
		c.state = failedOr(stateBroken, outdated, c.member)
	case c.available():
		c.state = map[bool]state{true: stateOutdated, false: stateReady}[outdated]
	default:
		p.deriveUnavailable(c, outdated)
	}
}

// deriveUnavailable sets the state of a member whose only problem is that its Machine is not
// available.
func (p policy) deriveUnavailable(c *candidate, outdated bool) {
	deadline := p.joinDeadline(c.member)
	if c.joined() {
		deadline = deadline.Add(p.minReady)
	}
	late := !p.now.Before(deadline)
	switch {
	case c.waitsForCapacity():
		c.state = map[bool]state{true: stateOutdatedUnavailable, false: stateStarting}[outdated]
	case late && !c.joined():
		c.why, c.problem = causeRepair, "has not joined within "+p.joinTimeout.String()+": it "+stateOf(c.member)
		c.state = failedOr(stateBroken, outdated, c.member)
	case outdated:
		c.state, c.deadline = stateOutdatedUnavailable, deadline
	case late:
		c.state = stateUnavailable
	default:
		c.state, c.deadline = map[bool]state{true: stateJoining, false: stateStarting}[c.ready()], deadline
	}
}

// failedOr returns Failed for a member of the current revision that never joined, because other
// members of the revision may fail too. Otherwise it returns other.
func failedOr(other state, outdated bool, m member) state {
	return map[bool]state{true: stateFailed, false: other}[!outdated && !m.joined()]
}

// joinDeadline returns when to give up on a member that has not joined.
func (p policy) joinDeadline(m member) time.Time { return m.joiningSince().Add(p.joinTimeout) }

// broken returns why a member no longer works, or will not work for long.
func (p policy) broken(m member) (why cause, problem string) {
	switch {
	case m.noticed():
		return causeReclaim, "will be reclaimed by the cloud at " + m.instance.ReclaimAt.UTC().Format(time.RFC3339)
	case m.unhealthy():
		return causeRemediation, "will be replaced, as requested by a MachineHealthCheck"
	case m.instance == nil:
		return causeRepair, stateOf(m)
	case m.instance.State.Terminal(), m.instance.Bootstrap.State == cloud.BootstrapFailed && !p.mayHaveJoined(m):
		return causeRepair, stateOf(m)
	default:
		return "", ""
	}
}

// mayHaveJoined reports whether the member has joined, or may have joined before its Machine was
// created again. A bootstrap can fail after the Node has joined, and such a Node is not removed
// before Cluster API has had the time to find it.
func (p policy) mayHaveJoined(m member) bool {
	return m.joined() || (m.joiningSince().Sub(m.createdAt()) >= p.joinTimeout && p.now.Before(p.joinDeadline(m)))
}

// stuckAt returns when the deletion of a member will have taken so long that repairs do not wait
// for it; zero if unknown.
func (p policy) stuckAt(m member) time.Time {
	since := m.leavingSince()
	if since.IsZero() {
		return time.Time{}
	}
	return since.Add(p.joinTimeout)
}

// census groups the members by state.
type census map[state][]candidate

func censusOf(all []candidate) census {
	c := census{}
	for _, one := range all {
		c[one.state] = append(c[one.state], one)
	}
	return c
}

// count returns how many members are in states for which is returns true.
func (c census) count(is func(state) bool) int {
	found := 0
	for s, members := range c {
		if is(s) {
			found += len(members)
		}
	}
	return found
}

// leaving returns the members on their way out.
func (c census) leaving() []candidate { return slices.Concat(c[stateLeaving], c[stateStuck]) }

// rank orders members by how little is lost with them; the lowest is removed first.
type rank int

const (
	// rankMarked is a member that a user or the cluster autoscaler has marked for deletion.
	rankMarked rank = iota
	// rankBroken is a member that has to be replaced anyway.
	rankBroken
	// rankUnfinished is a member that does not work now.
	rankUnfinished
	// rankOutdated is a member that works, and would be replaced next.
	rankOutdated
	// rankReady is a member that works.
	rankReady
)

func (c candidate) rank() rank {
	switch {
	case c.marked():
		return rankMarked
	case c.state.broken():
		return rankBroken
	case !c.state.available():
		return rankUnfinished
	case c.state.outdated():
		return rankOutdated
	default:
		return rankReady
	}
}

// marked reports whether a user or the cluster autoscaler has marked the member for deletion.
func (c candidate) marked() bool { return c.hasAnnotation(clusterv1.DeleteMachineAnnotation) }

// orderOf returns the place of a member in the delete policy; the lowest is removed first.
func (p policy) orderOf(m member) int64 {
	switch p.deletePolicy {
	case infrav1.NewestDeletePolicy:
		return -m.createdAt().UnixNano()
	case infrav1.RandomDeletePolicy:
		hash := fnv.New32a()
		hash.Write([]byte(m.name))
		return int64(hash.Sum32())
	default:
		return m.createdAt().UnixNano()
	}
}

// compare orders members that are otherwise equal.
func compare(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.order, b.order), strings.Compare(a.name, b.name))
}
