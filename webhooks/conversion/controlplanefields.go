// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	bootstrapconversion "sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/conversion"

	controlplanev1beta1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta1/controlplane"
	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

func kubeadmToSpoke(ctx context.Context, hub *bootstrapv1.KubeadmConfigSpec, spoke *bootstrapv1beta1.KubeadmConfigSpec) error {
	*spoke = bootstrapv1beta1.KubeadmConfigSpec{}
	if err := bootstrapv1beta1.Convert_v1beta2_KubeadmConfigSpec_To_v1beta1_KubeadmConfigSpec(hub, spoke, nil); err != nil {
		return err
	}
	bootstrapconversion.ConvertKubeadmConfigSpecHubToV1Beta1(ctx, hub, spoke)
	return nil
}

// kubeadmToHub writes a kubeadm configuration over another one. If both mean the same, the other
// one keeps its exact form.
func kubeadmToHub(ctx context.Context, spoke *bootstrapv1beta1.KubeadmConfigSpec, hub *bootstrapv1.KubeadmConfigSpec) error {
	read := &bootstrapv1beta1.KubeadmConfigSpec{}
	if err := kubeadmToSpoke(ctx, hub, read); err != nil {
		return err
	}
	if untouched, err := sameJSON(read, spoke); err != nil || untouched {
		return err
	}
	written := bootstrapv1.KubeadmConfigSpec{}
	if err := bootstrapv1beta1.Convert_v1beta1_KubeadmConfigSpec_To_v1beta2_KubeadmConfigSpec(spoke.DeepCopy(), &written, nil); err != nil {
		return err
	}
	if err := bootstrapconversion.RestoreBoolIntentKubeadmConfigSpec(spoke, &written, true, hub); err != nil {
		return err
	}
	bootstrapconversion.RestoreKubeadmConfigSpec(hub, &written)
	bootstrapconversion.ConvertKubeadmConfigSpecV1Beta1ToHub(ctx, spoke, &written)
	*hub = written
	return nil
}

func timeoutsToSpoke(hub controlplanev1.FooControlPlaneMachineTemplateDeletionSpec) controlplanev1beta1.MachineTimeouts {
	return controlplanev1beta1.MachineTimeouts{
		NodeDrainTimeout:        clusterv1.ConvertFromSeconds(hub.NodeDrainTimeoutSeconds),
		NodeVolumeDetachTimeout: clusterv1.ConvertFromSeconds(hub.NodeVolumeDetachTimeoutSeconds),
		NodeDeletionTimeout:     clusterv1.ConvertFromSeconds(hub.NodeDeletionTimeoutSeconds),
	}
}

func timeoutsToHub(spoke controlplanev1beta1.MachineTimeouts, hub *controlplanev1.FooControlPlaneMachineTemplateDeletionSpec) {
	hub.NodeDrainTimeoutSeconds = seconds(spoke.NodeDrainTimeout)
	hub.NodeVolumeDetachTimeoutSeconds = seconds(spoke.NodeVolumeDetachTimeout)
	hub.NodeDeletionTimeoutSeconds = seconds(spoke.NodeDeletionTimeout)
}

func gateToSpoke(gate clusterv1.MachineReadinessGate) clusterv1beta1.MachineReadinessGate {
	return clusterv1beta1.MachineReadinessGate{ConditionType: gate.ConditionType, Polarity: clusterv1beta1.ConditionPolarity(gate.Polarity)}
}

func gateToHub(gate clusterv1beta1.MachineReadinessGate) clusterv1.MachineReadinessGate {
	return clusterv1.MachineReadinessGate{ConditionType: gate.ConditionType, Polarity: clusterv1.ConditionPolarity(gate.Polarity)}
}

func taintToSpoke(taint clusterv1.MachineTaint) clusterv1beta1.MachineTaint {
	return clusterv1beta1.MachineTaint{
		Key: taint.Key, Value: taint.Value, Effect: taint.Effect, Propagation: clusterv1beta1.MachineTaintPropagation(taint.Propagation),
	}
}

func taintToHub(taint clusterv1beta1.MachineTaint) clusterv1.MachineTaint {
	return clusterv1.MachineTaint{
		Key: taint.Key, Value: taint.Value, Effect: taint.Effect, Propagation: clusterv1.MachineTaintPropagation(taint.Propagation),
	}
}

func rolloutToSpoke(hub *controlplanev1.FooControlPlaneRolloutSpec) (*controlplanev1beta1.RolloutBefore, *metav1.Time, *controlplanev1beta1.RolloutStrategy) {
	var before *controlplanev1beta1.RolloutBefore
	if days := hub.Before.CertificatesExpiryDays; days != 0 {
		before = &controlplanev1beta1.RolloutBefore{CertificatesExpiryDays: &days}
	}
	var after *metav1.Time
	if !hub.After.IsZero() {
		after = hub.After.DeepCopy()
	}
	if reflect.ValueOf(hub.Strategy).IsZero() {
		return before, after, nil
	}
	strategy := &controlplanev1beta1.RolloutStrategy{Type: controlplanev1beta1.RolloutStrategyType(hub.Strategy.Type)}
	if surge := hub.Strategy.RollingUpdate.MaxSurge; surge != nil {
		strategy.RollingUpdate = &controlplanev1beta1.RollingUpdate{MaxSurge: surge}
	}
	return before, after, strategy
}

func rolloutToHub(before *controlplanev1beta1.RolloutBefore, after *metav1.Time, strategy *controlplanev1beta1.RolloutStrategy, hub *controlplanev1.FooControlPlaneRolloutSpec) {
	hub.Before.CertificatesExpiryDays = 0
	if before != nil {
		hub.Before.CertificatesExpiryDays = count(before.CertificatesExpiryDays)
	}
	hub.After = metav1.Time{}
	if after != nil {
		hub.After = *after
	}
	if strategy == nil {
		hub.Strategy.Type, hub.Strategy.RollingUpdate.MaxSurge = "", nil
		return
	}
	hub.Strategy.Type = controlplanev1.RolloutStrategyType(strategy.Type)
	if hub.Strategy.Type == "" {
		// The hub requires the type that v1beta1 defaults to.
		hub.Strategy.Type = controlplanev1.RollingUpdateStrategyType
	}
	hub.Strategy.RollingUpdate.MaxSurge = nil
	if strategy.RollingUpdate != nil {
		hub.Strategy.RollingUpdate.MaxSurge = strategy.RollingUpdate.MaxSurge
	}
}

func remediationToSpoke(hub *controlplanev1.FooControlPlaneRemediationSpec) *controlplanev1beta1.RemediationStrategy {
	if reflect.ValueOf(*hub).IsZero() {
		return nil
	}
	return &controlplanev1beta1.RemediationStrategy{
		MaxRetry:         hub.MaxRetry,
		RetryPeriod:      clusterv1.ConvertFromSeconds(hub.RetryPeriodSeconds),
		MinHealthyPeriod: clusterv1.ConvertFromSeconds(hub.MinHealthyPeriodSeconds),
	}
}

func remediationToHub(spoke *controlplanev1beta1.RemediationStrategy, hub *controlplanev1.FooControlPlaneRemediationSpec) {
	if spoke == nil {
		spoke = &controlplanev1beta1.RemediationStrategy{}
	}
	hub.MaxRetry = spoke.MaxRetry
	hub.RetryPeriodSeconds = seconds(spoke.RetryPeriod)
	hub.MinHealthyPeriodSeconds = seconds(spoke.MinHealthyPeriod)
}

func namingToSpoke(hub controlplanev1.MachineNamingSpec) *controlplanev1beta1.MachineNamingStrategy {
	if hub == (controlplanev1.MachineNamingSpec{}) {
		return nil
	}
	return &controlplanev1beta1.MachineNamingStrategy{Template: hub.Template}
}

func namingToHub(spoke *controlplanev1beta1.MachineNamingStrategy, hub *controlplanev1.MachineNamingSpec) {
	hub.Template = ""
	if spoke != nil {
		hub.Template = spoke.Template
	}
}
