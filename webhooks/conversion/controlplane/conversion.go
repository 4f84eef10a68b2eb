// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	bootstrapconversion "sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/conversion"

	controlplanev1beta1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta1"
	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/conversion/legacy"
)

// localSchemeBuilder gets the generated functions. Nobody looks them up in a scheme.
var localSchemeBuilder runtime.SchemeBuilder

func Convert_v1beta1_KubeadmConfigSpec_To_v1beta2_KubeadmConfigSpec(in *bootstrapv1beta1.KubeadmConfigSpec, out *bootstrapv1.KubeadmConfigSpec, s conversion.Scope) error {
	if err := bootstrapv1beta1.Convert_v1beta1_KubeadmConfigSpec_To_v1beta2_KubeadmConfigSpec(in, out, s); err != nil {
		return err
	}
	// v1beta1 cannot tell false from unset.
	if err := bootstrapconversion.RestoreBoolIntentKubeadmConfigSpec(in, out, false, &bootstrapv1.KubeadmConfigSpec{}); err != nil {
		return err
	}
	bootstrapconversion.ConvertKubeadmConfigSpecV1Beta1ToHub(context.Background(), in, out)
	return nil
}

func Convert_v1beta2_KubeadmConfigSpec_To_v1beta1_KubeadmConfigSpec(in *bootstrapv1.KubeadmConfigSpec, out *bootstrapv1beta1.KubeadmConfigSpec, s conversion.Scope) error {
	err := bootstrapv1beta1.Convert_v1beta2_KubeadmConfigSpec_To_v1beta1_KubeadmConfigSpec(in, out, s)
	bootstrapconversion.ConvertKubeadmConfigSpecHubToV1Beta1(context.Background(), in, out)
	return err
}

// Convert_v1_ObjectReference_To_v1beta2_ContractVersionedObjectReference accepts any text as a
// version. An invalid one must fail in admission, which explains why, and not here.
func Convert_v1_ObjectReference_To_v1beta2_ContractVersionedObjectReference(in *corev1.ObjectReference, out *clusterv1.ContractVersionedObjectReference, _ conversion.Scope) error {
	if end := strings.LastIndex(in.APIVersion, "/"); end > 0 {
		out.APIGroup = in.APIVersion[:end]
	}
	out.Kind, out.Name = in.Kind, in.Name
	return nil
}

func Convert_v1beta1_FooControlPlaneSpec_To_v1beta2_FooControlPlaneSpec(in *controlplanev1beta1.FooControlPlaneSpec, out *controlplanev1.FooControlPlaneSpec, s conversion.Scope) error {
	if err := autoConvert_v1beta1_FooControlPlaneSpec_To_v1beta2_FooControlPlaneSpec(in, out, s); err != nil {
		return err
	}
	out.Rollout = rolloutToHub(in.RolloutBefore, in.RolloutAfter, in.RolloutStrategy)
	out.Remediation, out.MachineNaming = strategiesToHub(in.RemediationStrategy, in.MachineNamingStrategy)
	return nil
}

func Convert_v1beta2_FooControlPlaneSpec_To_v1beta1_FooControlPlaneSpec(in *controlplanev1.FooControlPlaneSpec, out *controlplanev1beta1.FooControlPlaneSpec, s conversion.Scope) error {
	if err := autoConvert_v1beta2_FooControlPlaneSpec_To_v1beta1_FooControlPlaneSpec(in, out, s); err != nil {
		return err
	}
	out.RolloutBefore, out.RolloutAfter, out.RolloutStrategy = rolloutToSpoke(&in.Rollout)
	out.RemediationStrategy, out.MachineNamingStrategy = strategiesToSpoke(in.Remediation, in.MachineNaming)
	return nil
}

func Convert_v1beta1_FooControlPlaneTemplateResourceSpec_To_v1beta2_FooControlPlaneTemplateResourceSpec(in *controlplanev1beta1.FooControlPlaneTemplateResourceSpec, out *controlplanev1.FooControlPlaneTemplateResourceSpec, s conversion.Scope) error {
	if err := autoConvert_v1beta1_FooControlPlaneTemplateResourceSpec_To_v1beta2_FooControlPlaneTemplateResourceSpec(in, out, s); err != nil {
		return err
	}
	out.Rollout = rolloutToHub(in.RolloutBefore, in.RolloutAfter, in.RolloutStrategy)
	out.Remediation, out.MachineNaming = strategiesToHub(in.RemediationStrategy, in.MachineNamingStrategy)
	return legacy.Value(in.MachineTemplate, &out.MachineTemplate, Convert_v1beta1_FooControlPlaneTemplateMachineTemplate_To_v1beta2_FooControlPlaneTemplateMachineTemplate)
}

func Convert_v1beta2_FooControlPlaneTemplateResourceSpec_To_v1beta1_FooControlPlaneTemplateResourceSpec(in *controlplanev1.FooControlPlaneTemplateResourceSpec, out *controlplanev1beta1.FooControlPlaneTemplateResourceSpec, s conversion.Scope) error {
	if err := autoConvert_v1beta2_FooControlPlaneTemplateResourceSpec_To_v1beta1_FooControlPlaneTemplateResourceSpec(in, out, s); err != nil {
		return err
	}
	out.RolloutBefore, out.RolloutAfter, out.RolloutStrategy = rolloutToSpoke(&in.Rollout)
	out.RemediationStrategy, out.MachineNamingStrategy = strategiesToSpoke(in.Remediation, in.MachineNaming)
	return legacy.Pointer(&in.MachineTemplate, &out.MachineTemplate, Convert_v1beta2_FooControlPlaneTemplateMachineTemplate_To_v1beta1_FooControlPlaneTemplateMachineTemplate)
}

func Convert_v1beta1_FooControlPlaneMachineTemplate_To_v1beta2_FooControlPlaneMachineTemplate(in *controlplanev1beta1.FooControlPlaneMachineTemplate, out *controlplanev1.FooControlPlaneMachineTemplate, s conversion.Scope) error {
	if err := autoConvert_v1beta1_FooControlPlaneMachineTemplate_To_v1beta2_FooControlPlaneMachineTemplate(in, out, s); err != nil {
		return err
	}
	out.Spec.Deletion, out.Spec.ReadinessGates, out.Spec.Taints = machinesToHub(in.MachineTimeouts, in.ReadinessGates, in.Taints)
	return Convert_v1_ObjectReference_To_v1beta2_ContractVersionedObjectReference(&in.InfrastructureRef, &out.Spec.InfrastructureRef, s)
}

// Convert_v1beta2_FooControlPlaneMachineTemplate_To_v1beta1_FooControlPlaneMachineTemplate leaves
// out the version and the namespace of the infrastructure reference: it knows neither.
func Convert_v1beta2_FooControlPlaneMachineTemplate_To_v1beta1_FooControlPlaneMachineTemplate(in *controlplanev1.FooControlPlaneMachineTemplate, out *controlplanev1beta1.FooControlPlaneMachineTemplate, s conversion.Scope) error {
	err := autoConvert_v1beta2_FooControlPlaneMachineTemplate_To_v1beta1_FooControlPlaneMachineTemplate(in, out, s)
	out.MachineTimeouts, out.ReadinessGates, out.Taints = machinesToSpoke(in.Spec.Deletion, in.Spec.ReadinessGates, in.Spec.Taints)
	return err
}

func Convert_v1beta1_FooControlPlaneTemplateMachineTemplate_To_v1beta2_FooControlPlaneTemplateMachineTemplate(in *controlplanev1beta1.FooControlPlaneTemplateMachineTemplate, out *controlplanev1.FooControlPlaneTemplateMachineTemplate, s conversion.Scope) error {
	err := autoConvert_v1beta1_FooControlPlaneTemplateMachineTemplate_To_v1beta2_FooControlPlaneTemplateMachineTemplate(in, out, s)
	out.Spec.Deletion, out.Spec.ReadinessGates, out.Spec.Taints = machinesToHub(in.MachineTimeouts, in.ReadinessGates, in.Taints)
	return err
}

func Convert_v1beta2_FooControlPlaneTemplateMachineTemplate_To_v1beta1_FooControlPlaneTemplateMachineTemplate(in *controlplanev1.FooControlPlaneTemplateMachineTemplate, out *controlplanev1beta1.FooControlPlaneTemplateMachineTemplate, s conversion.Scope) error {
	err := autoConvert_v1beta2_FooControlPlaneTemplateMachineTemplate_To_v1beta1_FooControlPlaneTemplateMachineTemplate(in, out, s)
	out.MachineTimeouts, out.ReadinessGates, out.Taints = machinesToSpoke(in.Spec.Deletion, in.Spec.ReadinessGates, in.Spec.Taints)
	return err
}

func machinesToHub(timeouts controlplanev1beta1.MachineTimeouts, gates []clusterv1beta1.MachineReadinessGate, taints []clusterv1beta1.MachineTaint) (
	deletion controlplanev1.FooControlPlaneMachineTemplateDeletionSpec, hubGates []clusterv1.MachineReadinessGate, hubTaints []clusterv1.MachineTaint,
) {
	deletion.NodeDrainTimeoutSeconds = clusterv1.ConvertToSeconds(timeouts.NodeDrainTimeout)
	deletion.NodeVolumeDetachTimeoutSeconds = clusterv1.ConvertToSeconds(timeouts.NodeVolumeDetachTimeout)
	deletion.NodeDeletionTimeoutSeconds = clusterv1.ConvertToSeconds(timeouts.NodeDeletionTimeout)
	for _, gate := range gates {
		hubGates = append(hubGates, clusterv1.MachineReadinessGate{ConditionType: gate.ConditionType, Polarity: clusterv1.ConditionPolarity(gate.Polarity)})
	}
	for _, taint := range taints {
		hubTaints = append(hubTaints, clusterv1.MachineTaint{
			Key: taint.Key, Value: taint.Value, Effect: taint.Effect, Propagation: clusterv1.MachineTaintPropagation(taint.Propagation),
		})
	}
	return deletion, hubGates, hubTaints
}

func machinesToSpoke(deletion controlplanev1.FooControlPlaneMachineTemplateDeletionSpec, gates []clusterv1.MachineReadinessGate, taints []clusterv1.MachineTaint) (
	timeouts controlplanev1beta1.MachineTimeouts, spokeGates []clusterv1beta1.MachineReadinessGate, spokeTaints []clusterv1beta1.MachineTaint,
) {
	timeouts.NodeDrainTimeout = clusterv1.ConvertFromSeconds(deletion.NodeDrainTimeoutSeconds)
	timeouts.NodeVolumeDetachTimeout = clusterv1.ConvertFromSeconds(deletion.NodeVolumeDetachTimeoutSeconds)
	timeouts.NodeDeletionTimeout = clusterv1.ConvertFromSeconds(deletion.NodeDeletionTimeoutSeconds)
	for _, gate := range gates {
		spokeGates = append(spokeGates, clusterv1beta1.MachineReadinessGate{ConditionType: gate.ConditionType, Polarity: clusterv1beta1.ConditionPolarity(gate.Polarity)})
	}
	for _, taint := range taints {
		spokeTaints = append(spokeTaints, clusterv1beta1.MachineTaint{
			Key: taint.Key, Value: taint.Value, Effect: taint.Effect, Propagation: clusterv1beta1.MachineTaintPropagation(taint.Propagation),
		})
	}
	return timeouts, spokeGates, spokeTaints
}

func rolloutToHub(before *controlplanev1beta1.RolloutBefore, after *metav1.Time, strategy *controlplanev1beta1.RolloutStrategy) controlplanev1.FooControlPlaneRolloutSpec {
	out := controlplanev1.FooControlPlaneRolloutSpec{After: ptr.Deref(after, metav1.Time{})}
	if before != nil {
		out.Before.CertificatesExpiryDays = ptr.Deref(before.CertificatesExpiryDays, 0)
	}
	if strategy == nil {
		return out
	}
	// The hub requires the type that v1beta1 defaults to.
	out.Strategy.Type = controlplanev1.RollingUpdateStrategyType
	if strategy.Type != "" {
		out.Strategy.Type = controlplanev1.RolloutStrategyType(strategy.Type)
	}
	if strategy.RollingUpdate != nil {
		out.Strategy.RollingUpdate.MaxSurge = strategy.RollingUpdate.MaxSurge
	}
	return out
}

func rolloutToSpoke(in *controlplanev1.FooControlPlaneRolloutSpec) (*controlplanev1beta1.RolloutBefore, *metav1.Time, *controlplanev1beta1.RolloutStrategy) {
	var before *controlplanev1beta1.RolloutBefore
	if days := legacy.NonZero(in.Before.CertificatesExpiryDays); days != nil {
		before = &controlplanev1beta1.RolloutBefore{CertificatesExpiryDays: days}
	}
	var after *metav1.Time
	if !in.After.IsZero() {
		after = &in.After
	}
	if reflect.ValueOf(in.Strategy).IsZero() {
		return before, after, nil
	}
	strategy := &controlplanev1beta1.RolloutStrategy{Type: controlplanev1beta1.RolloutStrategyType(in.Strategy.Type)}
	if surge := in.Strategy.RollingUpdate.MaxSurge; surge != nil {
		strategy.RollingUpdate = &controlplanev1beta1.RollingUpdate{MaxSurge: surge}
	}
	return before, after, strategy
}

func strategiesToHub(remediation *controlplanev1beta1.RemediationStrategy, naming *controlplanev1beta1.MachineNamingStrategy) (
	toRemediation controlplanev1.FooControlPlaneRemediationSpec, toNaming controlplanev1.MachineNamingSpec,
) {
	if remediation != nil {
		toRemediation.MaxRetry = remediation.MaxRetry
		toRemediation.RetryPeriodSeconds = clusterv1.ConvertToSeconds(remediation.RetryPeriod)
		toRemediation.MinHealthyPeriodSeconds = clusterv1.ConvertToSeconds(remediation.MinHealthyPeriod)
	}
	if naming != nil {
		toNaming.Template = naming.Template
	}
	return toRemediation, toNaming
}

func strategiesToSpoke(remediation controlplanev1.FooControlPlaneRemediationSpec, naming controlplanev1.MachineNamingSpec) (
	toRemediation *controlplanev1beta1.RemediationStrategy, toNaming *controlplanev1beta1.MachineNamingStrategy,
) {
	if remediation != (controlplanev1.FooControlPlaneRemediationSpec{}) {
		toRemediation = &controlplanev1beta1.RemediationStrategy{
			MaxRetry:         remediation.MaxRetry,
			RetryPeriod:      clusterv1.ConvertFromSeconds(remediation.RetryPeriodSeconds),
			MinHealthyPeriod: clusterv1.ConvertFromSeconds(remediation.MinHealthyPeriodSeconds),
		}
	}
	if naming.Template != "" {
		toNaming = &controlplanev1beta1.MachineNamingStrategy{Template: naming.Template}
	}
	return toRemediation, toNaming
}
