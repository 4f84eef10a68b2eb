// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	fooadmission "github.com/capfoo/cluster-api-provider-foo/webhooks/admission"
)

// +kubebuilder:webhook:verbs=create;update,path=/mutate-controlplane-cluster-x-k8s-io-foocontrolplane,mutating=true,failurePolicy=fail,matchPolicy=Exact,groups=controlplane.cluster.x-k8s.io,resources=foocontrolplanes,versions=v1beta1;v1beta2,name=default.foocontrolplane.controlplane.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=create;update,path=/mutate-controlplane-cluster-x-k8s-io-foocontrolplanetemplate,mutating=true,failurePolicy=fail,matchPolicy=Exact,groups=controlplane.cluster.x-k8s.io,resources=foocontrolplanetemplates,versions=v1beta1;v1beta2,name=default.foocontrolplanetemplate.controlplane.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

// The paths are the ones in the markers above. The defaulters are registered under them.
const (
	defaultPath         = "/mutate-controlplane-cluster-x-k8s-io-foocontrolplane"
	defaultTemplatePath = "/mutate-controlplane-cluster-x-k8s-io-foocontrolplanetemplate"
)

// defaulter adds the leading v to the version of a FooControlPlane, as the contract requires.
// Constant defaults are in the schema. The defaulter also refuses objects of any version that could
// not be converted afterwards.
//
// The API server calls it before it validates the schema, so it takes objects as they are.
// Decoding or converting an invalid object would end in a server error, while the schema has a
// better message.
type defaulter struct {
	scheme   *runtime.Scheme
	resource string
}

// Default changes only the version.
func (d defaulter) Default(_ context.Context, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	typed, err := d.scheme.New(kind)
	if err != nil {
		return err
	}
	if err := fooadmission.Invalid(kind.GroupKind(), d.resource, object.GetName(), unreadable(typed, object.Object)); err != nil {
		return err
	}
	// Templates have no version here. The schema refuses one that is not a text.
	spec, _ := object.Object["spec"].(map[string]any)
	if version, _ := spec["version"].(string); version != "" && !strings.HasPrefix(version, "v") {
		spec["version"] = "v" + version
	}
	return nil
}
