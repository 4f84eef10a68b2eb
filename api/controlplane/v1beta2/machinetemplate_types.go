// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

// FooControlPlaneMachineTemplate describes the Machines of a control plane.
type FooControlPlaneMachineTemplate struct {
	// metadata holds the labels and annotations of the Machines. A change is applied to existing
	// Machines without replacing them.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the Machines.
	// +required
	Spec FooControlPlaneMachineTemplateSpec `json:"spec,omitempty,omitzero"`
}

// FooControlPlaneMachineTemplateSpec is the spec of the Machines of a control plane.
type FooControlPlaneMachineTemplateSpec struct {
	// infrastructureRef names the infrastructure machine template, in the namespace of the
	// FooControlPlane. Templates of any infrastructure provider are supported. Naming another
	// template replaces the Machines.
	// +required
	InfrastructureRef clusterv1.ContractVersionedObjectReference `json:"infrastructureRef,omitempty,omitzero"`

	// readinessGates are additional conditions that must be true for a Machine to be ready. The
	// FooControlPlane adds its own. A change is applied to existing Machines without replacing
	// them.
	// +optional
	// +listType=map
	// +listMapKey=conditionType
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	ReadinessGates []clusterv1.MachineReadinessGate `json:"readinessGates,omitempty"`

	// deletion limits how long each step of a Machine's deletion may take. A change is applied to
	// existing Machines without replacing them.
	// +optional
	Deletion FooControlPlaneMachineTemplateDeletionSpec `json:"deletion,omitempty,omitzero"`

	// taints are the taints that Cluster API manages on the Nodes. Taints that others add are kept.
	// A change is applied to existing Machines without replacing them.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Taints []clusterv1.MachineTaint `json:"taints,omitempty"`
}

// FooControlPlaneMachineTemplateDeletionSpec limits how long each step of a Machine's deletion may
// take.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneMachineTemplateDeletionSpec struct {
	// nodeDrainTimeoutSeconds is the maximum time for draining the Node. Zero, the default, means
	// no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodeDrainTimeoutSeconds *int32 `json:"nodeDrainTimeoutSeconds,omitempty"`

	// nodeVolumeDetachTimeoutSeconds is the maximum time to wait for volumes to be detached. Zero,
	// the default, means no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodeVolumeDetachTimeoutSeconds *int32 `json:"nodeVolumeDetachTimeoutSeconds,omitempty"`

	// nodeDeletionTimeoutSeconds is how long to keep trying to delete the Node after the Machine
	// was deleted. Zero means no limit. Defaults to the default of Machine.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodeDeletionTimeoutSeconds *int32 `json:"nodeDeletionTimeoutSeconds,omitempty"`
}

// MachineNamingSpec configures how Machines are named.
// +kubebuilder:validation:MinProperties=1
type MachineNamingSpec struct {
	// template is a Go template of a Machine's name. Defaults to
	// "{{ .fooControlPlane.name }}-{{ .random }}". It can use .cluster.name, .fooControlPlane.name and
	// .random. It must contain .random, which is five random characters. Functions and control
	// structures are rejected. A name of more than 63 characters is cut to 58, and five random
	// characters are appended.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self.matches('\\{\\{-?\\s*\\.random\\s*-?\\}\\}')`,message="template must contain {{ .random }}, so that no two Machines have the same name (see kubectl explain foocontrolplanes.spec.machineNaming.template)"
	Template string `json:"template,omitempty"`
}
