// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplanerules

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	bootstrapadmission "sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/admission"
	"sigs.k8s.io/cluster-api/util/container"
	"sigs.k8s.io/cluster-api/util/version"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

// Validate returns what is wrong with a FooControlPlane.
func Validate(controlPlane *controlplanev1.FooControlPlane) field.ErrorList {
	path := field.NewPath("spec")
	spec := controlPlane.Spec
	errs := validateVersion(spec.Version, path.Child("version"))
	errs = append(errs, ValidateReplicas(spec.Replicas, spec.KubeadmConfigSpec.ClusterConfiguration.Etcd, path.Child("replicas"))...)
	errs = append(errs, validateInfrastructureRef(spec.MachineTemplate.Spec.InfrastructureRef, path.Child("machineTemplate", "spec", "infrastructureRef"))...)
	return append(errs, validateCommon(spec, path)...)
}

// ValidateTemplate returns what is wrong with a FooControlPlaneTemplate.
func ValidateTemplate(template *controlplanev1.FooControlPlaneTemplate) field.ErrorList {
	path := field.NewPath("spec", "template")
	errs := template.Spec.Template.ObjectMeta.Validate(path.Child("metadata"))
	return append(errs, validateCommon(commonOf(template), path.Child("spec"))...)
}

// commonOf returns what the rules need of a template, as the spec of a FooControlPlane of unknown
// replicas.
func commonOf(template *controlplanev1.FooControlPlaneTemplate) controlplanev1.FooControlPlaneSpec {
	given := template.Spec.Template.Spec
	return controlplanev1.FooControlPlaneSpec{
		MachineTemplate: controlplanev1.FooControlPlaneMachineTemplate{
			ObjectMeta: given.MachineTemplate.ObjectMeta,
			Spec: controlplanev1.FooControlPlaneMachineTemplateSpec{
				ReadinessGates: given.MachineTemplate.Spec.ReadinessGates, Taints: given.MachineTemplate.Spec.Taints,
			},
		},
		KubeadmConfigSpec: given.KubeadmConfigSpec,
		Rollout:           given.Rollout,
		MachineNaming:     given.MachineNaming,
	}
}

// validateCommon validates what a FooControlPlane and a FooControlPlaneTemplate share.
func validateCommon(spec controlplanev1.FooControlPlaneSpec, path *field.Path) field.ErrorList {
	machines := path.Child("machineTemplate")
	errs := spec.MachineTemplate.ObjectMeta.Validate(machines.Child("metadata"))
	errs = append(errs, validateGates(spec.MachineTemplate.Spec.ReadinessGates, machines.Child("spec", "readinessGates"))...)
	errs = append(errs, validateTaints(spec.MachineTemplate.Spec.Taints, machines.Child("spec", "taints"))...)
	errs = append(errs, validateConfig(spec.KubeadmConfigSpec.DeepCopy(), path.Child("kubeadmConfigSpec"))...)
	errs = append(errs, validateRollout(spec, path)...)
	return append(errs, validateNaming(spec.MachineNaming, path.Child("machineNaming", "template"))...)
}

// withoutContent omits values other than single words and numbers from the errors: they may contain
// a user's secrets, and errors appear in conditions and logs.
func withoutContent(errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		switch err.BadValue.(type) {
		case string, bool, int, int32, int64, *int32:
		default:
			err.BadValue = field.OmitValueType{}
		}
	}
	return errs
}

// validateConfig applies the rules of KubeadmConfigs, with the code of the bootstrap provider, and
// the rules that only a control plane has.
func validateConfig(config *bootstrapv1.KubeadmConfigSpec, path *field.Path) field.ErrorList {
	errs := bootstrapadmission.Validate(config, true, path)
	// The bootstrap provider's own feature gate decides whether Ignition may be used. Its value is
	// unknown here.
	errs = slices.DeleteFunc(errs, func(err *field.Error) bool {
		gated := err.Field == path.Child("format").String() || err.Field == path.Child("ignition").String()
		return gated && err.Type == field.ErrorTypeForbidden
	})
	return append(withoutContent(errs), validateClusterConfiguration(config.ClusterConfiguration, path.Child("clusterConfiguration"))...)
}

func validateClusterConfiguration(config bootstrapv1.ClusterConfiguration, path *field.Path) field.ErrorList {
	errs := validateTag(config.DNS.ImageTag, path.Child("dns", "imageTag"))
	if tag := config.DNS.ImageTag; tag != "" && len(errs) == 0 {
		if _, err := version.ParseTolerantImageTag(tag); err != nil {
			errs = append(errs, field.Invalid(path.Child("dns", "imageTag"), tag, "must start with a CoreDNS version, such as v1.12.1"))
		}
	}
	errs = append(errs, validateTag(config.Etcd.Local.ImageTag, path.Child("etcd", "local", "imageTag"))...)
	if config.Etcd.Local.IsDefined() && config.Etcd.External.IsDefined() {
		errs = append(errs, field.Forbidden(path.Child("etcd", "local"), "must not be set together with etcd.external"))
	}
	return errs
}

func validateTag(tag string, path *field.Path) field.ErrorList {
	if tag == "" || container.ImageTagIsValid(tag) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, tag, "must be an image tag: at most 128 letters, digits, underscores, periods and hyphens")}
}
