// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// RolloutStrategyType is a way of replacing Machines.
// +kubebuilder:validation:Enum=RollingUpdate
type RolloutStrategyType string

// RollingUpdateStrategyType replaces one Machine at a time.
const RollingUpdateStrategyType RolloutStrategyType = "RollingUpdate"

// RolloutBefore configures the replacement of a Machine ahead of an event.
type RolloutBefore struct {
	// certificatesExpiryDays is the number of days before the expiry of its certificates at which a
	// Machine is replaced. The minimum is 7.
	// +optional
	// +kubebuilder:validation:Minimum=7
	CertificatesExpiryDays *int32 `json:"certificatesExpiryDays,omitempty"`
}

// RolloutStrategy configures how Machines are replaced.
type RolloutStrategy struct {
	// type is RollingUpdate, the only supported value and the default.
	// +optional
	Type RolloutStrategyType `json:"type,omitempty"`

	// rollingUpdate holds the settings of RollingUpdate.
	// +optional
	RollingUpdate *RollingUpdate `json:"rollingUpdate,omitempty"`
}

// RollingUpdate holds the settings of the strategy RollingUpdate.
type RollingUpdate struct {
	// maxSurge is how many Machines may exist in addition to replicas. With 1, the default, a new
	// Machine is created before the old one is deleted. With 0, the old one is deleted first, which
	// requires at least 3 replicas.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == 0 || self == 1",message="maxSurge must be 0 or 1 (see kubectl explain foocontrolplanes.spec.rollout.strategy.rollingUpdate.maxSurge)"
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`
}

// RemediationStrategy configures how unhealthy Machines are replaced. Fractions of a second are
// ignored.
type RemediationStrategy struct {
	// maxRetry is how many times in a row a replacement that becomes unhealthy too is replaced again.
	// Unlimited if not set.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxRetry *int32 `json:"maxRetry,omitempty"`

	// retryPeriod is the time between two such retries. Defaults to 0.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^0$|^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	RetryPeriod *metav1.Duration `json:"retryPeriod,omitempty"`

	// minHealthyPeriod is how long after a remediation a failure of the replacement counts as a
	// retry. Later failures start a new count. Defaults to one hour.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^0$|^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	MinHealthyPeriod *metav1.Duration `json:"minHealthyPeriod,omitempty"`
}
