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

// Validation answers the hook ValidateTopology.
type Validation struct{}

// ValidateTopology refuses what the schemas of the variables cannot express: what Foo's webhooks
// would refuse in the objects created from the templates, and what would fail later on a machine.
// One message holds all findings. Each finding says where it is, what was given, and what is
// allowed.
func (Validation) ValidateTopology(_ context.Context, request *runtimehooksv1.ValidateTopologyRequest, response *runtimehooksv1.ValidateTopologyResponse) {
	settings, err := hooks.ParseSettings(request.Settings)
	if err != nil {
		findings{err.Error()}.into(response)
		return
	}
	common := topologymutation.ToMap(request.Variables)
	shared, wrong := readValues(common)
	wrong = wrong.at("spec.topology.variables")
	checked := topology{instanceTypes: settings.InstanceTypes, values: shared}
	for _, item := range request.Items {
		if item == nil {
			wrong = append(wrong, "spec.topology: a template of the request is null")
			continue
		}
		template, problems := readItem(item, common)
		wrong = append(wrong, problems...)
		if len(problems) == 0 {
			checked.templates = append(checked.templates, template)
		}
	}
	append(wrong, checked.findings()...).into(response)
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

// topology is what ValidateTopology checks.
type topology struct {
	values        values
	instanceTypes []string
	templates     []template
}

func (t *topology) findings() findings {
	wrong := t.checkNetwork()
	for i := range t.templates {
		template := &t.templates[i]
		own := t.checkInstanceType(template)
		own = append(own, template.checkPool()...)
		own = append(own, template.checkControlPlane()...)
		own = append(own, template.checkBootstrap()...)
		wrong = append(wrong, own.at(template.where())...)
	}
	return wrong
}

// checkInstanceType looks at the templates instead of the variables, because variables may be
// overridden.
func (t *topology) checkInstanceType(one *template) findings {
	if len(t.instanceTypes) == 0 || one.kind != machineKind && one.kind != poolKind {
		return nil
	}
	path := []string{"spec", "template", "spec", "instanceType"}
	if one.kind == poolKind {
		path = []string{"spec", "template", "spec", "template", "instanceType"}
	}
	given, _, _ := unstructured.NestedString(one.object.Object, path...)
	if given == "" || slices.Contains(t.instanceTypes, given) {
		return nil
	}
	return findings{fmt.Sprintf("the instance type is %q, but must be one of %s (setting instanceTypes)", given, strings.Join(t.instanceTypes, ", "))}
}
