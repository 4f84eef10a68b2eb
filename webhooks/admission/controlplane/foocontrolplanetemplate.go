// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/internal/controlplanerules"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/admission"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-controlplane-cluster-x-k8s-io-v1beta2-foocontrolplanetemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=controlplane.cluster.x-k8s.io,resources=foocontrolplanetemplates,versions=v1beta2,name=validation.foocontrolplanetemplate.controlplane.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

func templateRules() admission.Rules[*controlplanev1.FooControlPlaneTemplate] {
	return admission.Rules[*controlplanev1.FooControlPlaneTemplate]{
		Kind: controlplanev1.GroupVersion.WithKind("FooControlPlaneTemplate").GroupKind(), Resource: "foocontrolplanetemplates",
		Validate: controlplanerules.ValidateTemplate,
		Unwise:   controlplanerules.UnwiseTemplate,
		Change:   admission.UnlessTopologyAsks(changeTemplate),
	}
}
