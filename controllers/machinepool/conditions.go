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
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudfault"
)

// maxNamed is how many members a message names.
const maxNamed = 3

// conditionsOf returns all conditions of the scope; Ready follows from the others.
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
	ready, others := readyAndOthers(s.members)
	wanted := int(s.desired())
	switch {
	case wanted+ready+len(others) == 0:
		return condition(kind, metav1.ConditionTrue, infrav1.FooMachinePoolNoInstancesReason, "")
	case ready >= wanted && len(others) == 0:
		return condition(kind, metav1.ConditionTrue, infrav1.FooMachinePoolInstancesReadyReason, "")
	default:
		message := fmt.Sprintf("%d of %d instances are ready", ready, wanted) + named(others)
		return condition(kind, metav1.ConditionFalse, infrav1.FooMachinePoolInstancesNotReadyReason, message)
	}
}

// readyAndOthers returns how many members are ready, and what is with each that is to stay and is not.
func readyAndOthers(members []member) (ready int, others []string) {
	for _, m := range members {
		switch {
		case m.ready():
			ready++
		case m.live() || m.lost():
			others = append(others, m.name+" "+stateOf(m))
		}
	}
	return ready, others
}

func stateOf(m member) string {
	switch {
	case m.instance == nil:
		return "is lost"
	case m.instance.State != cloud.InstanceRunning:
		return withMessage("is "+string(m.instance.State), m.instance.Message)
	default:
		return withMessage("has bootstrap "+string(m.instance.Bootstrap.State), m.instance.Bootstrap.Message)
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
	live, leaving := counts(s.members)
	wanted := int(s.desired())
	if !s.membersKnown {
		up = condition(infrav1.FooMachinePoolScalingUpCondition, metav1.ConditionUnknown, s.fault.Reason, s.fault.Message)
		down = condition(infrav1.FooMachinePoolScalingDownCondition, metav1.ConditionUnknown, s.fault.Reason, s.fault.Message)
		return up, down
	}
	up = condition(infrav1.FooMachinePoolScalingUpCondition, metav1.ConditionFalse, infrav1.FooMachinePoolNotScalingUpReason, "")
	down = condition(infrav1.FooMachinePoolScalingDownCondition, metav1.ConditionFalse, infrav1.FooMachinePoolNotScalingDownReason, "")
	if live < wanted && !s.deleting() {
		up.Status, up.Reason = metav1.ConditionTrue, infrav1.FooMachinePoolScalingUpReason
		up.Message = fmt.Sprintf("scaling up from %d to %d instances", live, wanted)
	}
	if total := live + leaving; total > wanted+surgeOf(s) && !s.deleting() {
		down.Status, down.Reason = metav1.ConditionTrue, infrav1.FooMachinePoolScalingDownReason
		down.Message = fmt.Sprintf("scaling down from %d to %d instances", total, wanted) + scalingWaitsFor(s.members)
	}
	return up, down
}

// scalingWaitsFor names the instances without which nothing is removed yet.
func scalingWaitsFor(members []member) string {
	var names []string
	for _, m := range members {
		if m.live() && (m.fooMachine == nil || m.machine == nil) {
			names = append(names, m.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", waiting until Cluster API has made a Machine for each instance" + named(names)
}

// surgeOf is how many members more than wanted are there on purpose.
func surgeOf(s *scope) int {
	p := policyOf(s)
	if r := replacementOf(s, p); r.outdated+r.broken+r.lost+r.replacing > 0 {
		return p.maxSurge
	}
	return 0
}

func counts(members []member) (live, leaving int) {
	for _, m := range members {
		if m.live() {
			live++
		}
		if m.leaving() {
			leaving++
		}
	}
	return live, leaving
}

func deletingCondition(s *scope) metav1.Condition {
	kind := infrav1.DeletingCondition
	switch {
	case !s.deleting():
		return condition(kind, metav1.ConditionFalse, infrav1.NotDeletingReason, "")
	case s.gone:
		return condition(kind, metav1.ConditionTrue, infrav1.DeletionCompletedReason, "")
	case !s.fault.IsZero():
		return condition(kind, metav1.ConditionTrue, infrav1.DeletingReason, "the pool can not be deleted: "+s.fault.Message)
	}
	var left []string
	for _, m := range s.members {
		if m.fooMachine != nil {
			left = append(left, m.name)
		}
	}
	if len(left) == 0 {
		return condition(kind, metav1.ConditionTrue, infrav1.DeletingReason, "waiting for the pool to go")
	}
	message := fmt.Sprintf("waiting for %d FooMachines to go", len(left)) + named(left)
	return condition(kind, metav1.ConditionTrue, infrav1.DeletingReason, message)
}
