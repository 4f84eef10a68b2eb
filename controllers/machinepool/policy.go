// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

// policy is all that the disruption of members depends on, besides the members.
type policy struct {
	// replicas is how many members the pool is to have.
	replicas int
	// maxSurge is how many it may have above that, and maxUnavailable how many of them may be missing.
	maxSurge, maxUnavailable int
	deletePolicy             infrav1.DeletePolicy
	// revision is what members are made from now; empty while nothing is known of it, so that no member is outdated.
	revision string
	// rollout says whether outdated members are replaced now.
	rollout rollout
	// scaling says whether members that are too many are removed.
	scaling scaling
	// joinTimeout is how long a member may take to join.
	joinTimeout time.Duration
	// maxFailed is how many in a row may fail to join before replacing them is slowed down.
	maxFailed int
	failures  infrav1.FailedReplacements
	// counted names the members there that are among the failures.
	counted []string
	// minReady is how long a Node must be ready until its Machine is available.
	minReady time.Duration
	now      time.Time
}

// rollout says what is with members of an earlier revision.
type rollout string

const (
	// rolloutRuns replaces them.
	rolloutRuns rollout = "Runs"
	// rolloutPaused keeps them since the strategy says so.
	rolloutPaused rollout = "Paused"
	// rolloutWaits keeps them for now: the cloud has not accepted the new template yet, or not all is known of the members.
	rolloutWaits rollout = "Waits"
)

// scaling says who removes members that are too many.
type scaling string

const (
	// scalingHere is the default: this controller does.
	scalingHere scaling = "Here"
	// scalingElsewhere is an external autoscaler's.
	scalingElsewhere scaling = "Elsewhere"
	// scalingWaits keeps them for now, since not all is known of the members.
	scalingWaits scaling = "Waits"
)

func policyOf(s *scope) policy {
	strategy := s.pool.Spec.Strategy
	replicas := int(wantedReplicas(s))
	p := policy{
		replicas:     replicas,
		maxSurge:     portion(strategy.MaxSurge, 1, replicas, up),
		deletePolicy: cmp.Or(strategy.DeletePolicy, infrav1.OldestDeletePolicy),
		revision:     s.revision,
		rollout:      rolloutRuns,
		scaling:      scalingHere,
		joinTimeout:  time.Duration(cmp.Or(strategy.NodeJoinTimeoutSeconds, infrav1.DefaultNodeJoinTimeoutSeconds)) * time.Second,
		maxFailed:    int(cmp.Or(strategy.MaxFailedReplacements, infrav1.DefaultMaxFailedReplacements)),
		failures:     currentFailures(s),
		counted:      s.memory.Counted,
		now:          s.now,
	}
	if s.machinePool != nil {
		p.minReady = time.Duration(ptr.Deref(s.machinePool.Spec.Template.Spec.MinReadySeconds, 0)) * time.Second
	}
	// A pool of the largest size has no room for more, and so replaces its members in place.
	p.maxSurge = min(p.maxSurge, max(infrav1.MaxPoolReplicas-replicas, 0))
	p.maxUnavailable = portion(strategy.MaxUnavailable, 0, replicas, down)
	if p.maxSurge+p.maxUnavailable == 0 {
		p.maxUnavailable = 1
	}
	switch {
	case ptr.Deref(strategy.RolloutPaused, false):
		p.rollout = rolloutPaused
	case s.cloudPool == nil || s.cloudPool.Revision != s.revision || len(withoutFooMachine(s.members)) > 0:
		p.rollout = rolloutWaits
	}
	if scaledElsewhere(s) {
		p.scaling = scalingElsewhere
	} else if len(withoutMachine(s.members)) > 0 {
		p.scaling = scalingWaits
	}
	return p
}

// rounding is the direction in which a percentage is rounded.
type rounding int

const (
	down rounding = 0
	up   rounding = 99
)

// portion returns a number, or a percentage of the whole. What the API would not accept counts as the default, so that an
// object that came by another way can not do harm.
func portion(value *intstr.IntOrString, byDefault, whole int, direction rounding) int {
	if value == nil {
		return byDefault
	}
	if value.Type == intstr.Int {
		return max(value.IntValue(), 0)
	}
	percent, err := intstr.GetScaledValueFromIntOrPercent(value, 100, false)
	if err != nil || percent < 0 || percent > 100 {
		return byDefault
	}
	return (percent*whole + int(direction)) / 100
}

// minAvailable is how many members must stay available whatever is replaced.
func (p policy) minAvailable() int { return max(p.replicas-p.maxUnavailable, 0) }

// repairLimit is how many members may be on their way out or on their way in while one more is repaired. Repair takes no
// member away that works, but whoever says that it does not may be wrong.
func (p policy) repairLimit() int { return max(p.maxUnavailable, 1) }

// failedBudget is how many members that never joined may be replaced now, and when to look again.
func (p policy) failedBudget() (int, time.Time) {
	left := p.maxFailed - int(p.failures.Count)
	if left > 0 {
		return left, time.Time{}
	}
	retry := p.failures.LastTime.Add(p.joinTimeout)
	if p.now.Before(retry) {
		return 0, retry
	}
	return 1, time.Time{}
}

// currentFailures are those of the current revision, and none once a member that was made after the last is available.
func currentFailures(s *scope) infrav1.FailedReplacements {
	failures := s.memory.Failures
	if failures.Count == 0 || failures.Revision != s.revision {
		return infrav1.FailedReplacements{}
	}
	for _, m := range s.members {
		if m.available() && m.instance.Revision == s.revision && m.createdAt().After(failures.LastTime.Time) {
			return infrav1.FailedReplacements{}
		}
	}
	return failures
}
