// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
)

// FooControlPlaneTemplateSpec is the desired state of a FooControlPlaneTemplate.
type FooControlPlaneTemplateSpec struct {
	// template describes the FooControlPlanes to create.
	Template FooControlPlaneTemplateResource `json:"template"`
}

// FooControlPlaneTemplateResource describes a FooControlPlane to create.
type FooControlPlaneTemplateResource struct {
	// metadata holds the labels and annotations of the FooControlPlanes.
	// +optional
	ObjectMeta clusterv1beta1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the FooControlPlanes.
	Spec FooControlPlaneTemplateResourceSpec `json:"spec"`
}

// FooControlPlaneTemplateResourceSpec is FooControlPlaneSpec without the fields that a Cluster's
// topology sets: replicas, version and infrastructureRef.
type FooControlPlaneTemplateResourceSpec struct {
	// machineTemplate describes the control plane's Machines.
	// +optional
	MachineTemplate *FooControlPlaneTemplateMachineTemplate `json:"machineTemplate,omitempty"`

	// kubeadmConfigSpec is the source of each Machine's KubeadmConfig.
	// +optional
	KubeadmConfigSpec bootstrapv1beta1.KubeadmConfigSpec `json:"kubeadmConfigSpec,omitempty,omitzero"`

	// rolloutBefore replaces Machines ahead of an event.
	// +optional
	RolloutBefore *RolloutBefore `json:"rolloutBefore,omitempty"`

	// rolloutAfter is a time. Once it has passed, all Machines created before it are replaced.
	// +optional
	RolloutAfter *metav1.Time `json:"rolloutAfter,omitempty"`

	// rolloutStrategy configures how Machines are replaced.
	// +optional
	RolloutStrategy *RolloutStrategy `json:"rolloutStrategy,omitempty"`

	// remediationStrategy configures how unhealthy Machines are replaced.
	// +optional
	RemediationStrategy *RemediationStrategy `json:"remediationStrategy,omitempty"`

	// machineNamingStrategy configures how Machines are named.
	// +optional
	MachineNamingStrategy *MachineNamingStrategy `json:"machineNamingStrategy,omitempty"`
}

// FooControlPlaneTemplateMachineTemplate describes the Machines of a control plane, without
// infrastructureRef.
type FooControlPlaneTemplateMachineTemplate struct {
	// metadata holds the labels and annotations of the Machines.
	// +optional
	ObjectMeta clusterv1beta1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// A change of MachineTimeouts or of the fields below is applied to existing Machines without
	// replacing them.
	MachineTimeouts `json:",inline"`

	// readinessGates are additional conditions that must be true for a Machine to be ready. The
	// FooControlPlane adds its own.
	// +optional
	// +listType=map
	// +listMapKey=conditionType
	// +kubebuilder:validation:MaxItems=32
	ReadinessGates []clusterv1beta1.MachineReadinessGate `json:"readinessGates,omitempty"`

	// taints are the taints that Cluster API manages on the Nodes. Taints that others add are kept.
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
