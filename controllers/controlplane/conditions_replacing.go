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

package controlplane

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

// outdated says of each Machine in what it is not up to date.
func (s *scope) outdated() []string {
	var result []string
	for _, machine := range s.machines {
		for _, difference := range s.differences[machine.Name] {
			result = append(result, "* Machine "+machine.Name+": "+difference.Text)
		}
	}
	return result
}

// rollingOutCondition is true while Machines are to be replaced. While that is held, the message shows field by field for
// what they would be, and how to let it go on.
func (s *scope) rollingOutCondition(result outcome) metav1.Condition {
	conditionType := controlplanev1.RollingOutCondition
	outdated := s.outdated()
	due := filter(result.state.Machines, result.state.replaceable)
	switch {
	case len(outdated) == 0:
		return is(conditionType, metav1.ConditionFalse, controlplanev1.NotRollingOutReason)
	case len(due) == 0:
		return says(is(conditionType, metav1.ConditionFalse, controlplanev1.RolloutHeldReason),
			"Held: %s\n%s", result.state.hold().Message, strings.Join(outdated, "\n"))
	}
	return says(is(conditionType, metav1.ConditionTrue, controlplanev1.RollingOutReason),
		"Rolling out %d Machines that are not up to date%s\n%s", len(due), obstacle(result.next, result.failure), strings.Join(outdated, "\n"))
}

// remediatingCondition is true while a Machine that is not healthy waits for its end, or for its replacement.
func (s *scope) remediatingCondition(result outcome) metav1.Condition {
	var messages []string
	for _, machine := range result.state.Machines {
		if machine.Remediate {
			condition := ownerRemediated(machine, result)
			messages = append(messages, fmt.Sprintf("* Machine %s (%s): %s", machine.Name, condition.Reason, condition.Message))
		}
	}
	if record := result.state.Remediation; record != nil && len(result.state.Machines) < result.state.target() {
		messages = append(messages, fmt.Sprintf("* Machine %s is gone and is to be replaced%s", record.Machine, obstacle(result.next, result.failure)))
	}
	if len(messages) == 0 {
		return is(controlplanev1.RemediatingCondition, metav1.ConditionFalse, controlplanev1.NotRemediatingReason)
	}
	return says(is(controlplanev1.RemediatingCondition, metav1.ConditionTrue, controlplanev1.RemediatingReason), "%s", strings.Join(messages, "\n"))
}

// ownerRemediated tells, on a Machine that is not healthy, what becomes of it.
func ownerRemediated(machine machineState, result outcome) metav1.Condition {
	condition := metav1.Condition{Type: machineOwnerRemediated, Status: metav1.ConditionFalse}
	chosen := result.next.Action == actionRemediate && result.next.Machine == machine.Name
	switch verdict := result.state.remediation(machine); {
	case chosen && result.failure != nil:
		condition.Reason, condition.Message = controlplanev1.MachineRemediationInternalErrorReason, "the remediation failed: "+result.failure.Error()
	case chosen || machine.Deleting:
		condition.Reason, condition.Message = controlplanev1.MachineRemediationMachineDeletingReason, "the Machine is being deleted"
	case !verdict.acts():
		condition.Reason, condition.Message = verdict.Reason, verdict.Message
	default:
		condition.Reason = controlplanev1.MachineRemediationDeferredReason
		condition.Message = fmt.Sprintf("Machine %s waits for something else first (%s): %s", machine.Name, result.next.Reason, result.next.Message)
	}
	return condition
}
