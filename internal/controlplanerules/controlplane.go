// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplanerules

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

// common holds the fields that a FooControlPlane and a FooControlPlaneTemplate share.
type common struct {
	metadata clusterv1.ObjectMeta
	gates    []clusterv1.MachineReadinessGate
	taints   []clusterv1.MachineTaint
	config   *bootstrapv1.KubeadmConfigSpec
	rollout  controlplanev1.FooControlPlaneRolloutSpec
	naming   controlplanev1.MachineNamingSpec
	// replicas is nil if unknown.
	replicas *int32
}

// Validate returns what is wrong with a FooControlPlane.
func Validate(controlPlane *controlplanev1.FooControlPlane) field.ErrorList {
	path := field.NewPath("spec")
	spec := controlPlane.Spec
	errs := validateVersion(spec.Version, path.Child("version"))
	errs = append(errs, ValidateReplicas(spec.Replicas, spec.KubeadmConfigSpec.ClusterConfiguration.Etcd, path.Child("replicas"))...)
	errs = append(errs, validateInfrastructureRef(spec.MachineTemplate.Spec.InfrastructureRef, path.Child("machineTemplate", "spec", "infrastructureRef"))...)
	return append(errs, validateCommon(common{
		metadata: spec.MachineTemplate.ObjectMeta,
		gates:    spec.MachineTemplate.Spec.ReadinessGates,
		taints:   spec.MachineTemplate.Spec.Taints,
		config:   spec.KubeadmConfigSpec.DeepCopy(),
		rollout:  spec.Rollout,
		naming:   spec.MachineNaming,
		replicas: spec.Replicas,
	}, path)...)
}

// ValidateTemplate returns what is wrong with a FooControlPlaneTemplate.
func ValidateTemplate(template *controlplanev1.FooControlPlaneTemplate) field.ErrorList {
	path := field.NewPath("spec", "template")
	errs := template.Spec.Template.ObjectMeta.Validate(path.Child("metadata"))
	spec := template.Spec.Template.Spec
	return append(errs, validateCommon(common{
		metadata: spec.MachineTemplate.ObjectMeta,
		gates:    spec.MachineTemplate.Spec.ReadinessGates,
		taints:   spec.MachineTemplate.Spec.Taints,
		config:   spec.KubeadmConfigSpec.DeepCopy(),
		rollout:  spec.Rollout,
		naming:   spec.MachineNaming,
	}, path.Child("spec"))...)
}

func validateCommon(spec common, path *field.Path) field.ErrorList {
	machines := path.Child("machineTemplate")
	errs := spec.metadata.Validate(machines.Child("metadata"))
	errs = append(errs, validateGates(spec.gates, machines.Child("spec", "readinessGates"))...)
	errs = append(errs, validateTaints(spec.taints, machines.Child("spec", "taints"))...)
	errs = append(errs, validateConfig(spec.config, path.Child("kubeadmConfigSpec"))...)
	errs = append(errs, validateRollout(spec, path)...)
	return append(errs, validateNaming(spec.naming, path.Child("machineNaming", "template"))...)
}
