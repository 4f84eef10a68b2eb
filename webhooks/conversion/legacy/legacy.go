// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package legacy converts what the kinds of v1beta1 have in common: pointers where v1beta2 omits
// zero values, and conditions in the form of the v1beta1 contract.
package legacy

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// NonZero returns a pointer to a value, or nil for the zero value.
func NonZero[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// Pointer converts a struct to a pointer, which is nil for the zero value.
func Pointer[From, To any](from *From, to **To, convert func(*From, *To, conversion.Scope) error) error {
	if reflect.ValueOf(from).Elem().IsZero() {
		*to = nil
		return nil
	}
	*to = new(To)
	return convert(from, *to, nil)
}

// Value converts a pointer to a struct. Nil leaves the struct as it is.
func Value[From, To any](from *From, to *To, convert func(*From, *To, conversion.Scope) error) error {
	if from == nil {
		return nil
	}
	return convert(from, to, nil)
}

// Convert_v1beta1_ObjectMeta_To_v1beta2_ObjectMeta makes Cluster API's function known to
// conversion-gen.
func Convert_v1beta1_ObjectMeta_To_v1beta2_ObjectMeta(in *clusterv1beta1.ObjectMeta, out *clusterv1.ObjectMeta, s conversion.Scope) error {
	return clusterv1beta1.Convert_v1beta1_ObjectMeta_To_v1beta2_ObjectMeta(in, out, s)
}

// Convert_v1beta2_ObjectMeta_To_v1beta1_ObjectMeta makes Cluster API's function known to
// conversion-gen.
func Convert_v1beta2_ObjectMeta_To_v1beta1_ObjectMeta(in *clusterv1.ObjectMeta, out *clusterv1beta1.ObjectMeta, s conversion.Scope) error {
	return clusterv1beta1.Convert_v1beta2_ObjectMeta_To_v1beta1_ObjectMeta(in, out, s)
}

// trueInTrouble are the v1beta2 conditions that are false when nothing happens. The v1beta1
// contract expects conditions that are true when all is well, and its tools show the others as
// failures.
var trueInTrouble = sets.New(
	clusterv1.ScalingUpCondition, clusterv1.ScalingDownCondition, clusterv1.RollingOutCondition, clusterv1.RemediatingCondition,
	clusterv1.DeletingCondition, clusterv1.PausedCondition, "Stalled",
)

// Conditions returns the conditions in the form of the v1beta1 contract. If the condition that sums
// up the object is not Ready, a Ready condition copied from it comes first.
func Conditions(conditions []metav1.Condition, summary string) clusterv1beta1.Conditions {
	var result clusterv1beta1.Conditions
	for _, condition := range conditions {
		if trueInTrouble.Has(condition.Type) {
			continue
		}
		legacy := legacyCondition(condition)
		if condition.Type == summary && summary != clusterv1.ReadyCondition {
			ready := legacy
			ready.Type = clusterv1beta1.ReadyCondition
			result = slices.Insert(result, 0, ready)
		}
		result = append(result, legacy)
	}
	return result
}

func legacyCondition(condition metav1.Condition) clusterv1beta1.Condition {
	legacy := clusterv1beta1.Condition{
		Type:               clusterv1beta1.ConditionType(condition.Type),
		Status:             corev1.ConditionStatus(condition.Status),
		LastTransitionTime: condition.LastTransitionTime,
		Reason:             condition.Reason,
		Message:            condition.Message,
	}
	if condition.Status == metav1.ConditionFalse {
		// v1beta2 has no severities. A warning asks for attention without claiming that all
		// is lost.
		legacy.Severity = clusterv1beta1.ConditionSeverityWarning
	}
	return legacy
}
