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

// Rules are the rules of a kind. They are a validator for controller-runtime's webhook builder.
// Each function may be nil.
type Rules[T client.Object] struct {
	// Kind and Resource are the names in refusals: FooCluster, and fooclusters for kubectl
	// explain.
	Kind     schema.GroupKind
	Resource string
	// Validate returns what is wrong with an object by itself.
	Validate func(object T) field.ErrorList
	// Change returns what is wrong with a change of an object. A problem that Validate also
	// finds in the changed object is reported only once.
	Change func(ctx context.Context, before, after T) field.ErrorList
	// Unwise returns what is allowed but unwise, and why.
	Unwise func(object T) field.ErrorList
	// UnwiseNew returns what is unwise about a new object, given other existing objects, which
	// may change.
	UnwiseNew func(ctx context.Context, object T) field.ErrorList
}

// ValidateCreate returns an Invalid error that names all problems.
func (r Rules[T]) ValidateCreate(ctx context.Context, object T) (admission.Warnings, error) {
	warnings := r.warnings(object)
	if r.UnwiseNew != nil {
		warnings = append(warnings, r.warn(r.UnwiseNew(ctx, object))...)
	}
	return warnings, r.invalid(object, r.validate(object))
}

// ValidateUpdate is like ValidateCreate, but ignores problems that the object already had.
func (r Rules[T]) ValidateUpdate(ctx context.Context, before, after T) (admission.Warnings, error) {
	wrong := r.validate(after)
	problems := added(r.validate(before), wrong)
	if r.Change != nil {
		problems = append(problems, added(wrong, r.Change(ctx, before, after))...)
	}
	return r.newWarnings(before, after), r.invalid(after, problems)
}

// ValidateDelete allows every deletion: finalizers hold objects that must not be removed yet.
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

// warn returns a warning for each field that says what is unwise about it.
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

// newWarnings omits warnings that the user got before. Otherwise controllers would get the same
// warnings on each write.
func (r Rules[T]) newWarnings(before, after T) admission.Warnings {
	known := r.warnings(before)
	return slices.DeleteFunc(r.warnings(after), func(warning string) bool { return slices.Contains(known, warning) })
}

// added returns the problems in after that are not in before.
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

// Invalid returns an error that names all problems, and where to read about each. resource is what
// kubectl explain takes. Without problems, Invalid returns nil.
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

// subscript matches the index or key of an item, which kubectl explain does not know.
var subscript = regexp.MustCompile(`\[[^\]]*\]`)

// explain returns where to read about a field.
func explain(resource, path string) string {
	return "see kubectl explain " + resource + "." + subscript.ReplaceAllString(path, "")
}
