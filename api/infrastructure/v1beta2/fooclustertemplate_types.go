// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// FooClusterTemplateSpec is the desired state of a FooClusterTemplate.
type FooClusterTemplateSpec struct {
	// template describes the FooClusters to create.
	// +required
	Template FooClusterTemplateResource `json:"template"`
}

// FooClusterTemplateResource describes a FooCluster to create.
// +kubebuilder:validation:XValidation:rule="!has(self.spec.controlPlaneEndpoint)",message="controlPlaneEndpoint must not be set in a template: every cluster has its own (see kubectl explain fooclustertemplates.spec.template.spec.controlPlaneEndpoint)"
type FooClusterTemplateResource struct {
	// metadata holds the labels and annotations of the FooClusters.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the FooClusters.
	// +required
	Spec FooClusterSpec `json:"spec"`
}

// FooClusterTemplate is a template of FooClusters for ClusterClasses.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=fooclustertemplates,shortName=fooct,scope=Namespaced,categories=cluster-api
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=infrastructure-foo"
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io="
// +kubebuilder:printcolumn:name="ClusterClass",type="string",JSONPath=`.metadata.ownerReferences[?(@.kind=="ClusterClass")].name`,description="ClusterClass that owns this template"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
type FooClusterTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +required
	Spec FooClusterTemplateSpec `json:"spec"`
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
