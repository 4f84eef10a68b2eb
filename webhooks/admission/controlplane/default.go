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

// Paths are what the markers above say, and where the handlers are.
const (
	defaultPath         = "/mutate-controlplane-cluster-x-k8s-io-foocontrolplane"
	defaultTemplatePath = "/mutate-controlplane-cluster-x-k8s-io-foocontrolplanetemplate"
)

// defaultHandler makes the version of a FooControlPlane start with v, as the contract asks. Constant defaults are in the
// schema. It refuses what could not be converted then.
//
// It is called before the API server looks at the schema. So it takes objects of each version as they come: to decode or
// convert one that is not valid would end in an error of the server, where the schema has a better one.
//
//contract:control-plane/version
type defaultHandler struct {
	kind, resource string
	// spec is where the spec of the control plane is.
	spec []string
}

// Handle changes the version only.
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

// readable returns an Invalid error if the spec has a text that its types cannot be read from.
func (h defaultHandler) readable(request admission.Request, object map[string]any) error {
	// What is no object is for the schema to refuse.
	spec, _, _ := unstructured.NestedMap(object, h.spec...)
	kind := schema.GroupKind{Group: controlplanev1.GroupVersion.Group, Kind: h.kind}
	return fooadmission.Invalid(kind, h.resource, request.Name, unreadable(spec, field.NewPath(h.spec[0], h.spec[1:]...), request.Kind.Version))
}

// refused is the answer of controller-runtime's own validators to an error.
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
