// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// RolloutStrategyType is a way of replacing Machines.
// +kubebuilder:validation:Enum=RollingUpdate
type RolloutStrategyType string

// RollingUpdateStrategyType replaces one Machine after the other.
const RollingUpdateStrategyType RolloutStrategyType = "RollingUpdate"

// FooControlPlaneRolloutSpec says when and how Machines are replaced.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneRolloutSpec struct {
	// before replaces Machines before something happens to them.
	// +optional
	Before FooControlPlaneRolloutBeforeSpec `json:"before,omitempty,omitzero"`

	// after replaces, once that time has come, all Machines made before it, for example "2026-03-09T09:00:00Z".
	// +optional
	After metav1.Time `json:"after,omitempty,omitzero"` // contract:control-plane/rollout-after

	// strategy says how Machines are replaced.
	// +optional
	Strategy FooControlPlaneRolloutStrategy `json:"strategy,omitempty,omitzero"`
}

// FooControlPlaneRolloutBeforeSpec says before what a Machine is replaced.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneRolloutBeforeSpec struct {
	// certificatesExpiryDays replaces a Machine this many days before its certificates expire. At least 7.
	// +optional
	// +kubebuilder:validation:Minimum=7
	CertificatesExpiryDays int32 `json:"certificatesExpiryDays,omitempty"`
}

// FooControlPlaneRolloutStrategy says how Machines are replaced.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneRolloutStrategy struct {
	// type is RollingUpdate, the only way there is.
	// +required
	Type RolloutStrategyType `json:"type,omitempty"`

	// rollingUpdate is the settings of RollingUpdate.
	// +optional
	RollingUpdate FooControlPlaneRolloutStrategyRollingUpdate `json:"rollingUpdate,omitempty,omitzero"`
}

// FooControlPlaneRolloutStrategyRollingUpdate is the settings of RollingUpdate.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneRolloutStrategyRollingUpdate struct {
	// maxSurge is how many Machines there may be more than replicas: with 1, the default, the new Machine is made
	// before the old one goes; with 0 the old one goes first.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == 0 || self == 1",message="maxSurge must be 0 or 1 (see kubectl explain foocontrolplanes.spec.rollout.strategy.rollingUpdate.maxSurge)"
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`
}

// FooControlPlaneRemediationSpec says how unhealthy Machines are replaced.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneRemediationSpec struct {
	// maxRetry is how often the replacement of an unhealthy Machine is itself replaced when it is unhealthy too.
	// Without it, always.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxRetry *int32 `json:"maxRetry,omitempty"`

	// retryPeriodSeconds is how long to wait between two such retries. Defaults to 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RetryPeriodSeconds *int32 `json:"retryPeriodSeconds,omitempty"`

	// minHealthyPeriodSeconds is how long a replacement must live for its failure to count as a new one and not as a
	// retry. Defaults to 3600.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinHealthyPeriodSeconds *int32 `json:"minHealthyPeriodSeconds,omitempty"`
}
