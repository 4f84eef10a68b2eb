// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplanerules

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

const (
	// minExpiryDays is the minimum of certificatesExpiryDays.
	minExpiryDays = 7
	// defaultCertificateDays is how long kubeadm's certificates are valid by default.
	defaultCertificateDays = 365
	// minReplicasWithoutSurge is the minimum number of replicas for deleting a Machine before its
	// replacement exists.
	minReplicasWithoutSurge = 3
)

func validateRollout(spec common, path *field.Path) field.ErrorList {
	errs := validateStrategy(spec.rollout.Strategy, spec.replicas, path.Child("rollout", "strategy"))
	errs = append(errs, validateCertificateDays(spec.config.ClusterConfiguration, path.Child("kubeadmConfigSpec", "clusterConfiguration"))...)
	return append(errs, validateExpiryDays(spec, path.Child("rollout", "before", "certificatesExpiryDays"))...)
}

func validateStrategy(strategy controlplanev1.FooControlPlaneRolloutStrategy, replicas *int32, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	surge := strategy.RollingUpdate.MaxSurge
	if strategy.Type == "" && surge == nil {
		return nil
	}
	if strategy.Type != controlplanev1.RollingUpdateStrategyType {
		errs = append(errs, field.NotSupported(path.Child("type"), strategy.Type, []string{string(controlplanev1.RollingUpdateStrategyType)}))
	}
	if surge == nil {
		return errs
	}
	path = path.Child("rollingUpdate", "maxSurge")
	if surge.Type != intstr.Int || surge.IntVal < 0 || surge.IntVal > 1 {
		return append(errs, field.Invalid(path, surge.String(), "must be 0 or 1"))
	}
	if surge.IntVal == 0 && replicas != nil && *replicas < minReplicasWithoutSurge {
		errs = append(errs, field.Invalid(path, surge.String(),
			fmt.Sprintf("must be 1 with fewer than %d replicas: no Machine may be deleted before its replacement exists", minReplicasWithoutSurge)))
	}
	return errs
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
func validateExpiryDays(spec common, path *field.Path) field.ErrorList {
	days := spec.rollout.Before.CertificatesExpiryDays
	valid := spec.config.ClusterConfiguration.CertificateValidityPeriodDays
	if valid == 0 {
		valid = defaultCertificateDays
	}
	switch {
	case days == 0:
		return nil
	case days < minExpiryDays:
		return field.ErrorList{field.Invalid(path, days, fmt.Sprintf("must be at least %d", minExpiryDays))}
	case days >= valid:
		return field.ErrorList{field.Invalid(path, days,
			fmt.Sprintf("must be less than certificateValidityPeriodDays, %d days: otherwise Machines would be replaced over and over", valid))}
	}
	return nil
}

func validateRemediation(spec controlplanev1.FooControlPlaneRemediationSpec, path *field.Path) field.ErrorList {
	errs := validateNotNegative(spec.MaxRetry, path.Child("maxRetry"))
	errs = append(errs, validateNotNegative(spec.RetryPeriodSeconds, path.Child("retryPeriodSeconds"))...)
	return append(errs, validateNotNegative(spec.MinHealthyPeriodSeconds, path.Child("minHealthyPeriodSeconds"))...)
}

func validateNotNegative(value *int32, path *field.Path) field.ErrorList {
	if value == nil || *value >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, "must not be negative")}
}
