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

// TemplateSpec is where the spec stands that a template gives to the objects that are made from it.
var TemplateSpec = field.NewPath("spec", "template", "spec")

// UnlessTopologyAsks returns the change rule of a template. The topology controller of Cluster API asks by a dry run what it
// would change, and makes a new template then: it may ask what nobody may do.
//
//contract:infra-machine/template-ssa-dry-run
//contract:infra-machinepool/template-ssa-dry-run
func UnlessTopologyAsks[T client.Object](change func(before, after T) field.ErrorList) func(context.Context, T, T) field.ErrorList {
	return func(ctx context.Context, before, after T) field.ErrorList {
		if request, err := admission.RequestFromContext(ctx); err == nil && topology.IsDryRunRequest(request, after) {
			return nil
		}
		return change(before, after)
	}
}

// Immutable is the change rule of a template whose spec, a pointer to a struct, does not change at all, since nobody could
// tell then which objects were made from what.
func Immutable[T client.Object](spec func(T) any) func(context.Context, T, T) field.ErrorList {
	return UnlessTopologyAsks(func(before, after T) field.ErrorList {
		problems := ChangeOnly(TemplateSpec, spec(before), spec(after))
		for _, problem := range problems {
			problem.Detail += ": objects were made from it; make a new template under another name and refer to that"
		}
		return problems
	})
}
