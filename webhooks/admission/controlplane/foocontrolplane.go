// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/internal/controlplanerules"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/admission"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-controlplane-cluster-x-k8s-io-v1beta2-foocontrolplane,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=controlplane.cluster.x-k8s.io,resources=foocontrolplanes,versions=v1beta2,name=validation.foocontrolplane.controlplane.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

func controlPlaneRules() admission.Rules[*controlplanev1.FooControlPlane] {
	return admission.Rules[*controlplanev1.FooControlPlane]{
		Kind: controlplanev1.GroupVersion.WithKind("FooControlPlane").GroupKind(), Resource: "foocontrolplanes",
		Validate: controlplanerules.Validate,
		Change:   changeControlPlane,
		Unwise:   controlplanerules.Unwise,
	}
}
