// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Rules are the rules of a kind. They make a validator for controller-runtime's webhook builder. A nil function has no rule.
type Rules[T client.Object] struct {
	// Kind and Resource are what refusals name: FooCluster, and fooclusters for kubectl explain.
	Kind     schema.GroupKind
	Resource string
	// Validate returns what is wrong with an object by itself.
	Validate func(object T) field.ErrorList
	// Change returns what is wrong with a change of an object. What Validate says of the object after it counts only once.
	Change func(ctx context.Context, before, after T) field.ErrorList
	// Unwise returns what is allowed, and why it is unwise.
	Unwise func(object T) field.ErrorList
	// UnwiseNew returns what is unwise about a new object beside others that are there, which may change.
	UnwiseNew func(ctx context.Context, object T) field.ErrorList
}

// ValidateCreate returns an Invalid error that names all that is wrong.
func (r Rules[T]) ValidateCreate(ctx context.Context, object T) (admission.Warnings, error) {
	warnings := r.warnings(object)
	if r.UnwiseNew != nil {
		warnings = append(warnings, r.warn(r.UnwiseNew(ctx, object))...)
	}
	return warnings, r.invalid(object, r.validate(object))
}

// ValidateUpdate is as ValidateCreate, but what was already wrong before is let be.
func (r Rules[T]) ValidateUpdate(ctx context.Context, before, after T) (admission.Warnings, error) {
	wrong := r.validate(after)
	problems := added(r.validate(before), wrong)
	if r.Change != nil {
		problems = append(problems, added(wrong, r.Change(ctx, before, after))...)
	}
	return r.newWarnings(before, after), r.invalid(after, problems)
}

// ValidateDelete allows everything: finalizers hold what must not go yet.
func (r Rules[T]) ValidateDelete(context.Context, T) (admission.Warnings, error) { return nil, nil }

func (r Rules[T]) validate(object T) field.ErrorList {
	if r.Validate == nil {
		return nil
	}
	return r.Validate(object)
}

func (r Rules[T]) warnings(object T) admission.Warnings {
	if r.Unwise == nil {
		return nil
	}
	return r.warn(r.Unwise(object))
}

// warn says of each field what is unwise about it.
func (r Rules[T]) warn(problems field.ErrorList) admission.Warnings {
	warnings := make(admission.Warnings, 0, len(problems))
	for _, unwise := range problems {
		given := ""
		if _, omitted := unwise.BadValue.(field.OmitValueType); !omitted {
			given = fmt.Sprintf(" is %v", unwise.BadValue)
		}
		warnings = append(warnings, fmt.Sprintf("%s%s: %s (%s)", unwise.Field, given, unwise.Detail, explain(r.Resource, unwise.Field)))
	}
	return warnings
}

// newWarnings warns of nothing that the user was warned of before, or controllers would see the same at each of their writes.
func (r Rules[T]) newWarnings(before, after T) admission.Warnings {
	known := r.warnings(before)
	return slices.DeleteFunc(r.warnings(after), func(warning string) bool { return slices.Contains(known, warning) })
}

// added returns the problems that are not among those of before.
func added(before, after field.ErrorList) field.ErrorList {
	known := make(map[string]bool, len(before))
	for _, problem := range before {
		known[problem.Error()] = true
	}
	return slices.DeleteFunc(slices.Clone(after), func(problem *field.Error) bool { return known[problem.Error()] })
}

func (r Rules[T]) invalid(object T, problems field.ErrorList) error {
	return Invalid(r.Kind, r.Resource, object.GetName(), problems)
}

// Invalid returns an error that names all problems, and where to read about each. The resource is what kubectl explain takes.
// Without a problem it is nil.
func Invalid(kind schema.GroupKind, resource, name string, problems field.ErrorList) error {
	if len(problems) == 0 {
		return nil
	}
	referring := make(field.ErrorList, 0, len(problems))
	for _, problem := range problems {
		one := *problem
		one.Detail = strings.TrimSpace(fmt.Sprintf("%s (%s)", problem.Detail, explain(resource, problem.Field)))
		referring = append(referring, &one)
	}
	return apierrors.NewInvalid(kind, name, referring)
}

// subscript is the index or the key of an item, which kubectl explain does not know.
var subscript = regexp.MustCompile(`\[[^\]]*\]`)

// explain says where to read about a field.
func explain(resource, path string) string {
	return "see kubectl explain " + resource + "." + subscript.ReplaceAllString(path, "")
}
