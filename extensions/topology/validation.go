// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/cluster-api/exp/runtime/topologymutation"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// ValidateTopology answers the hook of that name. It refuses what the schemas of the variables cannot
// express: what Foo's webhooks would refuse in the objects created from the templates, and what would
// fail later on a machine. One message holds all findings. Each finding says where it is, what was
// given, and what is allowed.
func ValidateTopology(_ context.Context, request *runtimehooksv1.ValidateTopologyRequest, response *runtimehooksv1.ValidateTopologyResponse) {
	settings, err := hooks.ParseSettings(request.Settings)
	if err != nil {
		findings{err.Error()}.into(response)
		return
	}
	common := topologymutation.ToMap(request.Variables)
	shared, wrong := readValues(common)
	wrong = wrong.at("spec.topology.variables")
	wrong = append(wrong, checkNetwork(shared)...)
	for _, item := range request.Items {
		if item == nil {
			wrong = append(wrong, "spec.topology: a template of the request is null")
			continue
		}
		template, problems := readItem(item, common)
		if len(problems) == 0 {
			problems = template.check(settings.InstanceTypes).at(template.where())
		}
		wrong = append(wrong, problems...)
	}
	wrong.into(response)
}

// readItem reads a template of a request. Its own variables override the common ones.
func readItem(item *runtimehooksv1.ValidateTopologyRequestItem, common map[string]apiextensionsv1.JSON) (template, findings) {
	variables, err := topologymutation.MergeVariableMaps(common, topologymutation.ToMap(item.Variables))
	if err != nil {
		return template{}, findings{"spec.topology: the builtin variables cannot be read"}
	}
	object := decode(item.Object.Raw)
	if object == nil {
		values, _ := readValues(variables)
		return template{}, undecodable(item.HolderReference, values)
	}
	return newTemplate(item.HolderReference, object, variables)
}

func (t *template) check(instanceTypes []string) findings {
	return slices.Concat(t.checkInstanceType(instanceTypes), t.checkPool(), t.checkControlPlane(), t.checkBootstrap())
}

// checkInstanceType looks at the templates instead of the variables, because variables may be
// overridden.
func (t *template) checkInstanceType(allowed []string) findings {
	if len(allowed) == 0 || t.kind != machineKind && t.kind != poolKind {
		return nil
	}
	path := []string{"spec", "template", "spec", "instanceType"}
	if t.kind == poolKind {
		path = []string{"spec", "template", "spec", "template", "instanceType"}
	}
	given, _, _ := unstructured.NestedString(t.object.Object, path...)
	if given == "" || slices.Contains(allowed, given) {
		return nil
	}
	return findings{fmt.Sprintf("the instance type is %q, but must be one of %s (setting instanceTypes)", given, strings.Join(allowed, ", "))}
}
