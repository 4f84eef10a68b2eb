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

package controlplane

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// +kubebuilder:webhook:verbs=create;update,path=/mutate-controlplane-cluster-x-k8s-io-foocontrolplane,mutating=true,failurePolicy=fail,matchPolicy=Exact,groups=controlplane.cluster.x-k8s.io,resources=foocontrolplanes,versions=v1beta1;v1beta2,name=default.foocontrolplane.controlplane.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

// defaultPath is what the marker above says, and where the handler is.
const defaultPath = "/mutate-controlplane-cluster-x-k8s-io-foocontrolplane"

// defaultHandler makes the version of a FooControlPlane start with v, as the contract asks. Constant defaults are in the
// schema.
//
// It is called before the API server looks at the schema. So it takes objects of each version as they come: to decode or
// convert one that is not valid would end in an error of the server, where the schema has a better one.
//
//contract:control-plane/version
type defaultHandler struct{}

// Handle changes spec.version only.
func (defaultHandler) Handle(_ context.Context, request admission.Request) admission.Response {
	object := map[string]any{}
	if err := json.Unmarshal(request.Object.Raw, &object); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	version, found, err := unstructured.NestedString(object, "spec", "version")
	if err != nil || !found || version == "" || strings.HasPrefix(version, "v") {
		return admission.Allowed("")
	}
	if err := unstructured.SetNestedField(object, "v"+version, "spec", "version"); err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	content, err := json.Marshal(object)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, content)
}
