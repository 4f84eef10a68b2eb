// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
)

// FooMachinePoolTemplateSpec is the desired state of a FooMachinePoolTemplate.
type FooMachinePoolTemplateSpec struct {
	// template describes the FooMachinePools to create.
	Template FooMachinePoolTemplateResource `json:"template"`
}

// FooMachinePoolTemplateResource describes a FooMachinePool to create.
// +kubebuilder:validation:XValidation:rule="!has(self.spec.providerID) && !has(self.spec.providerIDList)",message="providerID and providerIDList must not be set in a template: every pool has its own (see kubectl explain foomachinepooltemplates.spec.template.spec.providerIDList)"
type FooMachinePoolTemplateResource struct {
	// metadata holds the labels and annotations of the FooMachinePools.
	// +optional
	ObjectMeta clusterv1beta1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the FooMachinePools.
	Spec FooMachinePoolSpec `json:"spec"`
}

// FooMachinePoolTemplate is a template of FooMachinePools for ClusterClasses.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=foomachinepooltemplates,shortName=foompt,scope=Namespaced,categories=cluster-api
// +kubebuilder:deprecatedversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
type FooMachinePoolTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +optional
	Spec FooMachinePoolTemplateSpec `json:"spec,omitempty,omitzero"`
}

// FooMachinePoolTemplateList is a list of FooMachinePoolTemplates.
//
// +kubebuilder:object:root=true
type FooMachinePoolTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list's metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the FooMachinePoolTemplates.
	Items []FooMachinePoolTemplate `json:"items"`
}
