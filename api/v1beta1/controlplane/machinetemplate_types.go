// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
)

// FooControlPlaneMachineTemplate says how the Machines of a control plane look.
type FooControlPlaneMachineTemplate struct {
	// metadata is the labels and annotations of the Machines. A change reaches the Machines that exist without
	// replacing them.
	// +optional
	ObjectMeta clusterv1beta1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// infrastructureRef names the infrastructure machine template, in the namespace of the FooControlPlane. Of apiVersion
	// only the group counts: Cluster API's contract chooses the version. Another template replaces the Machines.
	InfrastructureRef corev1.ObjectReference `json:"infrastructureRef"`

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

// MachineTimeouts says how long each step of a Machine's deletion may take. Foo counts whole seconds and
// leaves out the rest.
type MachineTimeouts struct {
	// nodeDrainTimeout is how long the Node is drained at most. Zero, the default, is without limit.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^0$|^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	NodeDrainTimeout *metav1.Duration `json:"nodeDrainTimeout,omitempty"`

	// nodeVolumeDetachTimeout is how long the detaching of volumes is waited for at most. Zero, the default, is without
	// limit.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^0$|^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	NodeVolumeDetachTimeout *metav1.Duration `json:"nodeVolumeDetachTimeout,omitempty"`

	// nodeDeletionTimeout is how long the deletion of the Node is tried at most after the Machine's deletion. Zero is
	// without limit; the default is that of Machine.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^0$|^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	NodeDeletionTimeout *metav1.Duration `json:"nodeDeletionTimeout,omitempty"`
}

// MachineNamingStrategy says how Machines are named.
type MachineNamingStrategy struct {
	// template is a Go template of a Machine's name. Defaults to "{{ .fooControlPlane.name }}-{{ .random }}".
	// It may use .cluster.name, .fooControlPlane.name and .random: five random characters, which it must hold. Functions
	// and control structures are refused.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self.matches('\\{\\{-?\\s*\\.random\\s*-?\\}\\}')`,message="template must contain {{ .random }}, so that no two Machines have the same name (see kubectl explain foocontrolplanes.spec.machineNaming.template)"
	Template string `json:"template,omitempty"`
}
