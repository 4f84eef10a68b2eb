// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
)

// FooControlPlaneSpec is the desired state of a FooControlPlane.
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || self.replicas % 2 == 1 || (has(self.kubeadmConfigSpec) && has(self.kubeadmConfigSpec.clusterConfiguration) && has(self.kubeadmConfigSpec.clusterConfiguration.etcd) && has(self.kubeadmConfigSpec.clusterConfiguration.etcd.external))",message="replicas must be odd: an even number of etcd members tolerates no more failures than one member fewer; even numbers are allowed with external etcd only (see kubectl explain foocontrolplanes.spec.replicas)"
type FooControlPlaneSpec struct {
	// replicas is the desired number of control plane Machines. Defaults to 1. It must be odd,
	// unless etcd is external.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	Replicas *int32 `json:"replicas,omitempty"`

	// version is the Kubernetes version of the control plane: a semantic version, for example v1.36.3.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self.matches('^v?(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)([-+][0-9A-Za-z.+-]+)?$')`,message="version must be a semantic version such as v1.36.3 (see kubectl explain foocontrolplanes.spec.version)"
	Version string `json:"version"`

	// machineTemplate describes the control plane's Machines.
	MachineTemplate FooControlPlaneMachineTemplate `json:"machineTemplate"`

	// kubeadmConfigSpec is the source of each Machine's KubeadmConfig. The first Machine uses
	// clusterConfiguration and initConfiguration. All others use joinConfiguration.
	// +optional
	KubeadmConfigSpec bootstrapv1beta1.KubeadmConfigSpec `json:"kubeadmConfigSpec,omitempty,omitzero"`

	// rolloutBefore replaces Machines ahead of an event.
	// +optional
	RolloutBefore *RolloutBefore `json:"rolloutBefore,omitempty"`

	// rolloutAfter is a time, for example "2026-03-09T09:00:00Z". Once it has passed, all Machines
	// created before it are replaced.
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

// FooControlPlaneStatus is the observed state of a FooControlPlane. All of it is derived from the
// status of v1beta2, including fields that v1beta2 names differently or computes by another rule.
type FooControlPlaneStatus struct {
	// selector selects the control plane's Machines, in the string form of a label selector. The
	// scale subresource reports it.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Selector string `json:"selector,omitempty"`

	// replicas is the number of Machines that exist.
	// +optional
	Replicas int32 `json:"replicas"`

	// version is the oldest Kubernetes version of the Machines.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version *string `json:"version,omitempty"`

	// updatedReplicas is the number of Machines that have the desired spec.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas"`

	// readyReplicas is the number of Machines that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// unavailableReplicas is the number of desired Machines that are not available, because they do
	// not exist yet or do not work.
	// +optional
	UnavailableReplicas int32 `json:"unavailableReplicas"`

	// initialized is true once the control plane can accept requests; it never goes back to false.
	// +optional
	Initialized bool `json:"initialized"`

	// ready is true once the control plane can accept requests; it never goes back to false. The
	// conditions say whether it works now.
	// +optional
	Ready bool `json:"ready"`

	// externalManagedControlPlane is always false: each control plane Machine has a Node.
	// +optional
	ExternalManagedControlPlane bool `json:"externalManagedControlPlane,omitempty"`

	// failureReason is never set: Foo has no terminal failures, and the conditions say what is
	// wrong.
	//
	// Deprecated: this field will be removed together with the v1beta1 contract.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FailureReason *string `json:"failureReason,omitempty"`

	// failureMessage is never set: Foo has no terminal failures, and the conditions say what is
	// wrong.
	//
	// Deprecated: this field will be removed together with the v1beta1 contract.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	FailureMessage *string `json:"failureMessage,omitempty"`

	// observedGeneration is the generation of the spec that this status was computed from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are the v1beta2 conditions that are true in normal operation, in the form of the
	// v1beta1 contract. Ready has the value of Available in v1beta2.
	// +optional
	Conditions clusterv1beta1.Conditions `json:"conditions,omitempty"`

	// lastRemediation describes the latest remediation.
	// +optional
	LastRemediation *LastRemediationStatus `json:"lastRemediation,omitempty"`

	// v1beta2 holds the v1beta2 fields whose names mean something else in v1beta1.
	// +optional
	V1Beta2 *FooControlPlaneV1Beta2Status `json:"v1beta2,omitempty"`
}

// FooControlPlaneV1Beta2Status holds the v1beta2 fields whose names mean something else in v1beta1.
type FooControlPlaneV1Beta2Status struct {
	// conditions are the observations of the FooControlPlane's current state.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// readyReplicas is the number of Machines whose Ready condition is true.
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// availableReplicas is the number of Machines whose Available condition is true.
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// upToDateReplicas is the number of Machines whose UpToDate condition is true.
	// +optional
	UpToDateReplicas *int32 `json:"upToDateReplicas,omitempty"`
}

// LastRemediationStatus describes the latest remediation. If it is lost, retries are counted from
// zero again.
type LastRemediationStatus struct {
	// machine is the name of the Machine that was remediated.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Machine string `json:"machine"`

	// timestamp is the time of the remediation.
	Timestamp metav1.Time `json:"timestamp"`

	// retryCount is the number of earlier replacements of the same Machine that failed.
	// +kubebuilder:validation:Minimum=0
	RetryCount int32 `json:"retryCount"`
}

// FooControlPlane is a Kubernetes control plane. Each member is a Machine that kubeadm sets up.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=foocontrolplanes,shortName=foocp,scope=Namespaced,categories=cluster-api
// +kubebuilder:deprecatedversion
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="Cluster to which this control plane belongs"
// +kubebuilder:printcolumn:name="Initialized",type="boolean",JSONPath=".status.initialized",description="Whether the control plane has been initialized"
// +kubebuilder:printcolumn:name="Desired",type="integer",JSONPath=".spec.replicas",description="Desired number of Machines"
// +kubebuilder:printcolumn:name="Replicas",type="integer",JSONPath=".status.replicas",description="Number of Machines"
// +kubebuilder:printcolumn:name="Ready",type="integer",JSONPath=".status.readyReplicas",description="Number of Machines that are ready"
// +kubebuilder:printcolumn:name="Updated",type="integer",JSONPath=".status.updatedReplicas",description="Number of Machines that have the desired spec"
// +kubebuilder:printcolumn:name="Unavailable",type="integer",JSONPath=".status.unavailableReplicas",description="Number of desired Machines that are not available"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".spec.version",description="Desired Kubernetes version"
type FooControlPlane struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +optional
	Spec FooControlPlaneSpec `json:"spec,omitempty,omitzero"`
	// status is the observed state.
	// +optional
	Status FooControlPlaneStatus `json:"status,omitempty,omitzero"`
}

// FooControlPlaneList is a list of FooControlPlanes.
//
// +kubebuilder:object:root=true
type FooControlPlaneList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list's metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the FooControlPlanes.
	Items []FooControlPlane `json:"items"`
}
