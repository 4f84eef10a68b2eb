// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplanerules

import (
	"fmt"
	"slices"

	"github.com/coredns/corefile-migration/migration"
	"k8s.io/apimachinery/pkg/util/validation/field"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	kubeadmcontrolplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	bootstrapadmission "sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/admission"
	"sigs.k8s.io/cluster-api/util/container"
	"sigs.k8s.io/cluster-api/util/version"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
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

// validateEtcdChange rejects a switch between stacked and external etcd, because the data would not
// move.
func validateEtcdChange(before, after bootstrapv1.Etcd, path *field.Path) field.ErrorList {
	if before.External.IsDefined() == after.External.IsDefined() {
		return nil
	}
	return field.ErrorList{field.Forbidden(path.Child("external"), "etcd cannot be moved between the control plane's own machines and an external cluster")}
}

func skipsCoreDNS(controlPlane *controlplanev1.FooControlPlane) bool {
	_, skips := controlPlane.Annotations[kubeadmcontrolplanev1.SkipCoreDNSAnnotation]
	return skips
}

// validateDNSChange rejects CoreDNS versions to which the Corefile cannot be migrated.
func validateDNSChange(before, after bootstrapv1.DNS, path *field.Path) field.ErrorList {
	from, errFrom := version.ParseTolerantImageTag(before.ImageTag)
	to, errTo := version.ParseTolerantImageTag(after.ImageTag)
	if before.ImageTag == "" || after.ImageTag == "" || errFrom != nil || errTo != nil {
		return nil
	}
	if version.Compare(from, to, version.WithoutPreReleases()) == 0 {
		return nil
	}
	if err := migration.ValidUpMigration(version.MajorMinorPatch(from).String(), version.MajorMinorPatch(to).String()); err != nil {
		return field.ErrorList{field.Invalid(path, after.ImageTag, fmt.Sprintf("CoreDNS cannot be migrated to it from %s: %v; annotate the FooControlPlane with %s to manage CoreDNS yourself",
			before.ImageTag, err, kubeadmcontrolplanev1.SkipCoreDNSAnnotation))}
	}
	return nil
}
