// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// FooMachineTemplateSpec is the desired state of a FooMachineTemplate.
type FooMachineTemplateSpec struct {
	// template describes the FooMachines to create.
	// +required
	Template FooMachineTemplateResource `json:"template"`
}

// FooMachineTemplateResource describes a FooMachine to create.
// +kubebuilder:validation:XValidation:rule="!has(self.spec.providerID)",message="providerID must not be set in a template: every instance has its own (see kubectl explain foomachinetemplates.spec.template.spec.providerID)"
type FooMachineTemplateResource struct {
	// metadata holds the labels and annotations of the FooMachines.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the FooMachines.
	// +required
	Spec FooMachineSpec `json:"spec"`
}

// Architecture is the CPU architecture of a node.
// +kubebuilder:validation:Enum=amd64;arm64;s390x;ppc64le
// +enum
type Architecture string

const (
	// ArchitectureAmd64 is the 64-bit x86 architecture.
	ArchitectureAmd64 Architecture = "amd64"
	// ArchitectureArm64 is the 64-bit ARM architecture.
	ArchitectureArm64 Architecture = "arm64"
	// ArchitectureS390x is the IBM Z architecture.
	ArchitectureS390x Architecture = "s390x"
	// ArchitecturePpc64le is the 64-bit little-endian POWER architecture.
	ArchitecturePpc64le Architecture = "ppc64le"
)

// NodeInfo is what the cluster autoscaler must know about a node that does not exist yet.
// +kubebuilder:validation:MinProperties=1
type NodeInfo struct {
	// architecture is the CPU architecture of the node.
	// +optional
	Architecture Architecture `json:"architecture,omitempty"`

	// operatingSystem is the operating system of the node, for example linux.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	OperatingSystem string `json:"operatingSystem,omitempty"`
}

// FooMachineTemplateStatus is the observed state of a FooMachineTemplate.
// +kubebuilder:validation:MinProperties=1
type FooMachineTemplateStatus struct {
	// capacity holds the CPUs and memory of the template's instance type. The cluster autoscaler
	// reads it to scale from zero.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`

	// nodeInfo holds the architecture and operating system of the template's instances.
	// +optional
	NodeInfo NodeInfo `json:"nodeInfo,omitempty,omitzero"`
}

// FooMachineTemplate is a template of FooMachines, for a control plane, MachineSets,
// MachineDeployments and ClusterClasses.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=foomachinetemplates,shortName=foomt,scope=Namespaced,categories=cluster-api
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=infrastructure-foo"
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io="
// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".spec.template.spec.instanceType",description="Instance type"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
type FooMachineTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +required
	Spec FooMachineTemplateSpec `json:"spec"`
	// status is the observed state.
	// +optional
	Status FooMachineTemplateStatus `json:"status,omitempty,omitzero"`
}

// FooMachineTemplateList is a list of FooMachineTemplates.
//
// +kubebuilder:object:root=true
type FooMachineTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list's metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the FooMachineTemplates.
	Items []FooMachineTemplate `json:"items"`
}
