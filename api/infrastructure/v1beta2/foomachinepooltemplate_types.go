// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// FooMachinePoolTemplateSpec is the desired state of a FooMachinePoolTemplate.
type FooMachinePoolTemplateSpec struct {
	// template describes the FooMachinePools to create.
	// +required
	Template FooMachinePoolTemplateResource `json:"template"`
}

// FooMachinePoolTemplateResource describes a FooMachinePool to create.
// +kubebuilder:validation:XValidation:rule="!has(self.spec.providerID) && !has(self.spec.providerIDList)",message="providerID and providerIDList must not be set in a template: every pool has its own (see kubectl explain foomachinepooltemplates.spec.template.spec.providerIDList)"
type FooMachinePoolTemplateResource struct {
	// metadata holds the labels and annotations of the FooMachinePools.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the FooMachinePools.
	// +required
	Spec FooMachinePoolSpec `json:"spec"`
}

// FooMachinePoolTemplate is a template of FooMachinePools for ClusterClasses.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=foomachinepooltemplates,shortName=foompt,scope=Namespaced,categories=cluster-api
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=infrastructure-foo"
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io="
// +kubebuilder:printcolumn:name="ClusterClass",type="string",JSONPath=`.metadata.ownerReferences[?(@.kind=="ClusterClass")].name`,description="ClusterClass that owns this template"
// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".spec.template.spec.template.instanceType",description="Instance type"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
type FooMachinePoolTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +required
	Spec FooMachinePoolTemplateSpec `json:"spec"`
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
