// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

const (
	// FooControlPlaneFinalizer keeps a FooControlPlane until all its Machines are gone.
	FooControlPlaneFinalizer = "controlplane.cluster.x-k8s.io/foocontrolplane"

	// PreTerminateHookCleanupAnnotation holds the termination of a control plane Machine until its etcd member has
	// left the cluster.
	PreTerminateHookCleanupAnnotation = clusterv1.PreTerminateDeleteHookAnnotationPrefix + "/foo-cleanup"

	// RemediationInProgressAnnotation holds, on a FooControlPlane, what is known of a remediation between the deletion
	// of an unhealthy Machine and the creation of its replacement.
	RemediationInProgressAnnotation = "controlplane.cluster.x-k8s.io/remediation-in-progress"

	// RemediationForAnnotation names, on a Machine, the unhealthy Machine that it replaces.
	RemediationForAnnotation = "controlplane.cluster.x-k8s.io/remediation-for"

	// InitializedAnnotation proves that the Machine that has it initialized the control plane. It remains when the status is
	// lost, as in a restore from a backup.
	InitializedAnnotation = "controlplane.cluster.x-k8s.io/initialized"

	// MadeFromAnnotation records on a Machine what it was made from: a hash of spec.version, spec.kubeadmConfigSpec and the
	// infrastructureRef as the user wrote them. It tells a Machine that is out of date because the user changed something
	// from one that another release of the controller sees differently. The controller updates it when the spec changes in
	// a way that makes no difference to the Machine.
	MadeFromAnnotation = "controlplane.cluster.x-k8s.io/made-from"

	// ConfirmRolloutAnnotation on a FooControlPlane lets a rollout go on that is held because the user changed nothing
	// that asks for it. Its value is the digest that the RollingOut condition names with the reason RolloutHeld; for
	// any other rollout it says nothing. It may stay when the rollout is done.
	ConfirmRolloutAnnotation = "controlplane.cluster.x-k8s.io/confirm-rollout"

	// DefaultMinHealthyPeriodSeconds is the default of spec.remediation.minHealthyPeriodSeconds: one hour.
	DefaultMinHealthyPeriodSeconds = int32(60 * 60)
)

// FooControlPlaneSpec is the desired state of a FooControlPlane.
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || self.replicas % 2 == 1 || (has(self.kubeadmConfigSpec) && has(self.kubeadmConfigSpec.clusterConfiguration) && has(self.kubeadmConfigSpec.clusterConfiguration.etcd) && has(self.kubeadmConfigSpec.clusterConfiguration.etcd.external))",message="replicas must be odd: an even number of etcd members fails as easily as one member less; even numbers are allowed with external etcd only (see kubectl explain foocontrolplanes.spec.replicas)",fieldPath=".replicas"
type FooControlPlaneSpec struct {
	// replicas is the number of control plane Machines wanted. Defaults to 1. It must be odd, unless etcd is external.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	Replicas *int32 `json:"replicas,omitempty"` // contract:control-plane/replicas

	// version is the Kubernetes version of the control plane: a semantic version, for example v1.36.3.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self.matches('^v?(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)([-+][0-9A-Za-z.+-]+)?$')`,message="version must be a semantic version such as v1.36.3 (see kubectl explain foocontrolplanes.spec.version)"
	Version string `json:"version,omitempty"` // contract:control-plane/version

	// machineTemplate says how the control plane's Machines look.
	// +required
	MachineTemplate FooControlPlaneMachineTemplate `json:"machineTemplate,omitempty,omitzero"`

	// kubeadmConfigSpec is what each Machine's KubeadmConfig is made from.
	// The first Machine uses clusterConfiguration and initConfiguration, every other one joinConfiguration.
	// +optional
	KubeadmConfigSpec bootstrapv1.KubeadmConfigSpec `json:"kubeadmConfigSpec,omitempty,omitzero"`

	// rollout says when and how Machines are replaced.
	// +optional
	Rollout FooControlPlaneRolloutSpec `json:"rollout,omitempty,omitzero"`

	// remediation says how unhealthy Machines are replaced.
	// +optional
	Remediation FooControlPlaneRemediationSpec `json:"remediation,omitempty,omitzero"`

	// machineNaming says how Machines are named. A Machine's infrastructure machine and KubeadmConfig have its name.
	// +optional
	MachineNaming MachineNamingSpec `json:"machineNaming,omitempty,omitzero"`
}

// FooControlPlaneStatus is the observed state of a FooControlPlane. It has no field for terminal failures: conditions tell them.
//
// +kubebuilder:validation:MinProperties=1
//
//contract:control-plane/terminal-failures
type FooControlPlaneStatus struct {
	// conditions are the observations of the FooControlPlane's current state.
	// Known types are Available, Initialized, CertificatesAvailable, EtcdClusterHealthy, ControlPlaneComponentsHealthy,
	// MachinesReady, MachinesUpToDate, AddonsUpToDate, RollingOut, ScalingUp, ScalingDown, Remediating, Deleting and Paused.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"` // contract:control-plane/conditions

	// initialization says how far the first provisioning of the control plane is.
	// Cluster API uses it to order what waits for the control plane.
	// +optional
	Initialization FooControlPlaneInitializationStatus `json:"initialization,omitempty,omitzero"`

	// selector chooses the control plane's Machines, in the string form of a label selector. The scale subresource
	// serves it.
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

	// versions are the Kubernetes versions of the Machines with the number of each, from the oldest to the newest.
	// +optional
	// +listType=map
	// +listMapKey=version
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Versions []clusterv1.StatusVersion `json:"versions,omitempty"`

	// version is the oldest Kubernetes version of the Machines, for what does not read versions yet.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// observedGeneration is the generation of the spec that this status was computed from.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// lastRemediation is what is known of the latest remediation.
	// +optional
	LastRemediation LastRemediationStatus `json:"lastRemediation,omitempty,omitzero"`

	// plan is what the controller does next, or what it waits for.
	// +optional
	Plan FooControlPlanePlanStatus `json:"plan,omitempty,omitzero"`

	// etcd is the arithmetic of etcd's quorum behind the plan. It is not set with external etcd.
	// +optional
	Etcd FooControlPlaneEtcdStatus `json:"etcd,omitempty,omitzero"`
}

// FooControlPlanePlanStatus is a decision: what is done next, and why.
type FooControlPlanePlanStatus struct {
	// action is None if everything is as it should be, Wait if something else has to happen first, else what is done:
	// Initialize, CreateMachine, DeleteMachine, RemediateMachine, RemoveEtcdMember, ReleaseMachine, DeleteMachines or Finish.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Action string `json:"action,omitempty"`

	// machine is the name of the Machine that the decision is about, if it is about one.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Machine string `json:"machine,omitempty"`

	// reason is why, in one word.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`

	// message is why, for people.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`
}

// FooControlPlaneEtcdStatus counts the members of etcd. A member counts as healthy if it belongs to a Machine, has
// answered, sees a leader and has raised no alarm.
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

	// leader is the name of the leading member.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Leader string `json:"leader,omitempty"`

	// alarms that members have raised, each as the name of the member and that of the alarm.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	Alarms []string `json:"alarms,omitempty"`
}

// FooControlPlaneInitializationStatus says how far the first provisioning of a control plane is.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneInitializationStatus struct {
	// controlPlaneInitialized is true once the control plane could accept requests; it never goes back to false.
	// +optional
	ControlPlaneInitialized *bool `json:"controlPlaneInitialized,omitempty"` // contract:control-plane/initialization-completed
}

// LastRemediationStatus is what is known of the latest remediation. When it is lost, counting starts again from zero.
type LastRemediationStatus struct {
	// machine is the name of the Machine that was remediated.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Machine string `json:"machine,omitempty"`

	// time is when that was.
	// +required
	Time metav1.Time `json:"time,omitempty,omitzero"`

	// retryCount is how many replacements of the same Machine failed before.
	// +required
	// +kubebuilder:validation:Minimum=0
	RetryCount *int32 `json:"retryCount,omitempty"`
}

// FooControlPlane is a Kubernetes control plane, each member of which is a Machine that kubeadm sets up.
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
// +kubebuilder:printcolumn:name="Available",type="string",JSONPath=`.status.conditions[?(@.type=="Available")].status`,description="Whether the control plane can serve"
// +kubebuilder:printcolumn:name="Desired",type="integer",JSONPath=".spec.replicas",description="Number of Machines wanted"
// +kubebuilder:printcolumn:name="Current",type="integer",JSONPath=".status.replicas",description="Number of Machines"
// +kubebuilder:printcolumn:name="Ready",type="integer",JSONPath=".status.readyReplicas",description="Number of Machines that are ready"
// +kubebuilder:printcolumn:name="Available Machines",type="integer",JSONPath=".status.availableReplicas",description="Number of Machines that are available"
// +kubebuilder:printcolumn:name="Up-to-date",type="integer",JSONPath=".status.upToDateReplicas",description="Number of Machines that are up to date"
// +kubebuilder:printcolumn:name="Initialized",type="boolean",JSONPath=".status.initialization.controlPlaneInitialized",description="Whether the control plane could accept requests once"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=`.status.conditions[?(@.type=="Paused")].status`,description="Whether reconciliation is paused",priority=10
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".spec.version",description="Kubernetes version wanted"
//
//contract:control-plane/resource-definition
//contract:control-plane/scope
//contract:control-plane/type-meta
//contract:control-plane/api-version
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
