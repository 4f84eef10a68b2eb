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
	// Change returns what is wrong with a change of an object, beyond what Validate finds.
	Change func(ctx context.Context, before, after T) field.ErrorList
	// Unwise returns what is allowed but unwise, and why.
	Unwise func(object T) field.ErrorList
	// UnwiseNew returns what is unwise about a new object, given other existing objects, which
	// may change.
	UnwiseNew func(ctx context.Context, object T) field.ErrorList
}

// ValidateCreate returns an Invalid error that names all problems.
func (r Rules[T]) ValidateCreate(ctx context.Context, object T) (admission.Warnings, error) {
	unwise := found(r.Unwise, object)
	if r.UnwiseNew != nil {
		unwise = append(unwise, r.UnwiseNew(ctx, object)...)
	}
	return r.warnings(unwise), r.invalid(object, found(r.Validate, object))
}

// ValidateUpdate is like ValidateCreate, but ignores problems that the object already had.
func (r Rules[T]) ValidateUpdate(ctx context.Context, before, after T) (admission.Warnings, error) {
	problems := added(r.Validate, before, after)
	if r.Change != nil {
		problems = append(problems, r.Change(ctx, before, after)...)
	}
	return r.warnings(added(r.Unwise, before, after)), r.invalid(after, problems)
}

// ValidateDelete allows every deletion: finalizers hold objects that must not be removed yet.
func (r Rules[T]) ValidateDelete(context.Context, T) (admission.Warnings, error) { return nil, nil }

// warnings returns a warning for each field that says what is unwise about it.
func (r Rules[T]) warnings(problems field.ErrorList) admission.Warnings {
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

func found[T client.Object](rule func(T) field.ErrorList, object T) field.ErrorList {
	if rule == nil {
		return nil
	}
	return rule(object)
}

// meaning is what a field.Error says, except for the position of an item in a list, which changes
// with other items.
type meaning struct {
	reason               field.ErrorType
	field, value, detail string
}

var position = regexp.MustCompile(`\[\d+\]`)

func meaningOf(problem *field.Error) meaning {
	return meaning{
		reason: problem.Type, field: position.ReplaceAllString(problem.Field, "[]"), value: fmt.Sprint(problem.BadValue), detail: problem.Detail,
	}
}

// added returns what the rule finds after a change beyond what it found before.
func added[T client.Object](rule func(T) field.ErrorList, before, after T) field.ErrorList {
	problems := found(rule, after)
	if len(problems) == 0 {
		return nil
	}
	known := map[meaning]int{}
	for _, problem := range found(rule, before) {
		known[meaningOf(problem)]++
	}
	return slices.DeleteFunc(problems, func(problem *field.Error) bool {
		known[meaningOf(problem)]--
		return known[meaningOf(problem)] >= 0
	})
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
