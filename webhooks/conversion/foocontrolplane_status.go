// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"

	controlplanev1beta1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta1/controlplane"
	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

func controlPlaneStatusToSpoke(_ context.Context, src *controlplanev1.FooControlPlane, dst *controlplanev1beta1.FooControlPlane) error {
	hub := &src.Status
	initialized := hub.Initialization.ControlPlaneInitialized != nil && *hub.Initialization.ControlPlaneInitialized
	dst.Status = controlplanev1beta1.FooControlPlaneStatus{
		Selector:            hub.Selector,
		Replicas:            count(hub.Replicas),
		Version:             optional(hub.Version),
		UpdatedReplicas:     count(hub.UpToDateReplicas),
		ReadyReplicas:       count(hub.ReadyReplicas),
		UnavailableReplicas: unavailableReplicas(src),
		Initialized:         initialized,
		Ready:               initialized,
		ObservedGeneration:  hub.ObservedGeneration,
		Conditions:          legacyConditions(hub.Conditions, controlplanev1.AvailableCondition),
		V1Beta2:             controlPlaneV1Beta2(hub),
	}
	if hub.LastRemediation != (controlplanev1.LastRemediationStatus{}) {
		dst.Status.LastRemediation = &controlplanev1beta1.LastRemediationStatus{
			Machine: hub.LastRemediation.Machine, Timestamp: hub.LastRemediation.Time, RetryCount: count(hub.LastRemediation.RetryCount),
		}
	}
	return nil
}

// unavailableReplicas is defined by the v1beta1 contract: how many replicas are still required for
// all of the wanted capacity. It is zero until the replicas have been counted.
func unavailableReplicas(hub *controlplanev1.FooControlPlane) int32 {
	if hub.Status.AvailableReplicas == nil || hub.Spec.Replicas == nil {
		return 0
	}
	return max(0, *hub.Spec.Replicas-*hub.Status.AvailableReplicas)
}

func controlPlaneV1Beta2(hub *controlplanev1.FooControlPlaneStatus) *controlplanev1beta1.FooControlPlaneV1Beta2Status {
	if len(hub.Conditions) == 0 && hub.ReadyReplicas == nil && hub.AvailableReplicas == nil && hub.UpToDateReplicas == nil {
		return nil
	}
	return &controlplanev1beta1.FooControlPlaneV1Beta2Status{
		Conditions: hub.Conditions, ReadyReplicas: hub.ReadyReplicas, AvailableReplicas: hub.AvailableReplicas, UpToDateReplicas: hub.UpToDateReplicas,
	}
}

func controlPlaneStatusToHub(_ context.Context, src *controlplanev1beta1.FooControlPlane, dst *controlplanev1.FooControlPlane) error {
	spoke, hub := &src.Status, &dst.Status
	hub.Selector = spoke.Selector
	setCount(spoke.Replicas, &hub.Replicas)
	hub.Version = given(spoke.Version)
	setBool(spoke.Initialized, &hub.Initialization.ControlPlaneInitialized)
	hub.ObservedGeneration = spoke.ObservedGeneration
	modern := spoke.V1Beta2
	if modern == nil {
		modern = &controlplanev1beta1.FooControlPlaneV1Beta2Status{}
	}
	hub.Conditions = modern.Conditions
	hub.ReadyReplicas, hub.AvailableReplicas, hub.UpToDateReplicas = modern.ReadyReplicas, modern.AvailableReplicas, modern.UpToDateReplicas
	last := spoke.LastRemediation
	if last == nil {
		hub.LastRemediation = controlplanev1.LastRemediationStatus{}
		return nil
	}
	hub.LastRemediation.Machine, hub.LastRemediation.Time = last.Machine, last.Timestamp
	// The hub requires the number even if it is zero.
	hub.LastRemediation.RetryCount = &last.RetryCount
	return nil
}
