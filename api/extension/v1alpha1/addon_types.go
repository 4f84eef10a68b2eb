// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Addon's Applied condition and its reasons.
const (
	// AddonAppliedCondition is True if all selected Clusters have the add-on and it is ready there.
	// Until then its message names the other Clusters and says what they wait for.
	AddonAppliedCondition = "Applied"
	// AddonAppliedReason is the reason if no Cluster waits for anything.
	AddonAppliedReason = "Applied"
	// AddonWaitingReason is the reason if at least one Cluster waits for what the message describes.
	AddonWaitingReason = "Waiting"
)

const (
	// AddonValuesType is the type that a Secret must have so that an add-on may use it. Without
	// this rule, anyone who may write Addons could send any Secret of the namespace to a workload
	// cluster.
	AddonValuesType = "foo.cluster.x-k8s.io/addon"
)

// AddonMoment is when an add-on is applied during an upgrade.
// +kubebuilder:validation:Enum=BeforeControlPlane;AfterControlPlane
type AddonMoment string

const (
	// BeforeControlPlane applies the add-on before and after each step of the control plane. The
	// step waits until the variant for its version is ready.
	BeforeControlPlane AddonMoment = "BeforeControlPlane"
	// AfterControlPlane applies the add-on after each step of the control plane. The rest of the
	// upgrade waits until it is ready.
	AfterControlPlane AddonMoment = "AfterControlPlane"
)

// AddonSpec specifies what to apply to which Clusters.
type AddonSpec struct {
	// clusterSelector selects Clusters in the namespace by their labels. It needs matchLabels or
	// matchExpressions; empty matchLabels select all Clusters.
	// +required
	// +kubebuilder:validation:XValidation:rule="has(self.matchLabels) || has(self.matchExpressions)",message="matchLabels or matchExpressions is required"
	ClusterSelector metav1.LabelSelector `json:"clusterSelector,omitempty,omitzero"`

	// order determines when the add-on is applied to a Cluster: add-ons with a lower number come first,
	// and must be ready before the next number follows. Add-ons with the same number do not wait for
	// each other. Defaults to 0.
	// +optional
	// +kubebuilder:validation:Minimum=-1000
	// +kubebuilder:validation:Maximum=1000
	Order int32 `json:"order,omitempty"`

	// upgrade is when the add-on is applied during an upgrade: BeforeControlPlane or AfterControlPlane.
	// Defaults to AfterControlPlane. Use BeforeControlPlane for what the next version of the control
	// plane or of the nodes needs, such as a new version of a cloud controller manager.
	// +optional
	// +kubebuilder:default=AfterControlPlane
	Upgrade AddonMoment `json:"upgrade,omitempty"`

	// secretName is the name of a Secret in the namespace whose values the templates use, for example as
	// {{ .Secret.token }}. It must have the type foo.cluster.x-k8s.io/addon.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName,omitempty"`

	// variants are the contents for different Kubernetes versions. The first one whose range includes the
	// version of the Cluster is applied. If there is none, the add-on stays as it is.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Variants []AddonVariant `json:"variants,omitempty"`
}

// AddonVariant is the content of an add-on for a range of Kubernetes versions.
type AddonVariant struct {
	// kubernetesVersions is the range of Kubernetes versions, for example ">=1.35.0 <1.37.0" or "1.35.x ||
	// 1.36.x". Without it, the variant is for all versions. A pre-release sorts before its release:
	// v1.36.0-rc.1 is not in >=1.36.0.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	KubernetesVersions string `json:"kubernetesVersions,omitempty"`

	// template is a Go template of Kubernetes manifests in YAML. It can use .Cluster, which has the fields
	// of the Cluster except its status, .KubernetesVersion, .Variables, which are the variables of the
	// Cluster's topology, and .Secret. Using a value that does not exist is an error. A list, an object or a
	// value of several lines must pass through the function toJson or join.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1048576
	Template string `json:"template,omitempty"`
}

// AddonState is the progress of an add-on in a Cluster.
// +kubebuilder:validation:Enum=Applied;NoVariant;Waiting
type AddonState string

const (
	// AddonApplied means that all objects are applied and ready.
	AddonApplied AddonState = "Applied"
	// AddonNoVariant means that the add-on has no variant for the version of the Cluster.
	AddonNoVariant AddonState = "NoVariant"
	// AddonWaiting means that the add-on waits for what the message describes.
	AddonWaiting AddonState = "Waiting"
)

// AddonCluster is the progress of an add-on in one Cluster.
type AddonCluster struct {
	// name is the name of the Cluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// uid is the UID of the Cluster, to tell it from an earlier one with the same name.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	UID types.UID `json:"uid,omitempty"`

	// state is the progress: Applied, NoVariant or Waiting.
	// +required
	State AddonState `json:"state,omitempty"`

	// kubernetesVersion is the version whose variant was last applied.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`

	// hash identifies the content that was last applied. Content with another hash is applied again.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Hash string `json:"hash,omitempty"`

	// message describes what the add-on waits for. It may be cut off; the HookJob has the whole message.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// AddonStatus is the progress of an Addon.
// +kubebuilder:validation:MinProperties=1
type AddonStatus struct {
	// conditions holds the condition Applied.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// clusters are the selected Clusters.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10000
	Clusters []AddonCluster `json:"clusters,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:resource:path=addons,scope=Namespaced,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io/move="
// +kubebuilder:printcolumn:name="Order",type="integer",JSONPath=".spec.order",description="Add-ons with lower numbers are applied first"
// +kubebuilder:printcolumn:name="Applied",type="string",JSONPath=`.status.conditions[?(@.type=="Applied")].status`,description="Whether all selected Clusters have the add-on"
// +kubebuilder:printcolumn:name="Message",type="string",JSONPath=`.status.conditions[?(@.type=="Applied")].message`,description="How many Clusters have it, and what the others wait for"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the add-on was created"

// Addon is a set of objects that the runtime extension applies to workload clusters, such as a network
// plugin or a cloud controller manager. Whoever may write Addons has all permissions in the workload
// clusters of the namespace.
type Addon struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec specifies what to apply to which Clusters.
	// +required
	Spec AddonSpec `json:"spec,omitempty,omitzero"`
	// status is the progress.
	// +optional
	Status AddonStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions of the Addon.
func (a *Addon) GetConditions() []metav1.Condition { return a.Status.Conditions }

// SetConditions replaces the conditions of the Addon.
func (a *Addon) SetConditions(conditions []metav1.Condition) { a.Status.Conditions = conditions }

// +kubebuilder:object:root=true

// AddonList is a list of Addons.
type AddonList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list's metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the Addons.
	Items []Addon `json:"items"`
}
