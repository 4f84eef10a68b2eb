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

	kubeadmcontrolplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// maxReport is how much of an error is shown beside what to do about it, in bytes.
const maxReport = 8192

// conditionTypes are the conditions that this controller owns on a FooControlPlane.
//
//contract:control-plane/conditions
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

// setConditions sets all conditions but Paused and AddonsUpToDate, whatever way the reconcile took.
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

// setAddonsCondition says what has become of the add-ons. They are looked at only after everything else has been shown.
func (s *scope) setAddonsCondition(failure error) {
	condition := is(controlplanev1.AddonsUpToDateCondition, metav1.ConditionTrue, controlplanev1.AddonsUpToDateReason)
	if failure != nil {
		condition = says(is(condition.Type, metav1.ConditionFalse, controlplanev1.AddonsNotUpToDateReason),
			"%.*s\nIt is tried again. If it can not succeed, correct spec.kubeadmConfigSpec.clusterConfiguration, or have an add-on left alone by "+
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
	condition.Message = fmt.Sprintf(format, arguments...)
	return condition
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
	switch problem := s.foundation.certificates; {
	case s.deleting() && before != nil:
		return *before
	case problem == nil:
		return says(is(conditionType, metav1.ConditionTrue, controlplanev1.CertificatesAvailableReason), "%s", s.foundation.notice)
	case problem.Reason == controlplanev1.CertificatesInternalErrorReason:
		return says(is(conditionType, metav1.ConditionUnknown, problem.Reason), "%s", problem.Message)
	default:
		return says(is(conditionType, metav1.ConditionFalse, problem.Reason), "%s", problem.Message)
	}
}

func (s *scope) etcdCondition(seen state) metav1.Condition {
	conditionType := controlplanev1.EtcdClusterHealthyCondition
	if s.observation == nil {
		return s.unseen(conditionType, controlplanev1.EtcdClusterInspectionFailedReason)
	}
	if problem := seen.etcdUnknown(); problem != "" {
		return says(is(conditionType, metav1.ConditionUnknown, controlplanev1.EtcdClusterHealthUnknownReason), "%s", problem)
	}
	seen.Machines = filter(seen.Machines, machineState.joined)
	if problem := etcdProblem(seen, machineState{}); problem != "" {
		return says(is(conditionType, metav1.ConditionFalse, controlplanev1.EtcdClusterNotHealthyReason), "%s", problem)
	}
	return is(conditionType, metav1.ConditionTrue, controlplanev1.EtcdClusterHealthyReason)
}

func (s *scope) componentsCondition(seen state) metav1.Condition {
	conditionType := controlplanev1.ControlPlaneComponentsHealthyCondition
	if s.observation == nil {
		return s.unseen(conditionType, controlplanev1.ControlPlaneComponentsInspectionFailedReason)
	}
	if problems := allProblems(filter(seen.Machines, machineState.joined)); len(problems) > 0 {
		return says(is(conditionType, metav1.ConditionFalse, controlplanev1.ControlPlaneComponentsNotHealthyReason), "* %s", strings.Join(problems, "\n* "))
	}
	return is(conditionType, metav1.ConditionTrue, controlplanev1.ControlPlaneComponentsHealthyReason)
}

// unseen says that the workload cluster could not be looked at, once what was known before is too old to be shown.
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
