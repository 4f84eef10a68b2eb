// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"net/http"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	fooadmission "github.com/capfoo/cluster-api-provider-foo/webhooks/admission"
)

// +kubebuilder:webhook:verbs=update,path=/validate-scale-controlplane-cluster-x-k8s-io-v1beta2-foocontrolplane,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=controlplane.cluster.x-k8s.io,resources=foocontrolplanes/scale,versions=v1beta2,name=validation-scale.foocontrolplane.controlplane.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

// scalePath is the path in the marker above. The handler is registered under it.
const scalePath = "/validate-scale-controlplane-cluster-x-k8s-io-v1beta2-foocontrolplane"

// scaleHandler applies the rules of a FooControlPlane when its replicas change through the scale
// subresource. The API server sends the webhook only the Scale, so the handler reads the
// FooControlPlane.
type scaleHandler struct {
	reader  client.Reader
	decoder admission.Decoder
	rules   fooadmission.Rules[*controlplanev1.FooControlPlane]
}

// Handle only validates; it changes nothing.
func (h scaleHandler) Handle(ctx context.Context, request admission.Request) admission.Response {
	scale := &autoscalingv1.Scale{}
	if err := h.decoder.Decode(request, scale); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	before := &controlplanev1.FooControlPlane{}
	err := h.reader.Get(ctx, client.ObjectKey{Namespace: request.Namespace, Name: request.Name}, before)
	if apierrors.IsNotFound(err) {
		return admission.Allowed("the API server reports that the object does not exist")
	}
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	after := before.DeepCopy()
	after.Spec.Replicas = ptr.To(scale.Spec.Replicas)
	warnings, err := h.rules.ValidateUpdate(ctx, before, after)
	if err != nil {
		return refused(err).WithWarnings(warnings...)
	}
	return admission.Allowed("").WithWarnings(warnings...)
}
