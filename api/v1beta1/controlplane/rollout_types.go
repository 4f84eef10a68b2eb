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

// RolloutBefore says before what a Machine is replaced.
type RolloutBefore struct {
	// certificatesExpiryDays replaces a Machine this many days before its certificates expire. At least 7.
	// +optional
	// +kubebuilder:validation:Minimum=7
	CertificatesExpiryDays *int32 `json:"certificatesExpiryDays,omitempty"`
}

// RolloutStrategy says how Machines are replaced.
type RolloutStrategy struct {
	// type is RollingUpdate, the only way there is, and the default.
	// +optional
	Type RolloutStrategyType `json:"type,omitempty"`

	// rollingUpdate is the settings of RollingUpdate.
	// +optional
	RollingUpdate *RollingUpdate `json:"rollingUpdate,omitempty"`
}

// RollingUpdate is the settings of the strategy RollingUpdate.
type RollingUpdate struct {
	// maxSurge is how many Machines there may be more than replicas: with 1, the default, the new Machine is made
	// before the old one goes; with 0 the old one goes first.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == 0 || self == 1",message="maxSurge must be 0 or 1 (see kubectl explain foocontrolplanes.spec.rollout.strategy.rollingUpdate.maxSurge)"
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`
}

// RemediationStrategy says how unhealthy Machines are replaced. Foo counts whole seconds.
type RemediationStrategy struct {
	// maxRetry is how often the replacement of an unhealthy Machine is itself replaced when it is unhealthy too.
	// Without it, always.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxRetry *int32 `json:"maxRetry,omitempty"`

	// retryPeriod is how long to wait between two such retries. Defaults to 0.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^0$|^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	RetryPeriod *metav1.Duration `json:"retryPeriod,omitempty"`

	// minHealthyPeriod is how long a replacement must live for its failure to count as a new one and not as a retry.
	// Defaults to one hour.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^0$|^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	MinHealthyPeriod *metav1.Duration `json:"minHealthyPeriod,omitempty"`
}
