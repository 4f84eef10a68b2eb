// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	fooadmission "github.com/capfoo/cluster-api-provider-foo/webhooks/admission"
)

// +kubebuilder:webhook:verbs=update,path=/validate-scale-controlplane-cluster-x-k8s-io-v1beta2-foocontrolplane,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=controlplane.cluster.x-k8s.io,resources=foocontrolplanes/scale,versions=v1beta2,name=validation-scale.foocontrolplane.controlplane.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

// scalePath is the path in the marker above. The validator is registered under it.
const scalePath = "/validate-scale-controlplane-cluster-x-k8s-io-v1beta2-foocontrolplane"

// scaleValidator applies the rules of a FooControlPlane when its replicas change through the scale
// subresource. The API server sends the webhook only the Scale, so the validator reads the
// FooControlPlane.
type scaleValidator struct {
	reader client.Reader
	rules  fooadmission.Rules[*controlplanev1.FooControlPlane]
}

// ValidateUpdate accepts the scale of a FooControlPlane that does not exist: the API server reports
// that better.
func (v scaleValidator) ValidateUpdate(ctx context.Context, _, scale *autoscalingv1.Scale) (admission.Warnings, error) {
	before := &controlplanev1.FooControlPlane{}
	if err := v.reader.Get(ctx, client.ObjectKeyFromObject(scale), before); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	after := before.DeepCopy()
	after.Spec.Replicas = &scale.Spec.Replicas
	return v.rules.ValidateUpdate(ctx, before, after)
}

// ValidateCreate is never called.
func (scaleValidator) ValidateCreate(context.Context, *autoscalingv1.Scale) (admission.Warnings, error) {
	return nil, nil
}

// ValidateDelete is never called.
func (scaleValidator) ValidateDelete(context.Context, *autoscalingv1.Scale) (admission.Warnings, error) {
	return nil, nil
}
