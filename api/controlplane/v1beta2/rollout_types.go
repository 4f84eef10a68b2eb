// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// RolloutStrategyType is a way of replacing Machines.
// +kubebuilder:validation:Enum=RollingUpdate
type RolloutStrategyType string

// RollingUpdateStrategyType replaces one Machine at a time.
const RollingUpdateStrategyType RolloutStrategyType = "RollingUpdate"

// FooControlPlaneRolloutSpec configures when and how Machines are replaced.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneRolloutSpec struct {
	// before configures replacement ahead of an event, such as the expiry of certificates.
	// +optional
	Before FooControlPlaneRolloutBeforeSpec `json:"before,omitempty,omitzero"`

	// after is a time, for example "2026-03-09T09:00:00Z". Once it has passed, all Machines created
	// before it are replaced.
	// +optional
	After metav1.Time `json:"after,omitempty,omitzero"`

	// strategy configures how Machines are replaced.
	// +optional
	Strategy FooControlPlaneRolloutStrategy `json:"strategy,omitempty,omitzero"`
}

// FooControlPlaneRolloutBeforeSpec configures the replacement of a Machine ahead of an event.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneRolloutBeforeSpec struct {
	// certificatesExpiryDays is the number of days before the expiry of its certificates at which a
	// Machine is replaced. The minimum is 7.
	// +optional
	// +kubebuilder:validation:Minimum=7
	CertificatesExpiryDays int32 `json:"certificatesExpiryDays,omitempty"`
}

// FooControlPlaneRolloutStrategy configures how Machines are replaced.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneRolloutStrategy struct {
	// type is RollingUpdate, the only supported value.
	// +required
	Type RolloutStrategyType `json:"type,omitempty"`

	// rollingUpdate holds the settings of RollingUpdate.
	// +optional
	RollingUpdate FooControlPlaneRolloutStrategyRollingUpdate `json:"rollingUpdate,omitempty,omitzero"`
}

// FooControlPlaneRolloutStrategyRollingUpdate holds the settings of RollingUpdate.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneRolloutStrategyRollingUpdate struct {
	// maxSurge is how many Machines may exist in addition to replicas. With 1, the default, a new
	// Machine is created before the old one is deleted. With 0, the old one is deleted first, which
	// requires at least 3 replicas.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == 0 || self == 1",message="maxSurge must be 0 or 1 (see kubectl explain foocontrolplanes.spec.rollout.strategy.rollingUpdate.maxSurge)"
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`
}

// FooControlPlaneRemediationSpec configures how unhealthy Machines are replaced.
// +kubebuilder:validation:MinProperties=1
type FooControlPlaneRemediationSpec struct {
	// maxRetry is how many times in a row a replacement that becomes unhealthy too is replaced again.
	// Unlimited if not set.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxRetry *int32 `json:"maxRetry,omitempty"`

	// retryPeriodSeconds is the time between two such retries. Defaults to 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RetryPeriodSeconds *int32 `json:"retryPeriodSeconds,omitempty"`

	// minHealthyPeriodSeconds is how long after a remediation a failure of the replacement counts
	// as a retry. Later failures start a new count. Defaults to 3600.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinHealthyPeriodSeconds *int32 `json:"minHealthyPeriodSeconds,omitempty"`
}
