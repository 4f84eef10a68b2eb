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
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

// replacement is what there is to replace, for the conditions about it.
type replacement struct {
	outdated, broken, lost, replacing int
	// starting are those of the current revision that may still become available.
	starting int
	// stuck is what is with those of the current revision that do not.
	stuck []string
	// unavailable of them have joined.
	unavailable []string
	// draining says which have been on their way out for too long, and since when.
	draining []string
}

func replacementOf(s *scope, p policy) replacement {
	var r replacement
	for _, m := range s.members {
		c := p.assess(m)
		switch {
		case m.lost():
			r.lost++
		case !m.live():
			why, _ := p.broken(m)
			if m.counted() && (c.outdated || why != "") {
				r.replacing++
			}
			if p.stuck(m) {
				r.draining = append(r.draining, m.name+" since "+m.leavingSince().UTC().Format(time.RFC3339))
			}
			continue
		case c.state == stateBroken:
			r.broken++
		case c.outdated:
			r.outdated++
		}
		switch {
		case c.outdated:
		case c.failedToJoin(), c.state == stateUnavailable:
			r.stuck = append(r.stuck, m.name+" "+problemOf(c))
			if c.state == stateUnavailable {
				r.unavailable = append(r.unavailable, m.name)
			}
		case c.state == stateStarting:
			r.starting++
		}
	}
	return r
}

func problemOf(c candidate) string {
	if c.problem != "" {
		return c.problem
	}
	return "has joined and is not available"
}

func rollingOutCondition(s *scope) metav1.Condition {
	kind := infrav1.FooMachinePoolRollingOutCondition
	if !s.membersKnown {
		return condition(kind, metav1.ConditionUnknown, s.fault.Reason, s.fault.Message)
	}
	if s.deleting() || s.machinePool == nil {
		return condition(kind, metav1.ConditionFalse, infrav1.FooMachinePoolNotRollingOutReason, "")
	}
	p := policyOf(s)
	r := replacementOf(s, p)
	switch {
	case r.outdated > 0 && p.rollout == rolloutPaused:
		return condition(kind, metav1.ConditionFalse, infrav1.FooMachinePoolRolloutPausedReason,
			fmt.Sprintf("%d instances of earlier revisions stay while spec.strategy.rolloutPaused is true", r.outdated))
	case r.outdated > 0:
		return condition(kind, metav1.ConditionTrue, infrav1.FooMachinePoolRollingOutReason,
			fmt.Sprintf("%d instances of earlier revisions are to be replaced", r.outdated))
	case r.broken+r.lost+r.replacing > 0:
		return condition(kind, metav1.ConditionTrue, infrav1.FooMachinePoolRepairingReason,
			fmt.Sprintf("%d instances are to be replaced, %d are being drained", r.broken+r.lost, r.replacing))
	default:
		return condition(kind, metav1.ConditionFalse, infrav1.FooMachinePoolNotRollingOutReason, "")
	}
}

func stalledCondition(s *scope) metav1.Condition {
	kind := infrav1.FooMachinePoolStalledCondition
	if !s.membersKnown {
		return condition(kind, metav1.ConditionUnknown, s.fault.Reason, s.fault.Message)
	}
	notStalled := condition(kind, metav1.ConditionFalse, infrav1.FooMachinePoolNotStalledReason, "")
	if s.deleting() || s.machinePool == nil {
		return notStalled
	}
	if s.cloudPool != nil && s.cloudPool.Problem != nil {
		problem := s.cloudPool.Problem
		return condition(kind, metav1.ConditionTrue, string(problem.Reason), problem.Message)
	}
	if provisioned := provisionedCondition(s); slices.Contains(refusals, provisioned.Reason) {
		return condition(kind, metav1.ConditionTrue, provisioned.Reason, provisioned.Message)
	}
	p := policyOf(s)
	r := replacementOf(s, p)
	switch {
	case int(s.memory.Failures.Count) >= p.maxFailed && r.unfinished(s, p):
		return condition(kind, metav1.ConditionTrue, infrav1.FooMachinePoolNodesDoNotJoinReason, failuresMessage(s.memory.Failures, r, p))
	case r.outdated > 0 && p.rollout == rolloutRuns && len(r.unavailable) > 0:
		return condition(kind, metav1.ConditionTrue, infrav1.FooMachinePoolNodesNotAvailableReason,
			fmt.Sprintf("%d instances of the current revision have joined and their Machines are not available", len(r.unavailable))+named(r.unavailable))
	case len(r.draining) > 0:
		return condition(kind, metav1.ConditionTrue, infrav1.FooMachinePoolMachineDeletionStuckReason,
			fmt.Sprintf("%d Machines have been deleting for more than %s", len(r.draining), p.joinTimeout)+named(r.draining)+
				"; see the condition Deleting of each Machine")
	default:
		return notStalled
	}
}

// refusals are the reasons for which an order stays refused until something changes.
var refusals = []string{infrav1.CloudInvalidReason, infrav1.CloudQuotaExceededReason, infrav1.CloudOutOfCapacityReason}

// unfinished reports whether instances of the current revision are still to come, or have not joined.
func (r replacement) unfinished(s *scope, p policy) bool {
	live, _ := counts(s.members)
	return len(r.stuck)+r.starting > 0 || live < p.replicas || (r.outdated > 0 && p.rollout != rolloutPaused)
}

func failuresMessage(failures infrav1.FailedReplacements, r replacement, p policy) string {
	message := fmt.Sprintf("%d instances in a row did not join; the next is replaced %s after the last at %s",
		failures.Count, p.joinTimeout, failures.LastTime.UTC().Format("15:04:05Z"))
	if len(r.stuck) == 0 {
		return message + ": " + failures.Message
	}
	return message + named(r.stuck)
}
