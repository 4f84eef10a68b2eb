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
	"hash/fnv"
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
)

// state is how well a member works.
type state string

const (
	// stateBroken is a member that has to be replaced.
	stateBroken state = "Broken"
	// stateStarting is a member that may still become available in time.
	stateStarting state = "Starting"
	// stateUnavailable is a member that has joined and does not work now. Whether it has to go is for a MachineHealthCheck to say.
	stateUnavailable state = "Unavailable"
	// stateAvailable is a member whose Machine is available.
	stateAvailable state = "Available"
)

// candidate is a member with what is thought of it.
type candidate struct {
	member

	state    state
	outdated bool
	// why and problem say why it has to be replaced, for stateBroken.
	why     cause
	problem string
	// deadline is when it is given up, for stateStarting.
	deadline time.Time
	// order is its place in the delete policy.
	order int64
}

// assess says how well a member works.
func (p policy) assess(m member) candidate {
	c := candidate{member: m, order: p.orderOf(m)}
	c.outdated = m.instance != nil && p.revision != "" && m.instance.Revision != p.revision
	deadline := p.joinDeadline(m)
	if m.joined() {
		deadline = deadline.Add(p.minReady)
	}
	switch why, problem := p.broken(m); {
	case m.leaving():
		return c
	case why != "":
		c.state, c.why, c.problem = stateBroken, why, problem
	case m.available():
		c.state = stateAvailable
	case p.now.Before(deadline):
		c.state, c.deadline = stateStarting, deadline
	case !m.joined():
		c.state, c.why = stateBroken, causeRepair
		c.problem = "has not joined within " + p.joinTimeout.String() + ": it " + stateOf(m)
	default:
		c.state = stateUnavailable
	}
	return c
}

// joinDeadline is when a member that has not joined is given up.
func (p policy) joinDeadline(m member) time.Time { return m.joiningSince().Add(p.joinTimeout) }

// broken says why a member can not work any more, or not for long.
func (p policy) broken(m member) (why cause, problem string) {
	switch {
	case m.noticed():
		return causeReclaim, "is taken back by the cloud at " + m.instance.ReclaimAt.UTC().Format(time.RFC3339)
	case m.unhealthy():
		return causeRemediation, "is to be replaced as a MachineHealthCheck asks"
	case m.instance == nil:
		return causeRepair, stateOf(m)
	case m.instance.State.Terminal(), m.instance.Bootstrap.State == cloud.BootstrapFailed && !p.mayHaveJoined(m):
		return causeRepair, stateOf(m)
	default:
		return "", ""
	}
}

// mayHaveJoined reports whether the member has joined, or may have joined before its Machine was made anew: a bootstrap can fail
// after the Node has joined, and such a Node is not taken away before Cluster API had the time to find it.
func (p policy) mayHaveJoined(m member) bool {
	return m.joined() || (m.joiningSince().Sub(m.createdAt()) >= p.joinTimeout && p.now.Before(p.joinDeadline(m)))
}

// failedToJoin reports whether the member has the current revision and goes before it ever joined: one that shows that others
// of the revision may fail too.
func (c candidate) failedToJoin() bool {
	return c.state == stateBroken && c.why != causeReclaim && c.live() && !c.outdated && !c.joined()
}

// rank orders members by how little is lost with them; the lowest goes first.
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
	// rankWorking is a member that works.
	rankWorking
)

const lastRank = rankWorking

func (c candidate) rank() rank {
	switch {
	case c.marked():
		return rankMarked
	case c.state == stateBroken:
		return rankBroken
	case c.state != stateAvailable:
		return rankUnfinished
	case c.outdated:
		return rankOutdated
	default:
		return rankWorking
	}
}

// marked reports whether a user or the cluster autoscaler has marked the member for deletion.
func (c candidate) marked() bool { return c.hasAnnotation(clusterv1.DeleteMachineAnnotation) }

// orderOf is the place of a member in the delete policy; the lowest goes first.
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

// compare orders members that are equal in all else. What is lost comes first in any policy.
func (policy) compare(a, b candidate) int {
	return cmp.Or(compareLost(a, b), cmp.Compare(a.order, b.order), strings.Compare(a.name, b.name))
}

func compareLost(a, b candidate) int {
	switch {
	case a.instance == nil && b.instance != nil:
		return -1
	case a.instance != nil && b.instance == nil:
		return 1
	default:
		return 0
	}
}
