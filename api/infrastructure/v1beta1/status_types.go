// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
)

// ContractStatus holds the status fields that the v1beta1 contracts require of each kind. All of
// them are derived from the status of v1beta2.
type ContractStatus struct {
	// ready is true once the infrastructure has been fully provisioned; it never goes back to
	// false. The conditions say whether it works now.
	// +optional
	Ready bool `json:"ready"`

	// failureReason is never set: Foo has no terminal failures, and the conditions say what is
	// wrong.
	//
	// Deprecated: this field will be removed together with the v1beta1 contract.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FailureReason *string `json:"failureReason,omitempty"`

	// failureMessage is never set: Foo has no terminal failures, and the conditions say what is
	// wrong.
	//
	// Deprecated: this field will be removed together with the v1beta1 contract.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	FailureMessage *string `json:"failureMessage,omitempty"`

	// observedGeneration is the generation of the spec that this status was computed from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are the v1beta2 conditions that are true in normal operation, in the form of the
	// v1beta1 contract.
	// +optional
	Conditions clusterv1beta1.Conditions `json:"conditions,omitempty"`

	// v1beta2 holds the v1beta2 fields whose names mean something else in v1beta1.
	// +optional
	V1Beta2 *V1Beta2Status `json:"v1beta2,omitempty"`
}

// V1Beta2Status holds the v1beta2 fields whose names mean something else in v1beta1.
type V1Beta2Status struct {
	// conditions are the observations of the object's current state.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
