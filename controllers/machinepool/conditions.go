// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
)

// maxNamed is how many members a message names.
const maxNamed = 3

// conditionsOf returns all conditions of the scope; Ready is derived from the others.
func conditionsOf(s *scope) []metav1.Condition {
	provisioned, instances, deleting := provisionedCondition(s), instancesCondition(s), deletingCondition(s)
	ready := report.Ready(provisioned, instances)
	if s.deleting() {
		ready = condition(infrav1.FooMachinePoolReadyCondition, metav1.ConditionFalse,
			infrav1.FooMachinePoolDeletingReason, deleting.Message)
	}
	up, down := scalingConditions(s)
	return []metav1.Condition{ready, provisioned, instances, up, down, rollingOutCondition(s), stalledCondition(s), deleting}
}

func provisionedCondition(s *scope) metav1.Condition {
	fault := s.fault
	if fault.IsZero() && s.cloudPool != nil && !s.deleting() {
		fault = cloudfault.OfProblem(s.cloudPool.Problem)
	}
	kind := infrav1.FooMachinePoolPoolProvisionedCondition
	switch {
	case !fault.IsZero():
		return condition(kind, metav1.ConditionFalse, fault.Reason, fault.Message)
	case s.deleting() || (s.cloudPool != nil && s.cloudPool.Deleting):
		return condition(kind, metav1.ConditionFalse, infrav1.FooMachinePoolPoolDeletingReason, "")
	case s.wait.reason != "":
		return condition(kind, metav1.ConditionFalse, s.wait.reason, s.wait.message)
	default:
		return condition(kind, metav1.ConditionTrue, infrav1.FooMachinePoolPoolProvisionedReason, "")
	}
}

func instancesCondition(s *scope) metav1.Condition {
	kind := infrav1.FooMachinePoolInstancesReadyCondition
	if !s.membersKnown {
		return condition(kind, metav1.ConditionUnknown, s.fault.Reason, s.fault.Message)
	}
	runs, wanted := s.census.count(state.runs), int(s.desired())
	var others []string
	for _, c := range s.assessed {
		if (c.state.stays() || c.state == stateLost) && !c.state.runs() {
			others = append(others, c.name+" "+cmp.Or(c.problem, stateOf(c.member)))
		}
	}
	switch {
	case wanted+runs+len(others) == 0:
		return condition(kind, metav1.ConditionTrue, infrav1.FooMachinePoolNoInstancesReason, "")
	case runs >= wanted && len(others) == 0:
		return condition(kind, metav1.ConditionTrue, infrav1.FooMachinePoolInstancesReadyReason, "")
	default:
		message := fmt.Sprintf("%d of %d instances are ready", runs, wanted) + named(others)
		return condition(kind, metav1.ConditionFalse, infrav1.FooMachinePoolInstancesNotReadyReason, message)
	}
}

func stateOf(m member) string {
	switch {
	case m.instance == nil:
		return "is lost"
	case m.instance.State != cloud.InstanceRunning:
		return withMessage("is "+string(m.instance.State), m.instance.Message)
	default:
		return withMessage("has bootstrap state "+string(m.instance.Bootstrap.State), m.instance.Bootstrap.Message)
	}
}

func withMessage(text, message string) string {
	if message == "" {
		return text
	}
	return text + " (" + message + ")"
}

func named(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	more := ""
	if len(texts) > maxNamed {
		more = fmt.Sprintf(" and %d more", len(texts)-maxNamed)
		texts = texts[:maxNamed]
	}
	return ": " + strings.Join(texts, ", ") + more
}

func scalingConditions(s *scope) (up, down metav1.Condition) {
	if !s.membersKnown {
		up = condition(infrav1.FooMachinePoolScalingUpCondition, metav1.ConditionUnknown, s.fault.Reason, s.fault.Message)
		down = condition(infrav1.FooMachinePoolScalingDownCondition, metav1.ConditionUnknown, s.fault.Reason, s.fault.Message)
		return up, down
	}
	up = condition(infrav1.FooMachinePoolScalingUpCondition, metav1.ConditionFalse, infrav1.FooMachinePoolNotScalingUpReason, "")
	down = condition(infrav1.FooMachinePoolScalingDownCondition, metav1.ConditionFalse, infrav1.FooMachinePoolNotScalingDownReason, "")
	live, wanted := s.census.count(state.stays), int(s.desired())
	if live < wanted && !s.deleting() {
		up.Status, up.Reason = metav1.ConditionTrue, infrav1.FooMachinePoolScalingUpReason
		up.Message = fmt.Sprintf("Scaling up from %d to %d instances", live, wanted)
	}
	allowed := wanted
	if s.census.count(state.outdated)+s.census.count(state.broken)+s.replacing() > 0 {
		allowed += s.rules.maxSurge
	}
	if total := live + len(s.census.leaving()); total > allowed && !s.deleting() {
		down.Status, down.Reason = metav1.ConditionTrue, infrav1.FooMachinePoolScalingDownReason
		down.Message = fmt.Sprintf("Scaling down from %d to %d instances", total, wanted)
		if names := withoutMachine(s.members); len(names) > 0 {
			down.Message += ", waiting for Cluster API to create a Machine for each instance" + named(names)
		}
	}
	return up, down
}

// replacing counts the members that are being drained in order to be replaced.
func (s *scope) replacing() int {
	count := 0
	for _, c := range s.census.leaving() {
		if c.counted() && c.replaced {
			count++
		}
	}
	return count
}

func rollingOutCondition(s *scope) metav1.Condition {
	kind := infrav1.FooMachinePoolRollingOutCondition
	if !s.membersKnown {
		return condition(kind, metav1.ConditionUnknown, s.fault.Reason, s.fault.Message)
	}
	outdated, broken, replacing := s.census.count(state.outdated), s.census.count(state.broken), s.replacing()
	switch {
	case s.deleting() || s.machinePool == nil:
		return condition(kind, metav1.ConditionFalse, infrav1.FooMachinePoolNotRollingOutReason, "")
	case outdated > 0 && s.rules.rollout == rolloutPaused:
		return condition(kind, metav1.ConditionFalse, infrav1.FooMachinePoolRolloutPausedReason,
			fmt.Sprintf("Instances of earlier revisions are kept while spec.strategy.rolloutPaused is true: %d", outdated))
	case outdated > 0:
		return condition(kind, metav1.ConditionTrue, infrav1.FooMachinePoolRollingOutReason,
			fmt.Sprintf("Instances of earlier revisions will be replaced: %d", outdated))
	case broken+replacing > 0:
		return condition(kind, metav1.ConditionTrue, infrav1.FooMachinePoolRepairingReason,
			fmt.Sprintf("Instances to be replaced: %d, being drained: %d", broken, replacing))
	default:
		return condition(kind, metav1.ConditionFalse, infrav1.FooMachinePoolNotRollingOutReason, "")
	}
}

// refusals are the reasons for which an order stays refused until something changes.
var refusals = []string{infrav1.CloudInvalidReason, infrav1.CloudQuotaExceededReason, infrav1.CloudOutOfCapacityReason}

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
	if reason, message := s.stalledBy(); reason != "" {
		return condition(kind, metav1.ConditionTrue, reason, message)
	}
	return notStalled
}

// stalledBy returns the reason and the message if members stall the pool; both are empty if none
// do.
func (s *scope) stalledBy() (reason, message string) {
	rollsOut := s.census.count(state.outdated) > 0 && s.rules.rollout != rolloutPaused
	unavailable, stuck := s.census[stateUnavailable], s.census[stateStuck]
	switch {
	case int(s.memory.Failures.Count) >= s.rules.maxFailed && (rollsOut || s.unfinished()):
		return infrav1.FooMachinePoolNodesDoNotJoinReason, failuresMessage(s)
	case rollsOut && len(unavailable) > 0:
		return infrav1.FooMachinePoolNodesNotAvailableReason,
			fmt.Sprintf("Instances of the current revision have joined, but their Machines are not available (%d)", len(unavailable)) +
				named(describe(unavailable, func(candidate) string { return "" }))
	case len(stuck) > 0:
		since := func(c candidate) string { return " since " + c.leavingSince().UTC().Format(time.RFC3339) }
		return infrav1.FooMachinePoolMachineDeletionStuckReason,
			fmt.Sprintf("Machines whose deletion has taken more than %s (%d)", s.rules.joinTimeout, len(stuck)) +
				named(describe(stuck, since)) + "; see the condition Deleting of each Machine"
	default:
		return "", ""
	}
}

// unfinished reports whether instances of the current revision are missing or not available.
func (s *scope) unfinished() bool {
	return s.census.count(state.starting)+len(s.census[stateFailed])+len(s.census[stateUnavailable]) > 0 ||
		s.census.count(state.stays) < s.rules.replicas
}

func failuresMessage(s *scope) string {
	failures := s.memory.Failures
	message := fmt.Sprintf("Consecutive instances that did not join: %d; the last was replaced at %s, and the next will be %s later",
		failures.Count, failures.LastTime.UTC().Format("15:04:05Z"), s.rules.joinTimeout)
	if failed := s.census[stateFailed]; len(failed) > 0 {
		return message + named(describe(failed, func(c candidate) string { return " " + c.problem }))
	}
	return message + ": " + failures.Message
}

func describe(all []candidate, how func(candidate) string) []string {
	texts := make([]string, 0, len(all))
	for _, c := range all {
		texts = append(texts, c.name+how(c))
	}
	return texts
}

func deletingCondition(s *scope) metav1.Condition {
	kind := infrav1.DeletingCondition
	switch {
	case !s.deleting():
		return condition(kind, metav1.ConditionFalse, infrav1.NotDeletingReason, "")
	case s.gone:
		return condition(kind, metav1.ConditionTrue, infrav1.DeletionCompletedReason, "")
	case !s.fault.IsZero():
		return condition(kind, metav1.ConditionTrue, infrav1.DeletingReason, "The pool cannot be deleted: "+s.fault.Message)
	}
	var left []string
	for _, m := range s.members {
		if len(m.objects()) > 0 {
			left = append(left, m.name)
		}
	}
	if len(left) == 0 {
		return condition(kind, metav1.ConditionTrue, infrav1.DeletingReason, "Waiting for the pool to be deleted")
	}
	message := fmt.Sprintf("Waiting for Machines or FooMachines to be deleted (%d)", len(left)) + named(left)
	return condition(kind, metav1.ConditionTrue, infrav1.DeletingReason, message)
}
