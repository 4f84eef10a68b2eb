// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

const (
	// FooMachinePoolFinalizer keeps a FooMachinePool until its pool and all instances are gone from
	// the cloud.
	FooMachinePoolFinalizer = "infrastructure.cluster.x-k8s.io/foomachinepool"

	// InfrastructureMachineKind is the value of status.infrastructureMachineKind of every
	// FooMachinePool.
	InfrastructureMachineKind = "FooMachine"

	// MaxReportedInstances is the maximum length of status.instances; more would not fit into one
	// object.
	MaxReportedInstances = 1000

	// MaxPoolReplicas is the maximum number of instances in a pool. The contract limits
	// spec.providerIDList to it.
	MaxPoolReplicas = 10000

	// DefaultNodeJoinTimeoutSeconds is how long a Node may take to join if the strategy sets no
	// time.
	DefaultNodeJoinTimeoutSeconds = 600

	// DefaultMaxFailedReplacements is how many instances in a row may fail to join before the pool
	// is Stalled, if the strategy sets no number.
	DefaultMaxFailedReplacements = 3
)

// FooMachinePoolSpec is the desired state of a FooMachinePool. The MachinePool that references it
// sets the number of instances and the failure domains.
type FooMachinePoolSpec struct {
	// providerID is foo:///<pool name> and identifies the pool in the cloud. The controller writes it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ProviderID string `json:"providerID,omitempty"`

	// providerIDList lists the provider IDs of the pool's instances, sorted. The controller writes it
	// and lists an ID until its instance is gone, because Cluster API deletes the Node of an ID
	// that is removed from the list.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ProviderIDList []string `json:"providerIDList,omitempty"`

	// template describes the pool's instances.
	// +optional
	Template FooMachinePoolMachineTemplate `json:"template,omitempty,omitzero"`

	// strategy configures how instances are replaced and removed. You can change it at any time;
	// changing it does not replace any instance.
	// +optional
	Strategy FooMachinePoolStrategy `json:"strategy,omitempty,omitzero"`
}

// DeletePolicy is the tie-breaker between equally healthy instances.
// +kubebuilder:validation:Enum=Random;Newest;Oldest
// +enum
type DeletePolicy string

const (
	// RandomDeletePolicy deletes them in a stable order that is independent of their age.
	RandomDeletePolicy DeletePolicy = "Random"
	// NewestDeletePolicy deletes the newest first.
	NewestDeletePolicy DeletePolicy = "Newest"
	// OldestDeletePolicy deletes the oldest first. It is the default.
	OldestDeletePolicy DeletePolicy = "Oldest"
)

// FooMachinePoolStrategy configures how instances of a pool are replaced and removed. Scale down,
// rollout, repair and remediation by a MachineHealthCheck share one budget: maxSurge and
// maxUnavailable.
//
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="!has(self.maxSurge) || (type(self.maxSurge) == int ? self.maxSurge >= 0 : self.maxSurge.matches('^(100|[1-9]?[0-9])%$'))",message="maxSurge must be a number of at least 0, or a percentage from 0% to 100% (see kubectl explain foomachinepools.spec.strategy.maxSurge)"
// +kubebuilder:validation:XValidation:rule="!has(self.maxUnavailable) || (type(self.maxUnavailable) == int ? self.maxUnavailable >= 0 : self.maxUnavailable.matches('^(100|[1-9]?[0-9])%$'))",message="maxUnavailable must be a number of at least 0, or a percentage from 0% to 100% (see kubectl explain foomachinepools.spec.strategy.maxUnavailable)"
// +kubebuilder:validation:XValidation:rule="!has(self.maxSurge) || !(type(self.maxSurge) == int ? self.maxSurge == 0 : self.maxSurge == '0%') || (has(self.maxUnavailable) && !(type(self.maxUnavailable) == int ? self.maxUnavailable == 0 : self.maxUnavailable == '0%'))",message="maxSurge and maxUnavailable must not both be zero, and maxUnavailable is 0 by default: nothing could ever be replaced (see kubectl explain foomachinepools.spec.strategy)"
type FooMachinePoolStrategy struct {
	// maxSurge is how many instances the pool may have in addition to its replicas while instances
	// are replaced: a number, or a percentage of the replicas, rounded up. An instance counts until
	// the cloud begins to delete it. Defaults to 1.
	// +optional
	// +kubebuilder:validation:XIntOrString
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`

	// maxUnavailable is how many replicas may be unavailable while instances are replaced: a number,
	// or a percentage of the replicas, rounded down. Defaults to 0. If maxSurge and maxUnavailable
	// both round to zero, maxUnavailable is 1.
	// +optional
	// +kubebuilder:validation:XIntOrString
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// deletePolicy decides which of several equally healthy instances is deleted first. Defaults to
	// Oldest. The annotation cluster.x-k8s.io/delete-machine on a Machine, its health and the
	// failure domain with the most instances take precedence, in this order.
	// +optional
	DeletePolicy DeletePolicy `json:"deletePolicy,omitempty"`

	// rolloutPaused keeps instances of earlier revisions. New instances have the current revision,
	// and scaling, repair and remediation continue. Defaults to false.
	// +optional
	RolloutPaused *bool `json:"rolloutPaused,omitempty"`

	// nodeJoinTimeoutSeconds is how long an instance's Node may take to join the cluster, in
	// seconds, before the instance is replaced. Defaults to 600.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	NodeJoinTimeoutSeconds int32 `json:"nodeJoinTimeoutSeconds,omitempty"`

	// maxFailedReplacements is how many consecutive instances of a revision may fail to join and be
	// replaced. After that, the condition Stalled says why they failed, and one is replaced every
	// nodeJoinTimeoutSeconds. Defaults to 3.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxFailedReplacements int32 `json:"maxFailedReplacements,omitempty"`
}

// FooMachinePoolMachineTemplate describes the instances of a pool.
// +kubebuilder:validation:MinProperties=1
type FooMachinePoolMachineTemplate struct {
	// instanceType names an instance type of the cloud, which determines the instances' CPUs and
	// memory. Defaults to "small". The condition PoolProvisioned reports an unknown name and lists
	// the available ones.
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

// InstanceTypeOrDefault returns the instance type that the template names, or DefaultInstanceType.
func (t *FooMachinePoolMachineTemplate) InstanceTypeOrDefault() string {
	if t.InstanceType == "" {
		return DefaultInstanceType
	}
	return t.InstanceType
}

// FooMachinePoolStatus is the observed state of a FooMachinePool. It has no field for terminal
// failures: conditions report them.
//
// +kubebuilder:validation:MinProperties=1
type FooMachinePoolStatus struct {
	// conditions are the observations of the FooMachinePool's current state. Known types are Ready,
	// PoolProvisioned, InstancesReady, ScalingUp, ScalingDown, RollingOut, Stalled, Deleting and
	// Paused.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// initialization reports the first provisioning of the pool's infrastructure.
	// +optional
	Initialization FooMachinePoolInitializationStatus `json:"initialization,omitempty,omitzero"`

	// ready has the same value as initialization.provisioned and never goes back to false. For pools,
	// Cluster API v1.14 still reads this field.
	// +optional
	Ready *bool `json:"ready,omitempty"`

	// replicas is the number of instances that the pool has in the cloud, in any state.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`

	// desiredReplicas is the number of instances that the pool should have: the MachinePool's
	// replicas, or the size that an external autoscaler set.
	// +optional
	// +kubebuilder:validation:Minimum=0
	DesiredReplicas *int32 `json:"desiredReplicas,omitempty"`

	// revision identifies the template of new instances: the spec, the Kubernetes version and the
	// bootstrap data without its token.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Revision string `json:"revision,omitempty"`

	// updatedReplicas is the number of instances of the current revision that are not being
	// removed.
	// +optional
	// +kubebuilder:validation:Minimum=0
	UpdatedReplicas *int32 `json:"updatedReplicas,omitempty"`

	// availableReplicas is the number of instances that have an available Machine and are not being
	// removed.
	// +optional
	// +kubebuilder:validation:Minimum=0
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// failedReplacements counts the instances of the current revision that were replaced because they
	// did not join. It is cleared once an instance of this revision becomes available.
	// +optional
	FailedReplacements FailedReplacements `json:"failedReplacements,omitempty,omitzero"`

	// infrastructureMachineKind is FooMachine, the kind of the object that represents each
	// instance.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	InfrastructureMachineKind string `json:"infrastructureMachineKind,omitempty"`

	// instances are the pool's instances, sorted by name and limited to the first 1000. The total
	// is in replicas.
	// +optional
	// +listType=map
	// +listMapKey=instanceName
	// +kubebuilder:validation:MaxItems=1000
	Instances []FooMachinePoolInstanceStatus `json:"instances,omitempty"`

	// capacity holds the CPUs and memory of one instance. The cluster autoscaler reads it to scale
	// from zero.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`

	// nodeInfo holds the architecture and operating system of the pool's instances.
	// +optional
	NodeInfo NodeInfo `json:"nodeInfo,omitempty,omitzero"`

	// observedGeneration is the generation of the spec that this status was computed from.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// FailedReplacements counts instances that were replaced because they did not join.
// +kubebuilder:validation:MinProperties=1
type FailedReplacements struct {
	// revision is the revision of the instances.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Revision string `json:"revision,omitempty"`

	// count is the number of consecutive failures.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Count int32 `json:"count,omitempty"`

	// lastTime is when the last failed instance was replaced.
	// +optional
	LastTime metav1.Time `json:"lastTime,omitempty,omitzero"`

	// message explains why the last failed instance did not join.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	Message string `json:"message,omitempty"`
}

// FooMachinePoolInitializationStatus reports the first provisioning of a pool's infrastructure.
// +kubebuilder:validation:MinProperties=1
type FooMachinePoolInitializationStatus struct {
	// provisioned is true once the pool has been fully provisioned; it never goes back to false.
	// +optional
	Provisioned *bool `json:"provisioned,omitempty"`
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

	// revision identifies the template that the instance was created from.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Revision string `json:"revision,omitempty"`

	// state is the state in which the cloud last reported the instance.
	// +optional
	State InstanceState `json:"state,omitempty"`

	// ready is true while the instance runs and its bootstrap succeeded.
	// +optional
	Ready *bool `json:"ready,omitempty"`
}

// FooMachinePool is an instance pool of the cloud. Each instance hosts one Node.
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
// +kubebuilder:printcolumn:name="Updated",type="integer",JSONPath=".status.updatedReplicas",description="Number of instances of the current revision"
// +kubebuilder:printcolumn:name="Available",type="integer",JSONPath=".status.availableReplicas",description="Number of instances with an available Machine"
// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".spec.template.instanceType",description="Instance type",priority=10
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=`.status.conditions[?(@.type=="Paused")].status`,description="Whether reconciliation is paused",priority=10
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
