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
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

func (s *scope) scalingUpCondition(next decision, failure error) metav1.Condition {
	if s.deleting() || len(s.machines) >= s.desired() {
		return is(controlplanev1.ScalingUpCondition, metav1.ConditionFalse, controlplanev1.NotScalingUpReason)
	}
	return says(is(controlplanev1.ScalingUpCondition, metav1.ConditionTrue, controlplanev1.ScalingUpReason),
		"Scaling up from %d to %d replicas%s", len(s.machines), s.desired(), obstacle(next, failure))
}

func (s *scope) scalingDownCondition(next decision, failure error) metav1.Condition {
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

// obstacle says why scaling does not go on now: what the plan waits for, or what failed when it was carried out.
func obstacle(next decision, failure error) string {
	switch {
	case failure != nil:
		return " is held up by an error: " + failure.Error()
	case next.Action == actionWait && next.Message != "":
		return fmt.Sprintf(" waits (%s): %s", next.Reason, next.Message)
	}
	return ""
}

func (s *scope) deletingCondition(next decision, failure error) metav1.Condition {
	if !s.deleting() {
		return is(controlplanev1.DeletingCondition, metav1.ConditionFalse, controlplanev1.NotDeletingReason)
	}
	if failure != nil {
		return says(is(controlplanev1.DeletingCondition, metav1.ConditionTrue, controlplanev1.DeletingInternalErrorReason), "%v", failure)
	}
	return says(is(controlplanev1.DeletingCondition, metav1.ConditionTrue, next.Reason), "%s", next.Message)
}

// certificatesUnusable says whether certificates are known to be missing, or not to be of use.
func (s *scope) certificatesUnusable() bool {
	certificates := s.foundation.certificates
	return certificates != nil && certificates.Reason == controlplanev1.CertificatesNotAvailableReason
}

// availableCondition is true if one Machine's components are healthy and etcd has its quorum.
func (s *scope) availableCondition(seen state) metav1.Condition {
	notAvailable := is(controlplanev1.AvailableCondition, metav1.ConditionFalse, controlplanev1.NotAvailableReason)
	switch {
	case s.deleting():
		return says(notAvailable, "The control plane is being deleted")
	case !s.initialized:
		return says(notAvailable, "The control plane is not initialized yet")
	case s.certificatesUnusable():
		return says(notAvailable, "%s", s.foundation.certificates.Message)
	case s.kubeconfigUnusable():
		return says(is(controlplanev1.AvailableCondition, metav1.ConditionUnknown, controlplanev1.AvailableInspectionFailedReason), "%s", s.workloadProblem)
	case s.observation == nil:
		return s.unseen(controlplanev1.AvailableCondition, controlplanev1.AvailableInspectionFailedReason)
	}
	joined := filter(seen.Machines, machineState.joined)
	if !slices.ContainsFunc(joined, machineState.healthy) {
		return says(notAvailable, "No Machine has healthy components: %s", strings.Join(allProblems(joined), "; "))
	}
	if problem := seen.quorumProblem(); problem != "" {
		return says(notAvailable, "%s", problem)
	}
	return is(controlplanev1.AvailableCondition, metav1.ConditionTrue, controlplanev1.AvailableReason)
}

func allProblems(machines []machineState) []string {
	var problems []string
	for _, machine := range machines {
		for _, problem := range machine.Unhealthy {
			problems = append(problems, "Machine "+machine.Name+": "+problem)
		}
	}
	return problems
}

// quorumProblem says why etcd is not known to have its quorum; empty if it is.
func (s state) quorumProblem() string {
	if !s.EtcdManaged {
		return ""
	}
	if problem := s.etcdUnknown(); problem != "" {
		return problem
	}
	if all := s.votes(func(workload.Member) bool { return true }); all.healthy < all.quorum() {
		return fmt.Sprintf("%d of %d voting members of etcd are healthy, and %d are needed", all.healthy, all.voters, all.quorum())
	}
	return ""
}
