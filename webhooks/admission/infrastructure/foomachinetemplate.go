// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infrastructure

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/admission"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-foomachinetemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=foomachinetemplates,versions=v1beta2,name=validation.foomachinetemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

func machineTemplateRules() admission.Rules[*infrav1.FooMachineTemplate] {
	return admission.Rules[*infrav1.FooMachineTemplate]{
		Kind: kind("FooMachineTemplate"), Resource: "foomachinetemplates",
		Validate: func(template *infrav1.FooMachineTemplate) field.ErrorList {
			return template.Spec.Template.ObjectMeta.Validate(templateMetadata)
		},
		Change: admission.Immutable(func(template *infrav1.FooMachineTemplate) any { return &template.Spec.Template.Spec }),
	}
}
