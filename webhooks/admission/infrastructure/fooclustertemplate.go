// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infrastructure

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/admission"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-fooclustertemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=fooclustertemplates,versions=v1beta2,name=validation.fooclustertemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

func clusterTemplateRules() admission.Rules[*infrav1.FooClusterTemplate] {
	return admission.Rules[*infrav1.FooClusterTemplate]{
		Kind: kind("FooClusterTemplate"), Resource: "fooclustertemplates",
		Validate: func(template *infrav1.FooClusterTemplate) field.ErrorList {
			return template.Spec.Template.ObjectMeta.Validate(templateMetadata)
		},
		Change: admission.Immutable(func(template *infrav1.FooClusterTemplate) any { return &template.Spec.Template.Spec }),
	}
}

// templateMetadata is the path of the labels and annotations that a template gives to the objects
// created from it.
var templateMetadata = field.NewPath("spec", "template", "metadata")
