// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const v1beta1 = "v1beta1"

// get returns what is at a path in nested maps; nil if there is nothing.
func get(content any, path ...string) any {
	for _, name := range path {
		fields, ok := content.(map[string]any)
		if !ok {
			return nil
		}
		content = fields[name]
	}
	return content
}

// field returns what is at a dotted path of an object.
func field(object *unstructured.Unstructured, path string) any {
	return get(object.Object, strings.Split(path, ".")...)
}

// text returns the string at a dotted path; empty if there is none.
func text(object *unstructured.Unstructured, path string) string {
	value, _ := field(object, path).(string)
	return value
}

// texts returns the strings of a list at a dotted path.
func texts(object *unstructured.Unstructured, path string) []string {
	list, _ := field(object, path).([]any)
	var found []string
	for _, item := range list {
		if value, ok := item.(string); ok {
			found = append(found, value)
		}
	}
	return found
}

// number returns the number at a dotted path; -1 if there is none.
func number(object *unstructured.Unstructured, path string) int64 {
	switch value := field(object, path).(type) {
	case int64:
		return value
	case float64:
		return int64(value)
	default:
		return -1
	}
}

// completedPath is where a kind reports that it did its work, in a version of the contract.
func completedPath(role Role, contract string) string {
	switch {
	case role == ControlPlane && contract == v1beta1:
		return "status.initialized"
	case role == ControlPlane:
		return "status.initialization.controlPlaneInitialized"
	// Cluster API does not read initialization.provisioned of pools yet.
	case contract == v1beta1, role == InfraMachinePool:
		return "status.ready"
	case role == BootstrapConfig:
		return "status.initialization.dataSecretCreated"
	default:
		return "status.initialization.provisioned"
	}
}

// isTrue returns an error that says what is at the path unless it is true.
func isTrue(object *unstructured.Unstructured, path string) error {
	value := field(object, path)
	if value == true {
		return nil
	}
	return fmt.Errorf("%s is %s, want true", path, show(value))
}

// show writes a value for a message.
func show(value any) string {
	if value == nil {
		return "not set"
	}
	content, err := yaml.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return strings.Join(strings.Fields(string(content)), " ")
}

// condition is the part of a condition that both shapes have.
type condition struct {
	kind, status string
}

// conditions returns the conditions at a dotted path.
func conditions(object *unstructured.Unstructured, path string) []condition {
	list, _ := field(object, path).([]any)
	all := make([]condition, 0, len(list))
	for _, item := range list {
		c := condition{}
		c.kind, _ = get(item, "type").(string)
		c.status, _ = get(item, "status").(string)
		all = append(all, c)
	}
	return all
}

// statusOf returns the status of a condition. In v1beta1 versions of kinds, new conditions are
// beside the old ones.
func statusOf(object *unstructured.Unstructured, kind string) string {
	for _, path := range []string{"status.conditions", "status.v1beta2.conditions"} {
		for _, c := range conditions(object, path) {
			if c.kind == kind {
				return c.status
			}
		}
	}
	return ""
}

// checkConditions returns an error if conditions lack what Cluster API requires. It has defaults for
// all other fields, and ignores those that it does not know.
func checkConditions(all []condition) error {
	var errs []error
	for _, c := range all {
		if !slices.Contains([]string{"True", "False", "Unknown"}, c.status) {
			errs = append(errs, fmt.Errorf("condition %q has the status %q, want True, False or Unknown", c.kind, c.status))
		}
		if c.kind == "" {
			errs = append(errs, errors.New("a condition has no type"))
		}
	}
	return errors.Join(errs...)
}

// ownedBy returns an error unless an object has an owner reference to the owner.
func ownedBy(object, owner metav1.Object) (*metav1.OwnerReference, error) {
	for _, reference := range object.GetOwnerReferences() {
		if reference.UID == owner.GetUID() {
			return &reference, nil
		}
	}
	return nil, fmt.Errorf("%s has no owner reference to %s", object.GetName(), owner.GetName())
}
