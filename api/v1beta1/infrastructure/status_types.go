// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infrastructure

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
)

// ContractStatus is what the v1beta1 contracts ask of the status of each kind. All of it comes from the status of v1beta2.
type ContractStatus struct {
	// ready is true once the infrastructure was fully provisioned; it never goes back to false. The conditions say whether it
	// works now.
	// +optional
	Ready bool `json:"ready"`

	// failureReason is never set: Foo knows no terminal failure, and the conditions say what is wrong.
	//
	// Deprecated: it goes away with the v1beta1 contract.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FailureReason *string `json:"failureReason,omitempty"`

	// failureMessage is never set: Foo knows no terminal failure, and the conditions say what is wrong.
	//
	// Deprecated: it goes away with the v1beta1 contract.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	FailureMessage *string `json:"failureMessage,omitempty"`

	// observedGeneration is the generation of the spec that this status was computed from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are those of v1beta2 that are true when all is well, in the form of the v1beta1 contract.
	// +optional
	Conditions clusterv1beta1.Conditions `json:"conditions,omitempty"`

	// v1beta2 is what v1beta2 has in fields whose names mean something else in v1beta1.
	// +optional
	V1Beta2 *V1Beta2Status `json:"v1beta2,omitempty"`
}

// V1Beta2Status is what v1beta2 has in fields whose names mean something else in v1beta1.
type V1Beta2Status struct {
	// conditions are the observations of the object's current state.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
