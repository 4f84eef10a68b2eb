// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machinepoolrules checks what the schema of a FooMachinePool cannot, and how a
// FooMachinePool may change. A webhook calls it.
//
// Limits: it looks at one object, and queries no cloud: an instance type that does not exist is
// reported in a condition.
package machinepoolrules

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

// percentage matches 0% to 100%.
var percentage = regexp.MustCompile(`^(100|[1-9]?[0-9])%$`)

// Validate returns what is wrong with the spec of a FooMachinePool, or of a FooMachinePoolTemplate
// at another path.
func Validate(spec *infrav1.FooMachinePoolSpec, path *field.Path) field.ErrorList {
	errs := validateStrategy(&spec.Strategy, path.Child("strategy"))
	if len(spec.ProviderIDList) > infrav1.MaxPoolReplicas {
		errs = append(errs, field.TooMany(path.Child("providerIDList"), len(spec.ProviderIDList), infrav1.MaxPoolReplicas))
	}
	return errs
}

// ValidateTemplate returns what is wrong with a spec that FooMachinePools are created from.
func ValidateTemplate(spec *infrav1.FooMachinePoolSpec, path *field.Path) field.ErrorList {
	errs := Validate(spec, path)
	if spec.ProviderID != "" {
		errs = append(errs, field.Forbidden(path.Child("providerID"), "every pool has its own"))
	}
	if len(spec.ProviderIDList) > 0 {
		errs = append(errs, field.Forbidden(path.Child("providerIDList"), "every pool has its own"))
	}
	return errs
}

// ValidateUpdate returns what is wrong with a change of the spec. It does not check the new spec
// itself.
func ValidateUpdate(before, after *infrav1.FooMachinePoolSpec, path *field.Path) field.ErrorList {
	if before.ProviderID != "" && after.ProviderID != before.ProviderID {
		return field.ErrorList{field.Invalid(path.Child("providerID"), after.ProviderID,
			fmt.Sprintf("it names the pool in the cloud and must stay %q", before.ProviderID))}
	}
	return nil
}

func validateStrategy(strategy *infrav1.FooMachinePoolStrategy, path *field.Path) field.ErrorList {
	errs := validatePortion(strategy.MaxSurge, path.Child("maxSurge"))
	errs = append(errs, validatePortion(strategy.MaxUnavailable, path.Child("maxUnavailable"))...)
	if len(errs) == 0 && strategy.MaxSurge != nil && isZero(strategy.MaxSurge) &&
		(strategy.MaxUnavailable == nil || isZero(strategy.MaxUnavailable)) {
		errs = append(errs, field.Invalid(path.Child("maxSurge"), strategy.MaxSurge.String(),
			"must not be zero while maxUnavailable is zero, its default: nothing could ever be replaced"))
	}
	switch strategy.DeletePolicy {
	case "", infrav1.RandomDeletePolicy, infrav1.NewestDeletePolicy, infrav1.OldestDeletePolicy:
	default:
		errs = append(errs, field.NotSupported(path.Child("deletePolicy"), strategy.DeletePolicy,
			[]infrav1.DeletePolicy{infrav1.RandomDeletePolicy, infrav1.NewestDeletePolicy, infrav1.OldestDeletePolicy}))
	}
	if strategy.NodeJoinTimeoutSeconds < 0 {
		errs = append(errs, field.Invalid(path.Child("nodeJoinTimeoutSeconds"), strategy.NodeJoinTimeoutSeconds, "must be at least 1"))
	}
	if strategy.MaxFailedReplacements < 0 {
		errs = append(errs, field.Invalid(path.Child("maxFailedReplacements"), strategy.MaxFailedReplacements, "must be at least 1"))
	}
	return errs
}

func validatePortion(value *intstr.IntOrString, path *field.Path) field.ErrorList {
	switch {
	case value == nil:
		return nil
	case value.Type == intstr.Int && value.IntVal >= 0, value.Type == intstr.String && percentage.MatchString(value.StrVal):
		return nil
	default:
		return field.ErrorList{field.Invalid(path, value.String(), "must be a number of at least 0, or a percentage from 0% to 100%")}
	}
}

func isZero(value *intstr.IntOrString) bool {
	return *value == intstr.FromInt32(0) || *value == intstr.FromString("0%")
}

// leastJoinSeconds is less than a real machine takes to join.
const leastJoinSeconds = 60

// Unwise returns what is allowed in the spec of a FooMachinePool, or of a template at another path,
// but that users may come to regret, and why.
func Unwise(spec *infrav1.FooMachinePoolSpec, path *field.Path) field.ErrorList {
	path = path.Child("strategy")
	var unwise field.ErrorList
	if all := spec.Strategy.MaxUnavailable; all != nil && *all == intstr.FromString("100%") {
		unwise = append(unwise, field.Invalid(path.Child("maxUnavailable"), all.String(), "a rollout may remove all instances at once"))
	}
	if seconds := spec.Strategy.NodeJoinTimeoutSeconds; seconds > 0 && seconds < leastJoinSeconds {
		unwise = append(unwise, field.Invalid(path.Child("nodeJoinTimeoutSeconds"), seconds,
			fmt.Sprintf("instances that take longer than this are replaced; most need %d seconds", leastJoinSeconds)))
	}
	return unwise
}
