// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/drone/envsubst/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/variables"
)

// clusterName is the name of the cluster.
const clusterName = "conformance"

// render returns the objects of a template, whose Cluster has a managed topology or not.
func (c *Checker) render(template string, topology bool) ([]*unstructured.Unstructured, error) {
	own := map[string]string{
		"CLUSTER_NAME": clusterName, "NAMESPACE": c.Namespace, "CONTROL_PLANE_MACHINE_COUNT": "1", "WORKER_MACHINE_COUNT": "1",
	}
	found, text, err := variables.Find(template)
	if err != nil {
		return nil, fmt.Errorf("the template: %w", err)
	}
	var unset []string
	text, err = envsubst.Eval(text, func(name string) string {
		if value, ok := own[name]; ok {
			return value
		}
		value, ok := c.Variables[name]
		if !ok && !slices.Contains(found, variables.Variable{Name: name, Default: true}) && !slices.Contains(unset, name) {
			unset = append(unset, name)
		}
		return value
	})
	if err != nil {
		return nil, fmt.Errorf("the template: variables: %w", err)
	}
	if len(unset) > 0 {
		return nil, fmt.Errorf("set the template's variables in the environment: %s", strings.Join(unset, ", "))
	}
	objects, err := fields.Decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("template: %w", err)
	}
	for _, object := range objects {
		object.SetNamespace(c.Namespace)
	}
	return objects, checkTemplate(objects, topology)
}

// checkTemplate returns an error unless the template has the one cluster that the checker needs.
func checkTemplate(objects []*unstructured.Unstructured, topology bool) error {
	clusters := 0
	for _, object := range objects {
		if object.GetKind() != "Cluster" {
			continue
		}
		clusters++
		switch {
		case object.GetName() != clusterName:
			return fmt.Errorf("the Cluster of the template is named %s, want ${CLUSTER_NAME}", object.GetName())
		case topology && fields.At(object, "spec.topology") == nil:
			return errors.New("the Cluster of the template has no managed topology; hooks are only called for one that has")
		case !topology && fields.At(object, "spec.topology") != nil:
			return errors.New("the Cluster of the template has a managed topology; use a template without, because the suite changes the control plane itself")
		}
	}
	if clusters != 1 {
		return fmt.Errorf("the template has %d Clusters, want 1", clusters)
	}
	return nil
}
