// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeadmcontrolplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// maxReport is how many characters of an error a message shows, so that advice fits after it.
const maxReport = 8192

// conditionTypes are the conditions that this controller owns on a FooControlPlane.
func conditionTypes() []string {
	return []string{
		controlplanev1.AvailableCondition,
		controlplanev1.InitializedCondition,
		controlplanev1.CertificatesAvailableCondition,
		controlplanev1.EtcdClusterHealthyCondition,
		controlplanev1.ControlPlaneComponentsHealthyCondition,
		controlplanev1.MachinesReadyCondition,
		controlplanev1.MachinesUpToDateCondition,
		controlplanev1.AddonsUpToDateCondition,
		controlplanev1.RollingOutCondition,
		controlplanev1.ScalingUpCondition,
		controlplanev1.ScalingDownCondition,
		controlplanev1.RemediatingCondition,
		controlplanev1.DeletingCondition,
		clusterv1.PausedCondition,
	}
}

// setConditions sets all conditions except Paused and AddonsUpToDate, whatever happened in the
// reconcile.
func (s *scope) setConditions(result outcome) {
	set := func(condition metav1.Condition) { conditions.Set(s.controlPlane, condition) }
	set(s.initializedCondition())
	set(s.certificatesCondition())
	if s.etcdMode() == workload.EtcdStacked {
		set(s.etcdCondition(result.state))
	} else {
		conditions.Delete(s.controlPlane, controlplanev1.EtcdClusterHealthyCondition)
	}
	set(s.componentsCondition(result.state))
	set(s.machinesReadyCondition())
	set(s.machinesUpToDateCondition())
	set(s.rollingOutCondition(result))
	set(s.scalingUpCondition(result.next, result.failure))
	set(s.scalingDownCondition(result.next, result.failure))
	set(s.remediatingCondition(result))
	set(s.deletingCondition(result.next, result.failure))
	set(s.availableCondition(result.state))
}

// setAddonsCondition is separate because add-ons are updated after all other conditions are
// written.
func (s *scope) setAddonsCondition(failure error) {
	condition := is(controlplanev1.AddonsUpToDateCondition, metav1.ConditionTrue, controlplanev1.AddonsUpToDateReason)
	if failure != nil {
		condition = says(is(condition.Type, metav1.ConditionFalse, controlplanev1.AddonsNotUpToDateReason),
			"%.*s\nThe update is retried. If it cannot succeed, correct spec.kubeadmConfigSpec.clusterConfiguration, or exclude an add-on with "+
				"the annotation %s or %s.", maxReport, failure.Error(), kubeadmcontrolplanev1.SkipKubeProxyAnnotation, kubeadmcontrolplanev1.SkipCoreDNSAnnotation)
	}
	conditions.Set(s.controlPlane, condition)
}

// is returns a condition without a message.
func is(conditionType string, status metav1.ConditionStatus, reason string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: status, Reason: reason}
}

// says returns a condition with a message.
func says(condition metav1.Condition, format string, arguments ...any) metav1.Condition {
	condition.Message = capitalized(fmt.Sprintf(format, arguments...))
	return condition
}

// capitalized returns a text as Cluster API begins messages: with a capital letter, unless the first
// word is a name, such as spec.version or kube-apiserver. Texts that also follow others, such as those
// of the plan, have none.
func capitalized(text string) string {
	if word, _, _ := strings.Cut(text, " "); word == "" || strings.ContainsAny(word, ".-/") {
		return text
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

func (s *scope) initializedCondition() metav1.Condition {
	if s.initialized {
		return is(controlplanev1.InitializedCondition, metav1.ConditionTrue, controlplanev1.InitializedReason)
	}
	return is(controlplanev1.InitializedCondition, metav1.ConditionFalse, controlplanev1.NotInitializedReason)
}

func (s *scope) certificatesCondition() metav1.Condition {
	conditionType := controlplanev1.CertificatesAvailableCondition
	before := conditions.Get(s.controlPlane, conditionType)
	switch problem := s.prerequisites.certificates; {
	case s.deleting() && before != nil:
		return *before
	case problem == nil:
		return says(is(conditionType, metav1.ConditionTrue, controlplanev1.CertificatesAvailableReason), "%s", strings.Join(s.prerequisites.notices, "; "))
	case problem.Reason == controlplanev1.CertificatesInternalErrorReason:
		return says(is(conditionType, metav1.ConditionUnknown, problem.Reason), "%s", problem.Message)
	default:
		return says(is(conditionType, metav1.ConditionFalse, problem.Reason), "%s", problem.Message)
	}
}

func (s *scope) etcdCondition(seen plan.State) metav1.Condition {
	conditionType := controlplanev1.EtcdClusterHealthyCondition
	if s.observation == nil {
		return s.unseen(conditionType, controlplanev1.EtcdClusterInspectionFailedReason)
	}
	if problem := seen.EtcdUnknown(); problem != "" {
		return says(is(conditionType, metav1.ConditionUnknown, controlplanev1.EtcdClusterHealthUnknownReason), "%s", problem)
	}
	seen.Machines = plan.Filter(seen.Machines, plan.Machine.Joined)
	if problem := seen.EtcdProblem(plan.Machine{}); problem != "" {
		return says(is(conditionType, metav1.ConditionFalse, controlplanev1.EtcdClusterNotHealthyReason), "%s", problem)
	}
	return is(conditionType, metav1.ConditionTrue, controlplanev1.EtcdClusterHealthyReason)
}

func (s *scope) componentsCondition(seen plan.State) metav1.Condition {
	conditionType := controlplanev1.ControlPlaneComponentsHealthyCondition
	if s.observation == nil {
		return s.unseen(conditionType, controlplanev1.ControlPlaneComponentsInspectionFailedReason)
	}
	if problems := plan.Problems(plan.Filter(seen.Machines, plan.Machine.Joined)); len(problems) > 0 {
		return says(is(conditionType, metav1.ConditionFalse, controlplanev1.ControlPlaneComponentsNotHealthyReason), "* %s", strings.Join(problems, "\n* "))
	}
	return is(conditionType, metav1.ConditionTrue, controlplanev1.ControlPlaneComponentsHealthyReason)
}

// unseen returns the condition for a workload cluster that cannot be observed: the last known one,
// until it is too old to show.
func (s *scope) unseen(conditionType, reason string) metav1.Condition {
	if before := conditions.Get(s.controlPlane, conditionType); before != nil && s.stillShown() {
		return *before
	}
	return says(is(conditionType, metav1.ConditionUnknown, reason), "%s", s.workloadProblem)
}

func (s *scope) machinesReadyCondition() metav1.Condition {
	if len(s.machines) == 0 {
		return is(controlplanev1.MachinesReadyCondition, metav1.ConditionTrue, controlplanev1.MachinesReadyNoReplicasReason)
	}
	condition, err := conditions.NewAggregateCondition(s.machines, clusterv1.MachineReadyCondition,
		conditions.TargetConditionType(controlplanev1.MachinesReadyCondition),
		conditions.CustomMergeStrategy{MergeStrategy: conditions.DefaultMergeStrategy(
			conditions.ComputeReasonFunc(conditions.GetDefaultComputeMergeReasonFunc(
				controlplanev1.MachinesNotReadyReason,
				controlplanev1.MachinesReadyUnknownReason,
				controlplanev1.MachinesReadyReason,
			)),
		)},
	)
	if err != nil {
		return says(is(controlplanev1.MachinesReadyCondition, metav1.ConditionUnknown, controlplanev1.MachinesReadyInternalErrorReason), "%v", err)
	}
	return *condition
}

func (s *scope) machinesUpToDateCondition() metav1.Condition {
	conditionType := controlplanev1.MachinesUpToDateCondition
	if len(s.machines) == 0 {
		return is(conditionType, metav1.ConditionTrue, controlplanev1.MachinesUpToDateNoReplicasReason)
	}
	if outdated := s.outdated(); len(outdated) > 0 {
		return says(is(conditionType, metav1.ConditionFalse, controlplanev1.MachinesNotUpToDateReason), "%s", strings.Join(outdated, "\n"))
	}
	return is(conditionType, metav1.ConditionTrue, controlplanev1.MachinesUpToDateReason)
}

func (s *scope) scalingUpCondition(next plan.Decision, failure error) metav1.Condition {
	if s.deleting() || len(s.machines) >= s.desired() {
		return is(controlplanev1.ScalingUpCondition, metav1.ConditionFalse, controlplanev1.NotScalingUpReason)
	}
	return says(is(controlplanev1.ScalingUpCondition, metav1.ConditionTrue, controlplanev1.ScalingUpReason),
		"Scaling up from %d to %d replicas%s", len(s.machines), s.desired(), obstacle(next, failure))
}

func (s *scope) scalingDownCondition(next plan.Decision, failure error) metav1.Condition {
	desired := s.desired()
	if s.deleting() {
		desired = 0
	}
	if len(s.machines) <= desired {
		return is(controlplanev1.ScalingDownCondition, metav1.ConditionFalse, controlplanev1.NotScalingDownReason)
	}
	return says(is(controlplanev1.ScalingDownCondition, metav1.ConditionTrue, controlplanev1.ScalingDownReason),
		"Scaling down from %d to %d replicas%s", len(s.machines), desired, obstacle(next, failure))
}

// obstacle says why scaling does not progress: what the plan waits for, or which error occurred.
func obstacle(next plan.Decision, failure error) string {
	switch {
	case failure != nil:
		return " is blocked by an error: " + failure.Error()
	case next.Action == plan.ActionWait && next.Message != "":
		return fmt.Sprintf(" is blocked (%s): %s", next.Reason, next.Message)
	}
	return ""
}

func (s *scope) deletingCondition(next plan.Decision, failure error) metav1.Condition {
	if !s.deleting() {
		return is(controlplanev1.DeletingCondition, metav1.ConditionFalse, controlplanev1.NotDeletingReason)
	}
	if failure != nil {
		return says(is(controlplanev1.DeletingCondition, metav1.ConditionTrue, controlplanev1.DeletingInternalErrorReason), "%v", failure)
	}
	return says(is(controlplanev1.DeletingCondition, metav1.ConditionTrue, next.Reason), "%s", next.Message)
}

// certificatesUnusable reports whether certificates are known to be missing or unusable.
func (s *scope) certificatesUnusable() bool {
	certificates := s.prerequisites.certificates
	return certificates != nil && certificates.Reason == controlplanev1.CertificatesNotAvailableReason
}

// availableCondition is true if all components of at least one Machine are healthy and etcd has
// quorum.
func (s *scope) availableCondition(seen plan.State) metav1.Condition {
	notAvailable := is(controlplanev1.AvailableCondition, metav1.ConditionFalse, controlplanev1.NotAvailableReason)
	switch {
	case s.deleting():
		return says(notAvailable, "The control plane is being deleted")
	case !s.initialized:
		return says(notAvailable, "The control plane is not initialized yet")
	case s.certificatesUnusable():
		return says(notAvailable, "%s", s.prerequisites.certificates.Message)
	case s.kubeconfigUnusable():
		return says(is(controlplanev1.AvailableCondition, metav1.ConditionUnknown, controlplanev1.AvailableInspectionFailedReason), "%s", s.workloadProblem)
	case s.observation == nil:
		return s.unseen(controlplanev1.AvailableCondition, controlplanev1.AvailableInspectionFailedReason)
	}
	joined := plan.Filter(seen.Machines, plan.Machine.Joined)
	if !slices.ContainsFunc(joined, plan.Machine.Healthy) {
		return says(notAvailable, "No Machine has healthy components: %s", strings.Join(plan.Problems(joined), "; "))
	}
	if problem := seen.QuorumProblem(); problem != "" {
		return says(notAvailable, "%s", problem)
	}
	return is(controlplanev1.AvailableCondition, metav1.ConditionTrue, controlplanev1.AvailableReason)
}

// outdated lists how each Machine differs from the spec.
func (s *scope) outdated() []string {
	var result []string
	for _, machine := range s.machines {
		for _, difference := range s.differences[machine.Name] {
			result = append(result, "* Machine "+machine.Name+": "+difference.Text)
		}
	}
	return result
}

// rollingOutCondition is true while Machines are to be replaced. If the rollout is held, the
// message shows each field that differs and how to confirm the rollout.
func (s *scope) rollingOutCondition(result outcome) metav1.Condition {
	conditionType := controlplanev1.RollingOutCondition
	outdated := s.outdated()
	due := plan.Filter(result.state.Machines, result.state.Replaceable)
	switch {
	case len(outdated) == 0:
		return is(conditionType, metav1.ConditionFalse, controlplanev1.NotRollingOutReason)
	case len(due) == 0:
		return says(is(conditionType, metav1.ConditionFalse, controlplanev1.RolloutHeldReason),
			"Held: %s\n%s", result.state.Hold().Message, strings.Join(outdated, "\n"))
	}
	return says(is(conditionType, metav1.ConditionTrue, controlplanev1.RollingOutReason),
		"Rolling out Machines that are not up to date (%d)%s\n%s", len(due), obstacle(result.next, result.failure), strings.Join(outdated, "\n"))
}

// remediatingCondition is true while an unhealthy Machine waits for its deletion or its
// replacement.
func (s *scope) remediatingCondition(result outcome) metav1.Condition {
	var messages []string
	for _, machine := range result.state.Machines {
		if machine.Remediate {
			condition := ownerRemediated(machine, result)
			messages = append(messages, fmt.Sprintf("* Machine %s (%s): %s", machine.Name, condition.Reason, condition.Message))
		}
	}
	if record := result.state.Remediation; record != nil && len(result.state.Machines) < result.state.Target() {
		messages = append(messages, fmt.Sprintf("* Replacement of Machine %s%s", record.Machine, obstacle(result.next, result.failure)))
	}
	if len(messages) == 0 {
		return is(controlplanev1.RemediatingCondition, metav1.ConditionFalse, controlplanev1.NotRemediatingReason)
	}
	return says(is(controlplanev1.RemediatingCondition, metav1.ConditionTrue, controlplanev1.RemediatingReason), "%s", strings.Join(messages, "\n"))
}

// ownerRemediated says, on an unhealthy Machine, what happens to it.
func ownerRemediated(machine plan.Machine, result outcome) metav1.Condition {
	problem := result.next.Unhealthy[machine.Name]
	if result.failure != nil && result.next.Action == plan.ActionRemediate && result.next.Machine == machine.Name {
		problem = plan.Problem{Reason: controlplanev1.MachineRemediationInternalErrorReason, Message: "the remediation failed: " + result.failure.Error()}
	}
	return says(is(machineOwnerRemediated, metav1.ConditionFalse, problem.Reason), "%s", problem.Message)
}
