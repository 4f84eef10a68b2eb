// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infrastructure

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/machinepoolrules"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/admission"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-foomachinepool,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=foomachinepools,versions=v1beta2,name=validation.foomachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

func poolRules() admission.Rules[*infrav1.FooMachinePool] {
	spec := field.NewPath("spec")
	return admission.Rules[*infrav1.FooMachinePool]{
		Kind: kind("FooMachinePool"), Resource: "foomachinepools",
		Validate: func(pool *infrav1.FooMachinePool) field.ErrorList {
			problems := append(validateName(pool, cloud.MaxHostnamePrefix), machinepoolrules.Validate(&pool.Spec, spec)...)
			return append(problems, validateProviderIDs(spec.Child("providerIDList"), pool.Spec.ProviderIDList)...)
		},
		Unwise: func(pool *infrav1.FooMachinePool) field.ErrorList { return unwisePool(&pool.Spec, spec) },
		Change: func(_ context.Context, before, after *infrav1.FooMachinePool) field.ErrorList {
			problems := changePoolID(before.Spec.ProviderID, after.Spec.ProviderID, spec.Child("providerID"))
			return append(problems, admission.ChangeOnly(spec, &before.Spec, &after.Spec, "providerID", "providerIDList", "template", "strategy")...)
		},
	}
}

// validateProviderIDs requires each instance only once, because Cluster API counts the Nodes that
// it finds by these IDs.
func validateProviderIDs(path *field.Path, ids []string) field.ErrorList {
	var problems field.ErrorList
	seen := make(map[string]bool, len(ids))
	for i, id := range ids {
		if seen[id] {
			problems = append(problems, field.Duplicate(path.Index(i), id))
		}
		seen[id] = true
	}
	return problems
}

func changePoolID(before, after string, path *field.Path) field.ErrorList {
	if before == "" || after == before {
		return nil
	}
	return field.ErrorList{field.Invalid(path, after, fmt.Sprintf("identifies the pool in the cloud, so it must stay %q", before))}
}

// leastJoinSeconds is less than a real machine takes to join.
const leastJoinSeconds = 60

// unwisePool returns what is allowed in the spec of a FooMachinePool, or of a template at another path,
// but that users may come to regret, and why.
func unwisePool(spec *infrav1.FooMachinePoolSpec, path *field.Path) field.ErrorList {
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

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-foomachinepooltemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=foomachinepooltemplates,versions=v1beta2,name=validation.foomachinepooltemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

func poolTemplateRules() admission.Rules[*infrav1.FooMachinePoolTemplate] {
	return admission.Rules[*infrav1.FooMachinePoolTemplate]{
		Kind: kind("FooMachinePoolTemplate"), Resource: "foomachinepooltemplates",
		Validate: func(template *infrav1.FooMachinePoolTemplate) field.ErrorList {
			problems := template.Spec.Template.ObjectMeta.Validate(templateMetadata)
			problems = append(problems, machinepoolrules.Validate(&template.Spec.Template.Spec, admission.TemplateSpec)...)
			return problems
		},
		Unwise: func(template *infrav1.FooMachinePoolTemplate) field.ErrorList {
			return unwisePool(&template.Spec.Template.Spec, admission.TemplateSpec)
		},
		Change: admission.Immutable(func(template *infrav1.FooMachinePoolTemplate) any { return &template.Spec.Template.Spec }),
	}
}
