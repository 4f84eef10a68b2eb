// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

// FooControlPlaneMachineTemplate says how the Machines of a control plane look.
type FooControlPlaneMachineTemplate struct {
	// metadata is the labels and annotations of the Machines. A change reaches the Machines that exist without
	// replacing them.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the Machines.
	// +required
	Spec FooControlPlaneMachineTemplateSpec `json:"spec,omitempty,omitzero"`
}

// FooControlPlaneMachineTemplateSpec is the spec of the Machines of a control plane.
type FooControlPlaneMachineTemplateSpec struct {
	// infrastructureRef names the infrastructure machine template, in the namespace of the FooControlPlane.
	// Any infrastructure provider's template will do. Another template replaces the Machines.
	// +required
	InfrastructureRef clusterv1.ContractVersionedObjectReference `json:"infrastructureRef,omitempty,omitzero"` // contract:control-plane/machines

	// readinessGates are conditions of a Machine that must be true, besides those that the FooControlPlane adds
	// itself, for the Machine to be ready. A change reaches the Machines that exist without replacing them.
	// +optional
	// +listType=map
	// +listMapKey=conditionType
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	ReadinessGates []clusterv1.MachineReadinessGate `json:"readinessGates,omitempty"`

	// deletion says how long each step of a Machine's deletion may take. A change reaches the Machines that exist
	// without replacing them.
	// +optional
	Deletion FooControlPlaneMachineTemplateDeletionSpec `json:"deletion,omitempty,omitzero"`

	// taints are the taints that Cluster API keeps on the Nodes, besides those that others put there. A change reaches
	// the Machines that exist without replacing them.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Taints []clusterv1.MachineTaint `json:"taints,omitempty"`
}

// FooControlPlaneMachineTemplateDeletionSpec says how long each step of a Machine's deletion may take.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneMachineTemplateDeletionSpec struct {
	// nodeDrainTimeoutSeconds is how long the Node is drained at most. Zero, the default, is without limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodeDrainTimeoutSeconds *int32 `json:"nodeDrainTimeoutSeconds,omitempty"`

	// nodeVolumeDetachTimeoutSeconds is how long the detaching of volumes is waited for at most. Zero, the default, is
	// without limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodeVolumeDetachTimeoutSeconds *int32 `json:"nodeVolumeDetachTimeoutSeconds,omitempty"`

	// nodeDeletionTimeoutSeconds is how long the deletion of the Node is tried at most after the Machine's deletion.
	// Zero is without limit; the default is that of Machine.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodeDeletionTimeoutSeconds *int32 `json:"nodeDeletionTimeoutSeconds,omitempty"`
}

// MachineNamingSpec says how Machines are named.
// +kubebuilder:validation:MinProperties=1
type MachineNamingSpec struct {
	// template is a Go template of a Machine's name. Defaults to "{{ .fooControlPlane.name }}-{{ .random }}".
	// It may use .cluster.name, .fooControlPlane.name and .random: five random characters, which it must hold. Functions
	// and control structures are refused. A name of more than 63 characters is cut to 58, and five random characters are
	// added.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self.matches('\\{\\{-?\\s*\\.random\\s*-?\\}\\}')`,message="template must contain {{ .random }}, so that no two Machines have the same name (see kubectl explain foocontrolplanes.spec.machineNaming.template)"
	Template string `json:"template,omitempty"`
}
