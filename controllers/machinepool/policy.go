// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// policy is everything that the disruption of members depends on, other than the members.
type policy struct {
	// replicas is how many members the pool should have.
	replicas int
	// maxSurge is how many it may have above that, and maxUnavailable how many of them may be
	// unavailable.
	maxSurge, maxUnavailable int
	deletePolicy             infrav1.DeletePolicy
	// revision is what members are created from now; empty if unknown, and then no member is
	// outdated.
	revision string
	// rollout is whether outdated members are replaced now.
	rollout rollout
	// scaling is whether surplus members are removed.
	scaling scaling
	// joinTimeout is how long a member may take to join.
	joinTimeout time.Duration
	// maxFailed is how many in a row may fail to join before replacing them is slowed down.
	maxFailed int
	failures  infrav1.FailedReplacements
	// counted names the existing members that are among the failures.
	counted []string
	// minReady is how long a Node must be ready before its Machine is available.
	minReady time.Duration
	now      time.Time
}

// rollout is what happens to members of an earlier revision.
type rollout string

const (
	// rolloutRuns replaces them.
	rolloutRuns rollout = "Runs"
	// rolloutPaused keeps them because the strategy says so.
	rolloutPaused rollout = "Paused"
	// rolloutWaits keeps them for now: the cloud has not accepted the new template yet, or the
	// members are not fully known.
	rolloutWaits rollout = "Waits"
)

// scaling is who removes surplus members.
type scaling string

const (
	// scalingHere, the default, is this controller.
	scalingHere scaling = "Here"
	// scalingElsewhere is an external autoscaler.
	scalingElsewhere scaling = "Elsewhere"
	// scalingRestores is this controller, which restores the remembered size of a pool that an
	// external autoscaler scales. While a rollout runs, it waits: the rollout puts the surplus in the
	// place of outdated members.
	scalingRestores scaling = "Restores"
	// scalingWaits keeps them for now, because the members are not fully known.
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
		scaling:      scalingOf(s),
		joinTimeout:  time.Duration(cmp.Or(strategy.NodeJoinTimeoutSeconds, infrav1.DefaultNodeJoinTimeoutSeconds)) * time.Second,
		maxFailed:    int(cmp.Or(strategy.MaxFailedReplacements, infrav1.DefaultMaxFailedReplacements)),
		failures:     currentFailures(s),
		counted:      s.memory.Counted,
		now:          s.now,
	}
	if s.machinePool != nil {
		p.minReady = time.Duration(ptr.Deref(s.machinePool.Spec.Template.Spec.MinReadySeconds, 0)) * time.Second
	}
	// A pool of the largest size has no room for more, so it replaces its members in place.
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
	return p
}

// scalingOf returns who removes surplus members now. While a size is remembered, what exceeds it is
// what replacements left, so the external autoscaler would not remove it.
func scalingOf(s *scope) scaling {
	switch {
	case scaledElsewhere(s) && s.memory.Replicas == nil:
		return scalingElsewhere
	case len(withoutMachine(s.members)) > 0:
		return scalingWaits
	case scaledElsewhere(s):
		return scalingRestores
	default:
		return scalingHere
	}
}

// Directions in which a percentage is rounded.
const (
	down = false
	up   = true
)

// portion returns a number, or a percentage of the whole. It makes values harmless that the API
// would not accept: a negative number counts as zero, and an invalid percentage as the default.
func portion(value *intstr.IntOrString, byDefault, whole int, roundUp bool) int {
	if value == nil {
		return byDefault
	}
	scaled, err := intstr.GetScaledValueFromIntOrPercent(value, whole, roundUp)
	if err != nil || value.Type == intstr.String && (scaled < 0 || scaled > whole) {
		return byDefault
	}
	return max(scaled, 0)
}

// minAvailable returns how many members must stay available whatever is replaced.
func (p policy) minAvailable() int { return max(p.replicas-p.maxUnavailable, 0) }

// repairLimit returns how many members may delay repair before it stops removing more; see inMotion.
func (p policy) repairLimit() int { return max(p.maxUnavailable, 1) }

// failedBudget returns how many members that never joined may be replaced now, and, if none, when
// to look again.
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

// currentFailures returns the failures of the current revision; none once a member that was created
// after the last failure is available.
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
