// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/utils/ptr"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"

	controlplanev1beta1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta1"
	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/conversion/legacy"
)

// Convert_v1beta2_FooControlPlane_To_v1beta1_FooControlPlane counts the replicas that are missing,
// as the v1beta1 contract defines them: how many are still required for all of the wanted capacity.
// It is zero until the replicas have been counted.
func Convert_v1beta2_FooControlPlane_To_v1beta1_FooControlPlane(in *controlplanev1.FooControlPlane, out *controlplanev1beta1.FooControlPlane, s conversion.Scope) error {
	err := autoConvert_v1beta2_FooControlPlane_To_v1beta1_FooControlPlane(in, out, s)
	if in.Status.AvailableReplicas != nil && in.Spec.Replicas != nil {
		out.Status.UnavailableReplicas = max(0, *in.Spec.Replicas-*in.Status.AvailableReplicas)
	}
	return err
}

func Convert_v1beta2_FooControlPlaneStatus_To_v1beta1_FooControlPlaneStatus(in *controlplanev1.FooControlPlaneStatus, out *controlplanev1beta1.FooControlPlaneStatus, s conversion.Scope) error {
	if err := autoConvert_v1beta2_FooControlPlaneStatus_To_v1beta1_FooControlPlaneStatus(in, out, s); err != nil {
		return err
	}
	out.Version = legacy.NonZero(in.Version)
	out.UpdatedReplicas = ptr.Deref(in.UpToDateReplicas, 0)
	out.Initialized = ptr.Deref(in.Initialization.ControlPlaneInitialized, false)
	out.Ready = out.Initialized
	out.Conditions = legacy.Conditions(in.Conditions, controlplanev1.AvailableCondition)
	if len(in.Conditions) > 0 || in.ReadyReplicas != nil || in.AvailableReplicas != nil || in.UpToDateReplicas != nil {
		out.V1Beta2 = &controlplanev1beta1.FooControlPlaneV1Beta2Status{
			Conditions: in.Conditions, ReadyReplicas: in.ReadyReplicas, AvailableReplicas: in.AvailableReplicas, UpToDateReplicas: in.UpToDateReplicas,
		}
	}
	return legacy.Pointer(&in.LastRemediation, &out.LastRemediation, Convert_v1beta2_LastRemediationStatus_To_v1beta1_LastRemediationStatus)
}

func Convert_v1beta1_FooControlPlaneStatus_To_v1beta2_FooControlPlaneStatus(in *controlplanev1beta1.FooControlPlaneStatus, out *controlplanev1.FooControlPlaneStatus, s conversion.Scope) error {
	if err := autoConvert_v1beta1_FooControlPlaneStatus_To_v1beta2_FooControlPlaneStatus(in, out, s); err != nil {
		return err
	}
	out.Replicas = legacy.NonZero(in.Replicas)
	out.Initialization.ControlPlaneInitialized = legacy.NonZero(in.Initialized)
	modern := ptr.Deref(in.V1Beta2, controlplanev1beta1.FooControlPlaneV1Beta2Status{})
	out.Conditions = modern.Conditions
	out.ReadyReplicas, out.AvailableReplicas, out.UpToDateReplicas = modern.ReadyReplicas, modern.AvailableReplicas, modern.UpToDateReplicas
	return legacy.Value(in.LastRemediation, &out.LastRemediation, Convert_v1beta1_LastRemediationStatus_To_v1beta2_LastRemediationStatus)
}

func Convert_v1beta2_LastRemediationStatus_To_v1beta1_LastRemediationStatus(in *controlplanev1.LastRemediationStatus, out *controlplanev1beta1.LastRemediationStatus, s conversion.Scope) error {
	out.Timestamp = in.Time
	return autoConvert_v1beta2_LastRemediationStatus_To_v1beta1_LastRemediationStatus(in, out, s)
}

func Convert_v1beta1_LastRemediationStatus_To_v1beta2_LastRemediationStatus(in *controlplanev1beta1.LastRemediationStatus, out *controlplanev1.LastRemediationStatus, s conversion.Scope) error {
	out.Time = in.Timestamp
	// The hub requires the number even if it is zero.
	return autoConvert_v1beta1_LastRemediationStatus_To_v1beta2_LastRemediationStatus(in, out, s)
}

// Convert_v1_Condition_To_v1beta1_Condition does nothing: Conditions of package legacy decides
// which conditions v1beta1 has.
func Convert_v1_Condition_To_v1beta1_Condition(*metav1.Condition, *clusterv1beta1.Condition, conversion.Scope) error {
	return nil
}

// Convert_v1beta1_Condition_To_v1_Condition does nothing: the v1beta2 conditions of v1beta1 are in
// another field.
func Convert_v1beta1_Condition_To_v1_Condition(*clusterv1beta1.Condition, *metav1.Condition, conversion.Scope) error {
	return nil
}
