// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
)

// FooClusterTemplateSpec is the desired state of a FooClusterTemplate.
type FooClusterTemplateSpec struct {
	// template describes the FooClusters to create.
	Template FooClusterTemplateResource `json:"template"`
}

// FooClusterTemplateResource describes a FooCluster to create.
// +kubebuilder:validation:XValidation:rule="!has(self.spec.controlPlaneEndpoint) || !has(self.spec.controlPlaneEndpoint.host) || self.spec.controlPlaneEndpoint.host == \"\"",message="controlPlaneEndpoint must not be set in a template: every cluster has its own (see kubectl explain fooclustertemplates.spec.template.spec.controlPlaneEndpoint)"
type FooClusterTemplateResource struct {
	// metadata holds the labels and annotations of the FooClusters.
	// +optional
	ObjectMeta clusterv1beta1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the FooClusters.
	Spec FooClusterSpec `json:"spec"`
}

// FooClusterTemplate is a template of FooClusters for ClusterClasses.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=fooclustertemplates,shortName=fooct,scope=Namespaced,categories=cluster-api
// +kubebuilder:deprecatedversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
type FooClusterTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +optional
	Spec FooClusterTemplateSpec `json:"spec,omitempty,omitzero"`
}

// FooClusterTemplateList is a list of FooClusterTemplates.
//
// +kubebuilder:object:root=true
type FooClusterTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list's metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the FooClusterTemplates.
	Items []FooClusterTemplate `json:"items"`
}
