// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
)

// FooMachineSpec is the desired state of a FooMachine.
type FooMachineSpec struct {
	// providerID is foo:///<zone>/<instance ID> and equals the provider ID of the Node that runs on
	// the instance. The FooMachine controller writes it once the instance is requested. The pool's
	// controller writes it for a FooMachine of a pool.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ProviderID *string `json:"providerID,omitempty"`

	// failureDomain is the zone in which the instance runs. It is observed: the Machine holds the
	// desired failure domain.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FailureDomain *string `json:"failureDomain,omitempty"`

	// instanceType names an instance type of the cloud, which determines the CPUs and memory of the
	// instance. Defaults to "small".
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

// FooMachineStatus is the observed state of a FooMachine.
type FooMachineStatus struct {
	ContractStatus `json:",inline"`

	// addresses are the addresses of the instance: its host name and its internal IP address.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Addresses []clusterv1beta1.MachineAddress `json:"addresses,omitempty"`

	// instanceID is the ID of the instance in the cloud.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	InstanceID string `json:"instanceID,omitempty"`

	// instanceState is the state in which the cloud last reported the instance.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	InstanceState string `json:"instanceState,omitempty"`

	// instanceType is the actual instance type, even if the spec names none.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	InstanceType string `json:"instanceType,omitempty"`

	// bootstrapState is the progress of the instance's bootstrap.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	BootstrapState string `json:"bootstrapState,omitempty"`

	// interruptible reports whether the cloud may reclaim the instance. If so, Cluster API labels its
	// Node.
	// +optional
	Interruptible *bool `json:"interruptible,omitempty"`
}

// FooMachine is an instance of the cloud that hosts one Node.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=foomachines,shortName=foom,scope=Namespaced,categories=cluster-api
// +kubebuilder:deprecatedversion
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="Cluster to which this FooMachine belongs"
// +kubebuilder:printcolumn:name="Ready",type="boolean",JSONPath=".status.ready",description="Whether the infrastructure has been fully provisioned"
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.instanceState",description="State of the instance"
// +kubebuilder:printcolumn:name="Provider ID",type="string",JSONPath=".spec.providerID",description="Provider ID of the instance",priority=10
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
