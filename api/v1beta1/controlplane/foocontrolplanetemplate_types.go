// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
)

// FooControlPlaneTemplateSpec is the desired state of a FooControlPlaneTemplate.
type FooControlPlaneTemplateSpec struct {
	// template is what FooControlPlanes are made from.
	Template FooControlPlaneTemplateResource `json:"template"`
}

// FooControlPlaneTemplateResource is what a FooControlPlane is made from.
type FooControlPlaneTemplateResource struct {
	// metadata is the labels and annotations of the FooControlPlanes.
	// +optional
	ObjectMeta clusterv1beta1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the FooControlPlanes.
	Spec FooControlPlaneTemplateResourceSpec `json:"spec"`
}

// FooControlPlaneTemplateResourceSpec is FooControlPlaneSpec without what a Cluster's topology says: replicas, version
// and infrastructureRef.
type FooControlPlaneTemplateResourceSpec struct {
	// machineTemplate says how the control plane's Machines look.
	// +optional
	MachineTemplate *FooControlPlaneTemplateMachineTemplate `json:"machineTemplate,omitempty"`

	// kubeadmConfigSpec is what each Machine's KubeadmConfig is made from.
	// +optional
	KubeadmConfigSpec bootstrapv1beta1.KubeadmConfigSpec `json:"kubeadmConfigSpec,omitempty,omitzero"`

	// rolloutBefore replaces Machines before something happens to them.
	// +optional
	RolloutBefore *RolloutBefore `json:"rolloutBefore,omitempty"`

	// rolloutAfter replaces, once that time has come, all Machines made before it.
	// +optional
	RolloutAfter *metav1.Time `json:"rolloutAfter,omitempty"`

	// rolloutStrategy says how Machines are replaced.
	// +optional
	RolloutStrategy *RolloutStrategy `json:"rolloutStrategy,omitempty"`

	// remediationStrategy says how unhealthy Machines are replaced.
	// +optional
	RemediationStrategy *RemediationStrategy `json:"remediationStrategy,omitempty"`

	// machineNamingStrategy says how Machines are named.
	// +optional
	MachineNamingStrategy *MachineNamingStrategy `json:"machineNamingStrategy,omitempty"`
}

// FooControlPlaneTemplateMachineTemplate says how the Machines of a control plane look, without infrastructureRef.
type FooControlPlaneTemplateMachineTemplate struct {
	// metadata is the labels and annotations of the Machines.
	// +optional
	ObjectMeta clusterv1beta1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// MachineTimeouts and the fields beside them reach the Machines that exist without replacing them.
	MachineTimeouts `json:",inline"`

	// readinessGates are conditions of a Machine that must be true, besides those that the FooControlPlane adds
	// itself, for the Machine to be ready.
	// +optional
	// +listType=map
	// +listMapKey=conditionType
	// +kubebuilder:validation:MaxItems=32
	ReadinessGates []clusterv1beta1.MachineReadinessGate `json:"readinessGates,omitempty"`

	// taints are the taints that Cluster API keeps on the Nodes, besides those that others put there.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MaxItems=64
	Taints []clusterv1beta1.MachineTaint `json:"taints,omitempty"`
}

// FooControlPlaneTemplate is a template of FooControlPlanes for ClusterClasses.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=foocontrolplanetemplates,shortName=foocpt,scope=Namespaced,categories=cluster-api
// +kubebuilder:deprecatedversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
type FooControlPlaneTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +optional
	Spec FooControlPlaneTemplateSpec `json:"spec,omitempty,omitzero"`
}

// FooControlPlaneTemplateList is a list of FooControlPlaneTemplates.
//
// +kubebuilder:object:root=true
type FooControlPlaneTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list's metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the FooControlPlaneTemplates.
	Items []FooControlPlaneTemplate `json:"items"`
}
