/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package infrastructure

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

const (
	// FooMachinePoolFinalizer keeps a FooMachinePool until its pool and all instances are gone from the cloud.
	FooMachinePoolFinalizer = "infrastructure.cluster.x-k8s.io/foomachinepool"

	// InfrastructureMachineKind is the value of status.infrastructureMachineKind of every FooMachinePool.
	InfrastructureMachineKind = "FooMachine"

	// MaxReportedInstances is how many instances status.instances holds at most; more would not fit into one object.
	MaxReportedInstances = 1000
)

// FooMachinePoolSpec is the desired state of a FooMachinePool.
// The number of instances and the failure domains stand in the MachinePool that refers to it.
type FooMachinePoolSpec struct {
	// providerID is foo:///<pool name> and identifies the pool in the cloud. The controller writes it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ProviderID string `json:"providerID,omitempty"` // contract:infra-machinepool/providerID

	// providerIDList is the provider IDs of the pool's instances, sorted. The controller writes it, and keeps an ID
	// listed until its instance is gone: Cluster API deletes the Node of an ID that leaves the list.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ProviderIDList []string `json:"providerIDList,omitempty"` // contract:infra-machinepool/providerIDList

	// template is what the pool's instances are made from.
	// +optional
	Template FooMachinePoolMachineTemplate `json:"template,omitempty,omitzero"`
}

// FooMachinePoolMachineTemplate is what the instances of a pool are made from.
// +kubebuilder:validation:MinProperties=1
type FooMachinePoolMachineTemplate struct {
	// instanceType names an instance type of the cloud, which sets the instances' CPUs and memory. Defaults to "small".
	// A name that the cloud does not have is reported in the condition PoolProvisioned, with the names that it has.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	InstanceType string `json:"instanceType,omitempty"`
}

// InstanceTypeOrDefault returns the instance type that the template names, or DefaultInstanceType.
func (t *FooMachinePoolMachineTemplate) InstanceTypeOrDefault() string {
	if t.InstanceType == "" {
		return DefaultInstanceType
	}
	return t.InstanceType
}

// FooMachinePoolStatus is the observed state of a FooMachinePool. It has no field for terminal failures: conditions tell them.
//
// +kubebuilder:validation:MinProperties=1
//
//contract:infra-machinepool/terminal-failures
type FooMachinePoolStatus struct {
	// conditions are the observations of the FooMachinePool's current state.
	// Known types are Ready, PoolProvisioned, InstancesReady, ScalingUp, ScalingDown, Deleting and Paused.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"` // contract:infra-machinepool/conditions

	// initialization says how far the first provisioning of the pool's infrastructure is.
	// +optional
	Initialization FooMachinePoolInitializationStatus `json:"initialization,omitempty,omitzero"`

	// ready is what Cluster API v1.14 reads in place of initialization.provisioned, which it does not read yet of a
	// pool. Both are set together and never go back to false.
	// +optional
	Ready *bool `json:"ready,omitempty"`

	// replicas is the number of instances that the pool has in the cloud, in whatever state.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"` // contract:infra-machinepool/replicas

	// infrastructureMachineKind is FooMachine, the kind of which one object stands for each instance.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	InfrastructureMachineKind string `json:"infrastructureMachineKind,omitempty"` // contract:infra-machinepool/machine-pool-machines

	// instances are the pool's instances, sorted by name: the first 1000 of them. The full number is in replicas.
	// +optional
	// +listType=map
	// +listMapKey=instanceName
	// +kubebuilder:validation:MaxItems=1000
	Instances []FooMachinePoolInstanceStatus `json:"instances,omitempty"` // contract:infra-machinepool/instances

	// capacity is the CPUs and memory of one instance. The cluster autoscaler reads it to scale from zero.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`

	// nodeInfo is the architecture and operating system of the pool's instances.
	// +optional
	NodeInfo NodeInfo `json:"nodeInfo,omitempty,omitzero"`

	// observedGeneration is the generation of the spec that this status was computed from.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// FooMachinePoolInitializationStatus says how far the first provisioning of a pool's infrastructure is.
// +kubebuilder:validation:MinProperties=1
type FooMachinePoolInitializationStatus struct {
	// provisioned is true once the pool was fully provisioned; it never goes back to false.
	// +optional
	Provisioned *bool `json:"provisioned,omitempty"` // contract:infra-machinepool/initialization-completed
}

// FooMachinePoolInstanceStatus is one instance of a pool.
type FooMachinePoolInstanceStatus struct {
	// instanceName is the name of the instance, and of its FooMachine.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	InstanceName string `json:"instanceName,omitempty"`

	// providerID is foo:///<zone>/<instance ID>.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ProviderID string `json:"providerID,omitempty"`

	// addresses are the instance's addresses: its host name and its internal IP address.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Addresses []clusterv1.MachineAddress `json:"addresses,omitempty"`

	// failureDomain is the zone in which the instance runs.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	FailureDomain string `json:"failureDomain,omitempty"`

	// version is the Kubernetes version of the instance.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// state is the state in which the cloud last reported the instance.
	// +optional
	State InstanceState `json:"state,omitempty"`

	// ready is true while the instance runs and its bootstrap succeeded.
	// +optional
	Ready *bool `json:"ready,omitempty"`
}

// FooMachinePool is an instance pool of the cloud, each instance of which hosts one Node.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=foomachinepools,shortName=foomp,scope=Namespaced,categories=cluster-api
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=infrastructure-foo"
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io="
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="Cluster to which this FooMachinePool belongs"
// +kubebuilder:printcolumn:name="MachinePool",type="string",JSONPath=`.metadata.ownerReferences[?(@.kind=="MachinePool")].name`,description="MachinePool that owns this FooMachinePool",priority=10
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the pool works"
// +kubebuilder:printcolumn:name="Replicas",type="integer",JSONPath=".status.replicas",description="Number of instances"
// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".spec.template.instanceType",description="Instance type",priority=10
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=`.status.conditions[?(@.type=="Paused")].status`,description="Whether reconciliation is paused",priority=10
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
//
//contract:infra-machinepool/resource-definition
//contract:infra-machinepool/scope
//contract:infra-machinepool/type-meta
//contract:infra-machinepool/api-version
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

// GetConditions returns the conditions of the object.
func (p *FooMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions of the object.
func (p *FooMachinePool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
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
