// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplanerules

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

const (
	// defaultCertificateDays is how long kubeadm's certificates are valid by default.
	defaultCertificateDays = 365
	// minReplicasWithoutSurge is the minimum number of replicas for deleting a Machine before its
	// replacement exists.
	minReplicasWithoutSurge = 3
)

func validateRollout(spec controlplanev1.FooControlPlaneSpec, path *field.Path) field.ErrorList {
	errs := validateStrategy(spec.Rollout.Strategy, spec.Replicas, path.Child("rollout", "strategy"))
	errs = append(errs, validateCertificateDays(spec.KubeadmConfigSpec.ClusterConfiguration, path.Child("kubeadmConfigSpec", "clusterConfiguration"))...)
	return append(errs, validateExpiryDays(spec, path.Child("rollout", "before", "certificatesExpiryDays"))...)
}

// validateStrategy prevents a control plane from losing its only Machine. The schema allows a
// maxSurge of 0 or 1.
func validateStrategy(strategy controlplanev1.FooControlPlaneRolloutStrategy, replicas *int32, path *field.Path) field.ErrorList {
	surge := strategy.RollingUpdate.MaxSurge
	if surge == nil || *surge != intstr.FromInt32(0) || replicas == nil || *replicas >= minReplicasWithoutSurge {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("rollingUpdate", "maxSurge"), surge.String(),
		fmt.Sprintf("must be 1 with fewer than %d replicas: no Machine may be deleted before its replacement exists", minReplicasWithoutSurge))}
}

func validateCertificateDays(config bootstrapv1.ClusterConfiguration, path *field.Path) field.ErrorList {
	authority := config.CACertificateValidityPeriodDays
	if authority == 0 {
		authority = secret.DefaultCACertificatesExpiryDays
	}
	if config.CertificateValidityPeriodDays <= authority {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("certificateValidityPeriodDays"), config.CertificateValidityPeriodDays,
		fmt.Sprintf("must be at most caCertificateValidityPeriodDays, %d days: a certificate cannot outlive its CA", authority))}
}

// validateExpiryDays prevents a rollout from starting again as soon as it has ended.
func validateExpiryDays(spec controlplanev1.FooControlPlaneSpec, path *field.Path) field.ErrorList {
	days := spec.Rollout.Before.CertificatesExpiryDays
	valid := spec.KubeadmConfigSpec.ClusterConfiguration.CertificateValidityPeriodDays
	if valid == 0 {
		valid = defaultCertificateDays
	}
	if days < valid {
		return nil
	}
	return field.ErrorList{field.Invalid(path, days,
		fmt.Sprintf("must be less than certificateValidityPeriodDays, %d days: otherwise Machines would be replaced over and over", valid))}
}
