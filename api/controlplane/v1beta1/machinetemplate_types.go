// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
)

// FooControlPlaneMachineTemplate describes the Machines of a control plane.
type FooControlPlaneMachineTemplate struct {
	// metadata holds the labels and annotations of the Machines. A change is applied to existing
	// Machines without replacing them.
	// +optional
	ObjectMeta clusterv1beta1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// infrastructureRef names the infrastructure machine template, in the namespace of the
	// FooControlPlane. Only the group of apiVersion is used; Cluster API's contract determines the
	// version. Naming another template replaces the Machines.
	InfrastructureRef corev1.ObjectReference `json:"infrastructureRef"`

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

// MachineTimeouts limits how long each step of a Machine's deletion may take. Fractions of a second
// are ignored.
type MachineTimeouts struct {
	// nodeDrainTimeout is the maximum time for draining the Node. Zero, the default, means no
	// limit.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^0$|^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	NodeDrainTimeout *metav1.Duration `json:"nodeDrainTimeout,omitempty"`

	// nodeVolumeDetachTimeout is the maximum time to wait for volumes to be detached. Zero, the
	// default, means no limit.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^0$|^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	NodeVolumeDetachTimeout *metav1.Duration `json:"nodeVolumeDetachTimeout,omitempty"`

	// nodeDeletionTimeout is how long to keep trying to delete the Node after the Machine was
	// deleted. Zero means no limit. Defaults to the default of Machine.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^0$|^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	NodeDeletionTimeout *metav1.Duration `json:"nodeDeletionTimeout,omitempty"`
}

// MachineNamingStrategy configures how Machines are named.
type MachineNamingStrategy struct {
	// template is a Go template of a Machine's name. Defaults to
	// "{{ .fooControlPlane.name }}-{{ .random }}". It can use .cluster.name, .fooControlPlane.name and
	// .random. It must contain .random, which is five random characters. Functions and control
	// structures are rejected.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self.matches('\\{\\{-?\\s*\\.random\\s*-?\\}\\}')`,message="template must contain {{ .random }}, so that no two Machines have the same name (see kubectl explain foocontrolplanes.spec.machineNaming.template)"
	Template string `json:"template,omitempty"`
}
