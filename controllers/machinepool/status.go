// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// setSpec sets the spec fields that the contract requires. It keeps the list as it was while the
// cloud cannot be queried.
func setSpec(s *scope, spec *infrav1.FooMachinePoolSpec) {
	if s.cloudPool != nil {
		spec.ProviderID = cloud.PoolProviderID(s.cloudPool.Name)
	}
	if s.membersKnown {
		spec.ProviderIDList = providerIDs(s.members)
	}
}

// providerIDs returns the IDs of all instances that are not gone, sorted so that the list changes
// only when they do.
func providerIDs(members []member) []string {
	var ids []string
	for _, m := range members {
		if id := m.providerID(); id != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids[:min(len(ids), infrav1.MaxPoolReplicas)]
}

// setStatus sets the whole status from the scope, including every condition.
func setStatus(s *scope) {
	status := &s.pool.Status
	status.ObservedGeneration = s.pool.Generation
	status.InfrastructureMachineKind = infrav1.InfrastructureMachineKind
	if s.membersKnown {
		setCounts(s)
		status.Instances = instanceStatuses(s.members)
		status.FailedReplacements = s.memory.Failures
	}
	setCapacity(s)
	for _, c := range conditionsOf(s) {
		conditions.Set(s.pool, c)
	}
	// Never set it back to false. Cluster API reads the list of provider IDs only once it is true.
	if provisioned(s) {
		status.Initialization.Provisioned = ptr.To(true)
		status.Ready = ptr.To(true)
	}
}

// setCapacity sets the capacity if it was asked for. It clears it if the cloud does not have the
// instance type, so that nobody scales up in vain.
func setCapacity(s *scope) {
	status := &s.pool.Status
	switch {
	case s.size != nil:
		status.Capacity, status.NodeInfo = ownertags.NodeCapacity(*s.size)
	case s.sizeAsked:
		status.Capacity, status.NodeInfo = nil, infrav1.NodeInfo{}
	}
}

// setCounts counts the members. An instance counts until it is gone, as in the list of provider
// IDs. The instance of a lost member is gone or going, though its ID is still listed.
func setCounts(s *scope) {
	status := &s.pool.Status
	status.Replicas = ptr.To(int32(len(s.assessed) - len(s.census[stateLost])))
	status.AvailableReplicas = ptr.To(int32(s.census.count(state.available)))
	if s.revision != "" {
		updated := s.census.count(func(one state) bool { return one.starting() || one == stateReady || one == stateUnavailable })
		status.Revision, status.UpdatedReplicas = s.revision, ptr.To(int32(updated))
	}
	if s.decided.desired != nil {
		status.DesiredReplicas = s.decided.desired
	}
}

// provisioned reports whether the pool exists with at least one instance, or needs none.
func provisioned(s *scope) bool {
	return s.cloudPool != nil && !s.deleting() && (len(s.pool.Spec.ProviderIDList) > 0 || s.desired() == 0)
}

// instanceStatuses returns the status of each instance, for users; Cluster API does not read it.
func instanceStatuses(members []member) []infrav1.FooMachinePoolInstanceStatus {
	var statuses []infrav1.FooMachinePoolInstanceStatus
	for _, m := range members {
		if m.instance == nil || len(statuses) == infrav1.MaxReportedInstances {
			continue
		}
		statuses = append(statuses, infrav1.FooMachinePoolInstanceStatus{
			InstanceName:  m.name,
			ProviderID:    m.instance.ProviderID,
			Addresses:     ownertags.Addresses(*m.instance),
			FailureDomain: m.instance.Zone,
			Version:       m.instance.KubernetesVersion,
			Revision:      m.instance.Revision,
			State:         infrav1.InstanceState(m.instance.State),
			Ready:         ptr.To(m.ready()),
		})
	}
	return statuses
}

// ownedConditions are the conditions that only this controller sets.
var ownedConditions = []string{
	infrav1.FooMachinePoolReadyCondition,
	infrav1.FooMachinePoolPoolProvisionedCondition,
	infrav1.FooMachinePoolInstancesReadyCondition,
	infrav1.FooMachinePoolScalingUpCondition,
	infrav1.FooMachinePoolScalingDownCondition,
	infrav1.FooMachinePoolRollingOutCondition,
	infrav1.FooMachinePoolStalledCondition,
	infrav1.DeletingCondition,
}

var _ conditions.Setter = &infrav1.FooMachinePool{}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// eventKinds maps the reasons that are worth an event to the event's type.
var eventKinds = cloudfault.EventKinds(report.Kinds{
	infrav1.FooMachinePoolPoolProvisionedReason:      corev1.EventTypeNormal,
	infrav1.FooMachinePoolInstancesReadyReason:       corev1.EventTypeNormal,
	infrav1.FooMachinePoolScalingUpReason:            corev1.EventTypeNormal,
	infrav1.FooMachinePoolScalingDownReason:          corev1.EventTypeNormal,
	infrav1.FooMachinePoolRollingOutReason:           corev1.EventTypeNormal,
	infrav1.FooMachinePoolRepairingReason:            corev1.EventTypeNormal,
	infrav1.FooMachinePoolRolloutPausedReason:        corev1.EventTypeNormal,
	infrav1.FooMachinePoolNodesDoNotJoinReason:       corev1.EventTypeWarning,
	infrav1.FooMachinePoolNodesNotAvailableReason:    corev1.EventTypeWarning,
	infrav1.FooMachinePoolMachineDeletionStuckReason: corev1.EventTypeWarning,
	infrav1.FooMachinePoolPoolNotFoundReason:         corev1.EventTypeWarning,
	infrav1.DeletingReason:                           corev1.EventTypeNormal,
})
