// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machinepoolrules holds the rules of a FooMachinePool that admission and the runtime
// extension apply. They repeat rules of the schema, because both get strategies that no API server
// has validated: v1beta1 has none, so admission gets them from the annotation of the conversion.
//
// Limits: it looks at one object, and queries no cloud: an instance type that does not exist is
// reported in a condition.
package machinepoolrules

import (
	"regexp"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// percentage matches 0% to 100%.
var percentage = regexp.MustCompile(`^(100|[1-9]?[0-9])%$`)

// Validate returns what is wrong with the spec of a FooMachinePool, or of a FooMachinePoolTemplate
// at another path.
func Validate(spec *infrav1.FooMachinePoolSpec, path *field.Path) field.ErrorList {
	return validateStrategy(&spec.Strategy, path.Child("strategy"))
}

func validateStrategy(strategy *infrav1.FooMachinePoolStrategy, path *field.Path) field.ErrorList {
	errs := validatePortion(strategy.MaxSurge, path.Child("maxSurge"))
	errs = append(errs, validatePortion(strategy.MaxUnavailable, path.Child("maxUnavailable"))...)
	if len(errs) == 0 && strategy.MaxSurge != nil && isZero(strategy.MaxSurge) &&
		(strategy.MaxUnavailable == nil || isZero(strategy.MaxUnavailable)) {
		errs = append(errs, field.Invalid(path.Child("maxSurge"), strategy.MaxSurge.String(),
			"maxSurge and maxUnavailable must not both be zero, and maxUnavailable is 0 by default: nothing could ever be replaced"))
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
