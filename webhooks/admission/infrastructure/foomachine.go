// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infrastructure

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/admission"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-foomachine,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=foomachines,versions=v1beta2,name=validation.foomachine.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

func machineRules() admission.Rules[*infrav1.FooMachine] {
	return admission.Rules[*infrav1.FooMachine]{
		Kind: kind("FooMachine"), Resource: "foomachines",
		Validate: func(machine *infrav1.FooMachine) field.ErrorList { return validateName(machine, cloud.MaxHostname) },
		Change:   changeMachine,
	}
}

// changeMachine lets the controller record which instance it ordered. All other fields are
// immutable: an instance is replaced, not changed.
func changeMachine(_ context.Context, before, after *infrav1.FooMachine) field.ErrorList {
	spec := field.NewPath("spec")
	problems := admission.SetOnce(spec.Child("providerID"), before.Spec.ProviderID, after.Spec.ProviderID)
	return append(problems, admission.ChangeOnly(spec, &before.Spec, &after.Spec, "providerID")...)
}

// validateName requires a name that can be, or begin, the host name of an instance. The cloud would
// never accept a longer one.
func validateName(object client.Object, limit int) field.ErrorList {
	if len(object.GetName()) <= limit {
		return nil
	}
	return field.ErrorList{field.TooLong(field.NewPath("metadata", "name"), object.GetName(), limit)}
}

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
