// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

const (
	// FooControlPlaneFinalizer keeps a FooControlPlane until all its Machines are gone.
	FooControlPlaneFinalizer = "controlplane.cluster.x-k8s.io/foocontrolplane"

	// PreTerminateHookCleanupAnnotation delays the termination of a control plane Machine until its
	// etcd member has left the cluster.
	PreTerminateHookCleanupAnnotation = clusterv1.PreTerminateDeleteHookAnnotationPrefix + "/foo-cleanup"

	// RemediationInProgressAnnotation on a FooControlPlane records a remediation between the
	// deletion of an unhealthy Machine and the creation of its replacement.
	RemediationInProgressAnnotation = "controlplane.cluster.x-k8s.io/remediation-in-progress"

	// RemediationForAnnotation on a Machine names the unhealthy Machine that it replaces.
	RemediationForAnnotation = "controlplane.cluster.x-k8s.io/remediation-for"

	// InitializedAnnotation marks the Machine that initialized the control plane. It survives the
	// loss of the status, for example after a restore from a backup.
	InitializedAnnotation = "controlplane.cluster.x-k8s.io/initialized"

	// MadeFromAnnotation on a Machine is a hash of spec.version, spec.kubeadmConfigSpec and the
	// infrastructureRef as the user wrote them when it was created. It distinguishes a Machine that
	// is outdated because the user changed something from one that another release of the
	// controller judges differently. The controller updates it when the spec changes in a way that
	// does not affect the Machine.
	MadeFromAnnotation = "controlplane.cluster.x-k8s.io/made-from"

	// ConfirmRolloutAnnotation on a FooControlPlane releases a rollout that is on hold because no
	// change by the user requires it. Its value is the digest that the RollingOut condition names
	// with the reason RolloutHeld. It has no effect on any other rollout and may stay after the
	// rollout.
	ConfirmRolloutAnnotation = "controlplane.cluster.x-k8s.io/confirm-rollout"

	// DefaultMinHealthyPeriodSeconds is the default of spec.remediation.minHealthyPeriodSeconds:
	// one hour.
	DefaultMinHealthyPeriodSeconds = int32(60 * 60)
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
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self.matches('^v?(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)([-+][0-9A-Za-z.+-]+)?$')`,message="version must be a semantic version such as v1.36.3 (see kubectl explain foocontrolplanes.spec.version)"
	Version string `json:"version,omitempty"`

	// machineTemplate describes the control plane's Machines.
	// +required
	MachineTemplate FooControlPlaneMachineTemplate `json:"machineTemplate,omitempty,omitzero"`

	// kubeadmConfigSpec is the source of each Machine's KubeadmConfig. The first Machine uses
	// clusterConfiguration and initConfiguration. All others use joinConfiguration.
	// +optional
	KubeadmConfigSpec bootstrapv1.KubeadmConfigSpec `json:"kubeadmConfigSpec,omitempty,omitzero"`

	// rollout configures when and how Machines are replaced.
	// +optional
	Rollout FooControlPlaneRolloutSpec `json:"rollout,omitempty,omitzero"`

	// remediation configures how unhealthy Machines are replaced.
	// +optional
	Remediation FooControlPlaneRemediationSpec `json:"remediation,omitempty,omitzero"`

	// machineNaming configures how Machines are named. A Machine's infrastructure machine and
	// KubeadmConfig have its name.
	// +optional
	MachineNaming MachineNamingSpec `json:"machineNaming,omitempty,omitzero"`
}

// FooControlPlaneStatus is the observed state of a FooControlPlane. It has no field for terminal
// failures: conditions report them.
//
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneStatus struct {
	// conditions are the observations of the FooControlPlane's current state. Known types are
	// Available, Initialized, CertificatesAvailable, EtcdClusterHealthy,
	// ControlPlaneComponentsHealthy, MachinesReady, MachinesUpToDate, AddonsUpToDate, RollingOut,
	// ScalingUp, ScalingDown, Remediating, Deleting and Paused.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// initialization reports the first provisioning of the control plane. Cluster API uses it to
	// start what depends on the control plane.
	// +optional
	Initialization FooControlPlaneInitializationStatus `json:"initialization,omitempty,omitzero"`

	// selector selects the control plane's Machines, in the string form of a label selector. The
	// scale subresource reports it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Selector string `json:"selector,omitempty"`

	// replicas is the number of Machines that exist.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`

	// readyReplicas is the number of Machines whose Ready condition is true.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// availableReplicas is the number of Machines whose Available condition is true.
	// +optional
	// +kubebuilder:validation:Minimum=0
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`

	// upToDateReplicas is the number of Machines whose UpToDate condition is true.
	// +optional
	// +kubebuilder:validation:Minimum=0
	UpToDateReplicas *int32 `json:"upToDateReplicas,omitempty"`

	// versions are the Kubernetes versions of the Machines with the number of each, from the oldest
	// to the newest.
	// +optional
	// +listType=map
	// +listMapKey=version
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Versions []clusterv1.StatusVersion `json:"versions,omitempty"`

	// version is the oldest Kubernetes version of the Machines, for clients that do not read
	// versions yet.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// observedGeneration is the generation of the spec that this status was computed from.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// lastRemediation describes the latest remediation.
	// +optional
	LastRemediation LastRemediationStatus `json:"lastRemediation,omitempty,omitzero"`

	// plan is the controller's next action, or what it is waiting for.
	// +optional
	Plan FooControlPlanePlanStatus `json:"plan,omitempty,omitzero"`

	// etcd holds the etcd quorum that the plan is based on. It is not set with external etcd.
	// +optional
	Etcd FooControlPlaneEtcdStatus `json:"etcd,omitempty,omitzero"`
}

// FooControlPlanePlanStatus is a decision: the next action and its reason.
type FooControlPlanePlanStatus struct {
	// action is the next action: None if there is nothing to do, Wait if something else must happen
	// first, otherwise AdoptMachines, Initialize, CreateMachine, DeleteMachine, RemediateMachine,
	// RemoveEtcdMember, ReleaseMachine, DeleteMachines or Finish.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Action string `json:"action,omitempty"`

	// machine is the name of the Machine that the decision concerns, if any.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Machine string `json:"machine,omitempty"`

	// reason is the reason for the action, in CamelCase.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`

	// message explains the action in plain text.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`
}

// FooControlPlaneEtcdStatus counts the members of etcd. A member is healthy if it belongs to a
// Machine, answered, sees a leader and raised no alarm.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneEtcdStatus struct {
	// voters is the number of members that vote.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Voters *int32 `json:"voters,omitempty"`

	// learners is the number of members that do not vote yet.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Learners *int32 `json:"learners,omitempty"`

	// healthy is the number of voters that are healthy.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Healthy *int32 `json:"healthy,omitempty"`

	// quorum is the number of healthy voters that etcd needs.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Quorum *int32 `json:"quorum,omitempty"`

	// leader is the name of the member that is the leader.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Leader string `json:"leader,omitempty"`

	// alarms are the alarms that members have raised, each as the member's name and the alarm's
	// name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	Alarms []string `json:"alarms,omitempty"`
}

// FooControlPlaneInitializationStatus reports the first provisioning of a control plane.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneInitializationStatus struct {
	// controlPlaneInitialized is true once the control plane can accept requests; it never goes
	// back to false.
	// +optional
	ControlPlaneInitialized *bool `json:"controlPlaneInitialized,omitempty"`
}

// LastRemediationStatus describes the latest remediation. If it is lost, retries are counted from
// zero again.
type LastRemediationStatus struct {
	// machine is the name of the Machine that was remediated.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Machine string `json:"machine,omitempty"`

	// time is the time of the remediation.
	// +required
	Time metav1.Time `json:"time,omitempty,omitzero"`

	// retryCount is the number of earlier replacements of the same Machine that failed.
	// +required
	// +kubebuilder:validation:Minimum=0
	RetryCount *int32 `json:"retryCount,omitempty"`
}

// FooControlPlane is a Kubernetes control plane. Each member is a Machine that kubeadm sets up.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=foocontrolplanes,shortName=foocp,scope=Namespaced,categories=cluster-api
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=control-plane-foo"
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io="
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="Cluster to which this control plane belongs"
// +kubebuilder:printcolumn:name="Available",type="string",JSONPath=`.status.conditions[?(@.type=="Available")].status`,description="Whether the control plane can serve requests"
// +kubebuilder:printcolumn:name="Desired",type="integer",JSONPath=".spec.replicas",description="Desired number of Machines"
// +kubebuilder:printcolumn:name="Current",type="integer",JSONPath=".status.replicas",description="Number of Machines"
// +kubebuilder:printcolumn:name="Ready",type="integer",JSONPath=".status.readyReplicas",description="Number of Machines that are ready"
// +kubebuilder:printcolumn:name="Available Machines",type="integer",JSONPath=".status.availableReplicas",description="Number of Machines that are available"
// +kubebuilder:printcolumn:name="Up-to-date",type="integer",JSONPath=".status.upToDateReplicas",description="Number of Machines that are up to date"
// +kubebuilder:printcolumn:name="Initialized",type="boolean",JSONPath=".status.initialization.controlPlaneInitialized",description="Whether the control plane has been initialized"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=`.status.conditions[?(@.type=="Paused")].status`,description="Whether reconciliation is paused",priority=10
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".spec.version",description="Desired Kubernetes version"
type FooControlPlane struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +required
	Spec FooControlPlaneSpec `json:"spec,omitempty,omitzero"`
	// status is the observed state.
	// +optional
	Status FooControlPlaneStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions of the object.
func (c *FooControlPlane) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions replaces the conditions of the object.
func (c *FooControlPlane) SetConditions(conditions []metav1.Condition) {
	c.Status.Conditions = conditions
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
