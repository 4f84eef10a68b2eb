// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/cluster-api/util/topology"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// TemplateSpec is the path of the spec that a template gives to the objects created from it.
var TemplateSpec = field.NewPath("spec", "template", "spec")

// UnlessTopologyAsks returns the change rule of a template. Cluster API's topology controller uses
// a dry run to find out what it would change, and then creates a new template. Such a dry run may
// make changes that nobody else may make.
func UnlessTopologyAsks[T client.Object](change func(before, after T) field.ErrorList) func(context.Context, T, T) field.ErrorList {
	return func(ctx context.Context, before, after T) field.ErrorList {
		if request, err := admission.RequestFromContext(ctx); err == nil && topology.IsDryRunRequest(request, after) {
			return nil
		}
		return change(before, after)
	}
}

// Immutable is the change rule of a template whose spec must not change at all. Otherwise nobody
// could tell which objects were created from what. spec returns a pointer to a struct.
func Immutable[T client.Object](spec func(T) any) func(context.Context, T, T) field.ErrorList {
	return UnlessTopologyAsks(func(before, after T) field.ErrorList {
		problems := ChangeOnly(TemplateSpec, spec(before), spec(after))
		for _, problem := range problems {
			problem.Detail += ": objects were created from it; create another template and refer to it"
		}
		return problems
	})
}
