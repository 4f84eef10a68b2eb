/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

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
			problems = append(problems, machinepoolrules.ValidateTemplate(&template.Spec.Template.Spec, admission.TemplateSpec)...)
			return problems
		},
		Unwise: func(template *infrav1.FooMachinePoolTemplate) field.ErrorList {
			return machinepoolrules.Unwise(&template.Spec.Template.Spec, admission.TemplateSpec)
		},
		Change: admission.Immutable(func(template *infrav1.FooMachinePoolTemplate) any { return &template.Spec.Template.Spec }),
	}
}
