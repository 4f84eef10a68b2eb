// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
)

// FooMachinePoolSpec is the desired state of a FooMachinePool. The MachinePool that references it
// sets the number of instances and the failure domains.
type FooMachinePoolSpec struct {
	// providerID is foo:///<pool name> and identifies the pool in the cloud. The controller writes it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ProviderID string `json:"providerID,omitempty"`

	// providerIDList lists the provider IDs of the instances of the pool, sorted. The controller
	// writes it and lists an ID until its instance is gone.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ProviderIDList []string `json:"providerIDList,omitempty"`

	// template describes the instances of the pool.
	// +optional
	Template FooMachinePoolMachineTemplate `json:"template,omitempty,omitzero"`
}

// FooMachinePoolMachineTemplate describes the instances of a pool.
type FooMachinePoolMachineTemplate struct {
	// instanceType names an instance type of the cloud, which determines the CPUs and memory of the
	// instances. Defaults to "small".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	InstanceType string `json:"instanceType,omitempty"`

	// interruptible makes the instances spot instances: the cloud may reclaim them at any time,
	// after a notice. The Machine of an instance with a notice is deleted at once and another
	// instance is created. Defaults to false.
	// +optional
	Interruptible *bool `json:"interruptible,omitempty"`

	// image names a variant of the cloud's default image. The cloud must have this variant for the
	// Kubernetes version. If it is not set, the default image is used. The condition PoolProvisioned
	// reports an unknown name and lists the available ones.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Image string `json:"image,omitempty"`

	// rootDisk is the disk of each instance. It holds everything that is written in the instance,
	// such as container images, logs and volumes of the type emptyDir.
	// +optional
	RootDisk RootDisk `json:"rootDisk,omitempty,omitzero"`

	// additionalTags are tags of the instances in the cloud. They are added to Foo's own tags and to
	// the additionalTags of the FooCluster. If both set the same key, the value here applies.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) >= 1 && size(key) <= 128 && size(self[key]) <= 256)",message="keys must have 1 to 128 characters, and values at most 256 (see kubectl explain foomachinepools.spec.template.additionalTags)"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.contains('cluster.x-k8s.io/'))",message="keys must not contain cluster.x-k8s.io/, which is reserved for Foo's own tags (see kubectl explain foomachinepools.spec.template.additionalTags)"
	AdditionalTags map[string]string `json:"additionalTags,omitempty"`
}

// FooMachinePoolStatus is the observed state of a FooMachinePool. Its failureReason and
// failureMessage must stay empty: they crash the MachinePool controller of Cluster API.
type FooMachinePoolStatus struct {
	ContractStatus `json:",inline"`

	// replicas is the number of instances that the pool has in the cloud, in any state.
	// +optional
	Replicas int32 `json:"replicas"`

	// infrastructureMachineKind is FooMachine, the kind of the object that represents each
	// instance.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	InfrastructureMachineKind string `json:"infrastructureMachineKind,omitempty"`

	// instances are the instances of the pool, sorted by name and limited to the first 1000. The
	// total is in replicas.
	// +optional
	// +listType=map
	// +listMapKey=instanceName
	// +kubebuilder:validation:MaxItems=1000
	Instances []FooMachinePoolInstanceStatus `json:"instances,omitempty"`

	// capacity holds the CPUs and memory of one instance. The cluster autoscaler reads it to scale
	// from zero.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`

	// nodeInfo holds the architecture and operating system of the instances of the pool.
	// +optional
	NodeInfo *NodeInfo `json:"nodeInfo,omitempty"`
}

// FooMachinePoolInstanceStatus is one instance of a pool.
type FooMachinePoolInstanceStatus struct {
	// instanceName is the name of the instance, and of its FooMachine.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	InstanceName string `json:"instanceName"`

	// providerID is foo:///<zone>/<instance ID>.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ProviderID string `json:"providerID,omitempty"`

	// addresses are the addresses of the instance: its host name and its internal IP address.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Addresses []clusterv1beta1.MachineAddress `json:"addresses,omitempty"`

	// failureDomain is the zone in which the instance runs.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	FailureDomain string `json:"failureDomain,omitempty"`

	// version is the Kubernetes version of the instance.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// state is the state in which the cloud last reported the instance.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	State string `json:"state,omitempty"`

	// ready is true while the instance runs and its bootstrap succeeded.
	// +optional
	Ready *bool `json:"ready,omitempty"`
}

// FooMachinePool is an instance pool of the cloud. Each instance hosts one Node.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=foomachinepools,shortName=foomp,scope=Namespaced,categories=cluster-api
// +kubebuilder:deprecatedversion
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="Cluster to which this FooMachinePool belongs"
// +kubebuilder:printcolumn:name="Ready",type="boolean",JSONPath=".status.ready",description="Whether the infrastructure has been fully provisioned"
// +kubebuilder:printcolumn:name="Replicas",type="integer",JSONPath=".status.replicas",description="Number of instances"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
type FooMachinePool struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +optional
	Spec FooMachinePoolSpec `json:"spec,omitempty,omitzero"`
	// status is the observed state.
	// +optional
	Status FooMachinePoolStatus `json:"status,omitempty,omitzero"`
}

// FooMachinePoolList is a list of FooMachinePools.
//
// +kubebuilder:object:root=true
type FooMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list's metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the FooMachinePools.
	Items []FooMachinePool `json:"items"`
}
