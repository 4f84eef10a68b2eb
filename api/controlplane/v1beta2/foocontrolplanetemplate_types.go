// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// FooControlPlaneTemplateSpec is the desired state of a FooControlPlaneTemplate.
type FooControlPlaneTemplateSpec struct {
	// template describes the FooControlPlanes to create.
	// +required
	Template FooControlPlaneTemplateResource `json:"template"`
}

// FooControlPlaneTemplateResource describes a FooControlPlane to create.
type FooControlPlaneTemplateResource struct {
	// metadata holds the labels and annotations of the FooControlPlanes.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the FooControlPlanes.
	// +required
	Spec FooControlPlaneTemplateResourceSpec `json:"spec"`
}

// FooControlPlaneTemplateResourceSpec is FooControlPlaneSpec without the fields that a Cluster's
// topology sets: replicas, version and infrastructureRef.
type FooControlPlaneTemplateResourceSpec struct {
	// machineTemplate describes the control plane's Machines.
	// +optional
	MachineTemplate FooControlPlaneTemplateMachineTemplate `json:"machineTemplate,omitempty,omitzero"`

	// kubeadmConfigSpec is the source of each Machine's KubeadmConfig.
	// +optional
	KubeadmConfigSpec bootstrapv1.KubeadmConfigSpec `json:"kubeadmConfigSpec,omitempty,omitzero"`

	// rollout configures when and how Machines are replaced.
	// +optional
	Rollout FooControlPlaneRolloutSpec `json:"rollout,omitempty,omitzero"`

	// remediation configures how unhealthy Machines are replaced.
	// +optional
	Remediation FooControlPlaneRemediationSpec `json:"remediation,omitempty,omitzero"`

	// machineNaming configures how Machines are named.
	// +optional
	MachineNaming MachineNamingSpec `json:"machineNaming,omitempty,omitzero"`
}

// FooControlPlaneTemplateMachineTemplate describes the Machines of a control plane, without
// infrastructureRef.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneTemplateMachineTemplate struct {
	// metadata holds the labels and annotations of the Machines.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the Machines.
	// +optional
	Spec FooControlPlaneTemplateMachineTemplateSpec `json:"spec,omitempty,omitzero"`
}

// FooControlPlaneTemplateMachineTemplateSpec is the spec of the Machines of a control plane,
// without infrastructureRef.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneTemplateMachineTemplateSpec struct {
	// readinessGates are additional conditions that must be true for a Machine to be ready. The
	// FooControlPlane adds its own.
	// +optional
	// +listType=map
	// +listMapKey=conditionType
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	ReadinessGates []clusterv1.MachineReadinessGate `json:"readinessGates,omitempty"`

	// deletion limits how long each step of a Machine's deletion may take.
	// +optional
	Deletion FooControlPlaneMachineTemplateDeletionSpec `json:"deletion,omitempty,omitzero"`

	// taints are the taints that Cluster API manages on the Nodes.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Taints []clusterv1.MachineTaint `json:"taints,omitempty"`
}

// FooControlPlaneTemplate is a template of FooControlPlanes for ClusterClasses.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=foocontrolplanetemplates,shortName=foocpt,scope=Namespaced,categories=cluster-api
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=control-plane-foo"
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io="
// +kubebuilder:printcolumn:name="ClusterClass",type="string",JSONPath=`.metadata.ownerReferences[?(@.kind=="ClusterClass")].name`,description="ClusterClass that owns this template"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
type FooControlPlaneTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +required
	Spec FooControlPlaneTemplateSpec `json:"spec"`
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
