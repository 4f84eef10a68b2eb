// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// HookJob's Completed condition and its reasons.
const (
	// HookJobCompletedCondition is True once nothing remains to be done for the current attempt.
	// Until then its message says what the job waits for, and the hook blocks the Cluster.
	HookJobCompletedCondition = "Completed"
	// HookJobCompletedReason says that the job is complete.
	HookJobCompletedReason = "Completed"
	// HookJobIncompleteReason says that the job ended without what the settings ask for, for example
	// without the final etcd snapshot, because its time ran out.
	HookJobIncompleteReason = "Incomplete"
	// HookJobRestingReason says that the job is suspended; the message says why.
	HookJobRestingReason = "Resting"
	// HookJobWaitingReason says that the job is waiting; the message says for what.
	HookJobWaitingReason = "Waiting"
)

// HookJobSpec is what a call of a lifecycle hook requests.
// +kubebuilder:validation:XValidation:rule="has(self.fromVersion) == has(oldSelf.fromVersion)",message="fromVersion is immutable: it identifies the HookJob"
// +kubebuilder:validation:XValidation:rule="has(self.toVersion) == has(oldSelf.toVersion)",message="toVersion is immutable: it identifies the HookJob"
type HookJobSpec struct {
	// clusterName is the name of the Cluster, which is in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="clusterName is immutable: it identifies the HookJob"
	ClusterName string `json:"clusterName,omitempty"`

	// clusterUID is the UID of the Cluster when its hook was called. A Cluster that is created again
	// with the same name, or that was moved here, gets its own jobs.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="clusterUID is immutable: it identifies the HookJob"
	ClusterUID types.UID `json:"clusterUID,omitempty"`

	// extensionConfig is the name of the ExtensionConfig whose settings apply. If several
	// ExtensionConfigs have the same settings, their shared jobs name the one that comes first in
	// the alphabet. Only AfterControlPlaneInitialized has a job for each of them.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="extensionConfig is immutable: it identifies the HookJob"
	ExtensionConfig string `json:"extensionConfig,omitempty"`

	// hook is the name of the lifecycle hook.
	// +required
	// +kubebuilder:validation:Enum=BeforeClusterCreate;AfterControlPlaneInitialized;BeforeClusterUpgrade;BeforeControlPlaneUpgrade;AfterControlPlaneUpgrade;BeforeWorkersUpgrade;AfterWorkersUpgrade;AfterClusterUpgrade;BeforeClusterDelete
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="hook is immutable: it identifies the HookJob"
	Hook string `json:"hook,omitempty"`

	// fromVersion is the Kubernetes version before the step that the hook is about.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="fromVersion is immutable: it identifies the HookJob"
	FromVersion string `json:"fromVersion,omitempty"`

	// toVersion is the Kubernetes version after the step that the hook is about.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="toVersion is immutable: it identifies the HookJob"
	ToVersion string `json:"toVersion,omitempty"`

	// plan lists the versions that the upgrade passes through, including the last one.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	Plan []string `json:"plan,omitempty"`

	// attempt counts how often the work was requested. If a hook is called again long after its work
	// was completed, the result may no longer be valid, so the work is done again. It is also done again if
	// the settings ask for more by then.
	// +required
	// +kubebuilder:validation:Minimum=1
	Attempt int32 `json:"attempt,omitempty"`

	// requestTime is when the hook was first called for this attempt. Timeouts count from it, or from the
	// deletion of the Cluster if that is later.
	// +required
	RequestTime metav1.Time `json:"requestTime,omitempty,omitzero"`
}

// HookJobTask is a task of a HookJob that has ended.
type HookJobTask struct {
	// setting is the name of the setting that asks for the task.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Setting string `json:"setting,omitempty"`

	// endTime is when the task ended. The timeouts of the next task count from it.
	// +required
	EndTime metav1.Time `json:"endTime,omitempty,omitzero"`

	// reason is Completed, or Incomplete if the task ended without what the setting asks for.
	// +required
	// +kubebuilder:validation:Enum=Completed;Incomplete
	Reason string `json:"reason,omitempty"`

	// message describes how the task ended.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`

	// report describes what was found or done, one line each.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=262144
	Report string `json:"report,omitempty"`
}

// HookJobStatus is the progress of a HookJob.
// +kubebuilder:validation:MinProperties=1
type HookJobStatus struct {
	// conditions holds the condition Completed.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// attempt is the attempt that the rest of the status is about.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Attempt int32 `json:"attempt,omitempty"`

	// tasks are the settings that asked for a task when the attempt was last looked at. If a setting asks for
	// another task once the attempt is completed, the next call of the hook begins another attempt.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Tasks []string `json:"tasks,omitempty"`

	// ended lists the tasks that have ended while later ones wait, such as a backup before a deletion. The
	// timeouts of the later ones count from then.
	// +optional
	// +listType=map
	// +listMapKey=setting
	// +kubebuilder:validation:MaxItems=16
	Ended []HookJobTask `json:"ended,omitempty"`

	// completionTime is when the attempt was completed.
	// +optional
	CompletionTime metav1.Time `json:"completionTime,omitempty,omitzero"`

	// snapshotTime is when an etcd snapshot was taken for this job.
	// +optional
	SnapshotTime metav1.Time `json:"snapshotTime,omitempty,omitzero"`

	// report describes what was found or done, one line each.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=262144
	Report string `json:"report,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:resource:path=hookjobs,scope=Namespaced,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".spec.clusterName",description="Name of the Cluster"
// +kubebuilder:printcolumn:name="Hook",type="string",JSONPath=".spec.hook",description="Name of the lifecycle hook"
// +kubebuilder:printcolumn:name="To",type="string",JSONPath=".spec.toVersion",description="Kubernetes version after the step"
// +kubebuilder:printcolumn:name="Attempt",type="integer",JSONPath=".spec.attempt",description="How often the work was requested",priority=10
// +kubebuilder:printcolumn:name="Completed",type="string",JSONPath=`.status.conditions[?(@.type=="Completed")].status`,description="Whether nothing remains to be done"
// +kubebuilder:printcolumn:name="Message",type="string",JSONPath=`.status.conditions[?(@.type=="Completed")].message`,description="What the job waits for, or how it ended",priority=10
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the first call of the hook"

// HookJob is the work that a lifecycle hook of Cluster API waits for. The runtime extension creates
// it when the hook is called, and its Cluster owns it.
type HookJob struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is what the call of the hook requests.
	// +required
	Spec HookJobSpec `json:"spec,omitempty,omitzero"`
	// status is the progress of the work.
	// +optional
	Status HookJobStatus `json:"status,omitempty,omitzero"`
}

// IsCompleted reports whether nothing remains to be done for the current attempt.
func (j *HookJob) IsCompleted() bool {
	return j.Status.Attempt == j.Spec.Attempt && meta.IsStatusConditionTrue(j.Status.Conditions, HookJobCompletedCondition)
}

// GetConditions returns the conditions of the HookJob.
func (j *HookJob) GetConditions() []metav1.Condition { return j.Status.Conditions }

// SetConditions replaces the conditions of the HookJob.
func (j *HookJob) SetConditions(conditions []metav1.Condition) { j.Status.Conditions = conditions }

// +kubebuilder:object:root=true

// HookJobList is a list of HookJobs.
type HookJobList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list's metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the HookJobs.
	Items []HookJob `json:"items"`
}
