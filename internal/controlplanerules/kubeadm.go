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
)

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
