// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infrastructure

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/internal/machinepoolrules"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/admission"
)

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
