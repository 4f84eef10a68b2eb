// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

const (
	// FooMachineFinalizer keeps a FooMachine until its instance is gone from the cloud.
	FooMachineFinalizer = "infrastructure.cluster.x-k8s.io/foomachine"

	// DefaultInstanceType is the instance type of a FooMachine or FooMachinePool that names none.
	DefaultInstanceType = "small"
)

// FooMachineSpec is the desired state of a FooMachine.
type FooMachineSpec struct {
	// providerID is foo:///<zone>/<instance ID> and equals the provider ID of the Node that runs on
	// the instance. The FooMachine controller writes it once the instance is requested. The pool's
	// controller writes it for a FooMachine of a pool.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ProviderID string `json:"providerID,omitempty"`

	// instanceType names an instance type of the cloud, which determines the instance's CPUs and
	// memory. Defaults to "small". The condition InstanceProvisioned reports an unknown name and
	// lists the available ones.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	InstanceType string `json:"instanceType,omitempty"`

	// interruptible makes the instance a spot instance: the cloud may reclaim it at any time, after
	// a notice. The condition Ready reports a notice with the reason ReclaimNotice. Defaults to
	// false. The field is immutable: use another template for new instances.
	// +optional
	Interruptible *bool `json:"interruptible,omitempty"`

	// image names a variant of the cloud's default image. The cloud must have this variant for the
	// Kubernetes version. If it is not set, the default image is used. The condition
	// InstanceProvisioned reports an unknown name and lists the available ones.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Image string `json:"image,omitempty"`

	// rootDisk is the disk of the instance. It holds everything that is written in the instance,
	// such as container images, logs and volumes of the type emptyDir.
	// +optional
	RootDisk RootDisk `json:"rootDisk,omitempty,omitzero"`

	// additionalTags are tags of the instance in the cloud. They are added to Foo's own tags and to
	// the additionalTags of the FooCluster. If both set the same key, the value here applies.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) >= 1 && size(key) <= 128 && size(self[key]) <= 256)",message="keys must have 1 to 128 characters, and values at most 256 (see kubectl explain foomachines.spec.additionalTags)"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.contains('cluster.x-k8s.io/'))",message="keys must not contain cluster.x-k8s.io/, which is reserved for Foo's own tags (see kubectl explain foomachines.spec.additionalTags)"
	AdditionalTags map[string]string `json:"additionalTags,omitempty"`
}

// RootDisk is the disk of an instance.
type RootDisk struct {
	// sizeGiB is the size of the disk in GiB (2^30 bytes). Defaults to what the instance type
	// specifies. A cloud that cannot limit disks rejects the field.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=8192
	SizeGiB int32 `json:"sizeGiB,omitempty"`
}

// Bytes returns the size of the disk in bytes, 0 if it is not set.
func (d RootDisk) Bytes() int64 { return int64(d.SizeGiB) << 30 }

// InstanceTypeOrDefault returns the instance type that the spec names, or DefaultInstanceType.
func (s *FooMachineSpec) InstanceTypeOrDefault() string {
	if s.InstanceType == "" {
		return DefaultInstanceType
	}
	return s.InstanceType
}

// InstanceState is the state of an instance as the cloud reports it.
// +kubebuilder:validation:Enum=Pending;Running;Stopped;Deleting;Failed
type InstanceState string

// BootstrapState is the bootstrap progress of an instance as the cloud reports it.
// +kubebuilder:validation:Enum=Pending;Running;Succeeded;Failed
type BootstrapState string

// FooMachineStatus is the observed state of a FooMachine. It has no field for terminal failures:
// conditions report them.
//
// +kubebuilder:validation:MinProperties=1
type FooMachineStatus struct {
	// conditions are the observations of the FooMachine's current state.
	// Known types are Ready, InstanceProvisioned, BootstrapExecSucceeded, Deleting and Paused.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// initialization reports the first provisioning of the machine's infrastructure. Cluster API
	// uses it to start what depends on the machine.
	// +optional
	Initialization FooMachineInitializationStatus `json:"initialization,omitempty,omitzero"`

	// addresses are the instance's addresses: its host name and its internal IP address.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Addresses []clusterv1.MachineAddress `json:"addresses,omitempty"`

	// failureDomain is the zone in which the instance runs: spec.failureDomain of the Machine or, if
	// that is not set, the zone of the cluster that has the fewest instances of the same role.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FailureDomain string `json:"failureDomain,omitempty"`

	// instanceID is the cloud's ID of the instance.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	InstanceID string `json:"instanceID,omitempty"`

	// instanceState is the state in which the cloud last reported the instance.
	// +optional
	InstanceState InstanceState `json:"instanceState,omitempty"`

	// instanceType is the actual instance type, even if the spec names none.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	InstanceType string `json:"instanceType,omitempty"`

	// bootstrapState is the progress of the instance's bootstrap. The condition
	// BootstrapExecSucceeded says what failed.
	// +optional
	BootstrapState BootstrapState `json:"bootstrapState,omitempty"`

	// interruptible reports whether the cloud may reclaim the instance. If so, Cluster API labels its
	// Node.
	// +optional
	Interruptible *bool `json:"interruptible,omitempty"`

	// observedGeneration is the generation of the spec that this status was computed from.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// FooMachineInitializationStatus reports the first provisioning of a machine's infrastructure.
// +kubebuilder:validation:MinProperties=1
type FooMachineInitializationStatus struct {
	// provisioned is true once the instance has been fully provisioned; it never goes back to
	// false.
	// +optional
	Provisioned *bool `json:"provisioned,omitempty"`
}

// FooMachine is an instance of the cloud that hosts one Node.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=foomachines,shortName=foom,scope=Namespaced,categories=cluster-api
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=infrastructure-foo"
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io="
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="Cluster to which this FooMachine belongs"
// +kubebuilder:printcolumn:name="Machine",type="string",JSONPath=`.metadata.ownerReferences[?(@.kind=="Machine")].name`,description="Machine that owns this FooMachine",priority=10
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the instance works"
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.instanceState",description="State of the instance"
// +kubebuilder:printcolumn:name="Bootstrap",type="string",JSONPath=".status.bootstrapState",description="Bootstrap progress of the instance"
// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".status.instanceType",description="Instance type",priority=10
// +kubebuilder:printcolumn:name="Zone",type="string",JSONPath=".status.failureDomain",description="Zone of the instance"
// +kubebuilder:printcolumn:name="Address",type="string",JSONPath=`.status.addresses[?(@.type=="InternalIP")].address`,description="Internal IP address of the instance"
// +kubebuilder:printcolumn:name="Provider ID",type="string",JSONPath=".spec.providerID",description="Provider ID of the instance",priority=10
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=`.status.conditions[?(@.type=="Paused")].status`,description="Whether reconciliation is paused",priority=10
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
type FooMachine struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +optional
	Spec FooMachineSpec `json:"spec,omitempty,omitzero"`
	// status is the observed state.
	// +optional
	Status FooMachineStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions of the object.
func (m *FooMachine) GetConditions() []metav1.Condition { return m.Status.Conditions }

// SetConditions replaces the conditions of the object.
func (m *FooMachine) SetConditions(conditions []metav1.Condition) { m.Status.Conditions = conditions }

// FooMachineList is a list of FooMachines.
//
// +kubebuilder:object:root=true
type FooMachineList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list's metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the FooMachines.
	Items []FooMachine `json:"items"`
}
