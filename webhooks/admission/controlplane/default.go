// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	fooadmission "github.com/capfoo/cluster-api-provider-foo/webhooks/admission"
)

// +kubebuilder:webhook:verbs=create;update,path=/mutate-controlplane-cluster-x-k8s-io-foocontrolplane,mutating=true,failurePolicy=fail,matchPolicy=Exact,groups=controlplane.cluster.x-k8s.io,resources=foocontrolplanes,versions=v1beta1;v1beta2,name=default.foocontrolplane.controlplane.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=create;update,path=/mutate-controlplane-cluster-x-k8s-io-foocontrolplanetemplate,mutating=true,failurePolicy=fail,matchPolicy=Exact,groups=controlplane.cluster.x-k8s.io,resources=foocontrolplanetemplates,versions=v1beta1;v1beta2,name=default.foocontrolplanetemplate.controlplane.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

// The paths are the ones in the markers above. The handlers are registered under them.
const (
	defaultPath         = "/mutate-controlplane-cluster-x-k8s-io-foocontrolplane"
	defaultTemplatePath = "/mutate-controlplane-cluster-x-k8s-io-foocontrolplanetemplate"
)

// defaultHandler adds the leading v to the version of a FooControlPlane, as the contract requires.
// Constant defaults are in the schema. The handler also refuses objects that could not be converted
// afterwards.
//
// The API server calls it before it validates the schema, so it accepts objects of each version as
// they are. Decoding or converting an invalid object would end in a server error, while the schema
// has a better message.
type defaultHandler struct {
	kind, resource string
	// spec is the path of the control plane's spec.
	spec []string
}

// Handle changes only the version.
func (h defaultHandler) Handle(_ context.Context, request admission.Request) admission.Response {
	object := map[string]any{}
	if err := json.Unmarshal(request.Object.Raw, &object); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if err := h.readable(request, object); err != nil {
		return refused(err)
	}
	path := slices.Concat(h.spec, []string{"version"})
	version, found, err := unstructured.NestedString(object, path...)
	if err != nil || !found || version == "" || strings.HasPrefix(version, "v") {
		return admission.Allowed("")
	}
	if err := unstructured.SetNestedField(object, "v"+version, path...); err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	content, err := json.Marshal(object)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, content)
}

// readable returns an Invalid error if the spec has a text that its types cannot decode.
func (h defaultHandler) readable(request admission.Request, object map[string]any) error {
	// The schema refuses a spec that is not an object.
	spec, _, _ := unstructured.NestedMap(object, h.spec...)
	kind := schema.GroupKind{Group: controlplanev1.GroupVersion.Group, Kind: h.kind}
	return fooadmission.Invalid(kind, h.resource, request.Name, unreadable(spec, field.NewPath(h.spec[0], h.spec[1:]...), request.Kind.Version))
}

// refused answers an error in the same way as controller-runtime's own validators.
func refused(err error) admission.Response {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return admission.Denied(err.Error())
	}
	response := admission.Denied("")
	result := status.Status()
	response.Result = &result
	return response
}
