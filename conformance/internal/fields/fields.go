// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fields decodes objects and reads the fields of objects that the contracts define.
package fields

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// V1Beta1 is the older version of the contracts.
const V1Beta1 = "v1beta1"

// Get returns what is at a path in nested maps; nil if there is nothing.
func Get(content any, path ...string) any {
	for _, name := range path {
		fields, ok := content.(map[string]any)
		if !ok {
			return nil
		}
		content = fields[name]
	}
	return content
}

// At returns what is at a dotted path of an object.
func At(object *unstructured.Unstructured, path string) any {
	return Get(object.Object, strings.Split(path, ".")...)
}

// Text returns the string at a dotted path; empty if there is none.
func Text(object *unstructured.Unstructured, path string) string {
	value, _ := At(object, path).(string)
	return value
}

// Texts returns the strings of a list at a dotted path.
func Texts(object *unstructured.Unstructured, path string) []string {
	list, _ := At(object, path).([]any)
	var found []string
	for _, item := range list {
		if value, ok := item.(string); ok {
			found = append(found, value)
		}
	}
	return found
}

// Number returns the number at a dotted path; -1 if there is none.
func Number(object *unstructured.Unstructured, path string) int64 {
	switch value := At(object, path).(type) {
	case int64:
		return value
	case float64:
		return int64(value)
	default:
		return -1
	}
}

// CompletedPath is where a kind reports that it did its work, in a version of the contract.
func CompletedPath(role, contract string) string {
	switch {
	case role == "control-plane" && contract == V1Beta1:
		return "status.initialized"
	case role == "control-plane":
		return "status.initialization.controlPlaneInitialized"
	// Cluster API does not read initialization.provisioned of pools yet.
	case contract == V1Beta1, role == "infrastructure-machinepool":
		return "status.ready"
	case role == "bootstrap":
		return "status.initialization.dataSecretCreated"
	default:
		return "status.initialization.provisioned"
	}
}

// IsTrue returns an error that says what is at the path unless it is true.
func IsTrue(object *unstructured.Unstructured, path string) error {
	value := At(object, path)
	if value == true {
		return nil
	}
	return fmt.Errorf("%s is %s, want true", path, Show(value))
}

// Show writes a value for a message.
func Show(value any) string {
	if value == nil {
		return "not set"
	}
	content, err := yaml.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return strings.Join(strings.Fields(string(content)), " ")
}

// restored are the fields that must be as before once a status was rebuilt.
var restored = []string{
	"spec.providerID", "spec.providerIDList", "spec.controlPlaneEndpoint", "status.failureDomains", "status.failureDomain", "status.addresses", "status.replicas",
	"status.readyReplicas", "status.availableReplicas", "status.upToDateReplicas", "status.selector", "status.version", "status.versions",
	"status.dataSecretName", "status.infrastructureMachineKind", "status.initialization", "status.ready", "status.initialized",
}

// Rebuilt returns an error unless an object reports what it did before its status was lost.
func Rebuilt(before, now *unstructured.Unstructured) error {
	var errs []error
	for _, path := range restored {
		if was, is := showAt(before, path), showAt(now, path); was != is {
			errs = append(errs, fmt.Errorf("%s of %s was %s before, and is %s", path, now.GetName(), was, is))
		}
	}
	return errors.Join(errs...)
}

// unordered are lists whose order says nothing: a provider may fill them from a Go map.
var unordered = []string{"spec.providerIDList", "status.failureDomains", "status.addresses"}

// showAt writes what is at a dotted path for a comparison: the same text means the same content.
func showAt(object *unstructured.Unstructured, path string) string {
	value := At(object, path)
	if list, ok := value.([]any); ok && slices.Contains(unordered, path) {
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(Show(a), Show(b)) })
		value = list
	}
	return Show(value)
}

// Condition is the part of a condition that both shapes have.
type Condition struct {
	kind, status string
}

// Conditions returns the conditions at a dotted path.
func Conditions(object *unstructured.Unstructured, path string) []Condition {
	list, _ := At(object, path).([]any)
	all := make([]Condition, 0, len(list))
	for _, item := range list {
		c := Condition{}
		c.kind, _ = Get(item, "type").(string)
		c.status, _ = Get(item, "status").(string)
		all = append(all, c)
	}
	return all
}

// StatusOf returns the status of a condition. In v1beta1 versions of kinds, new conditions are
// beside the old ones.
func StatusOf(object *unstructured.Unstructured, kind string) string {
	for _, path := range []string{"status.conditions", "status.v1beta2.conditions"} {
		for _, c := range Conditions(object, path) {
			if c.kind == kind {
				return c.status
			}
		}
	}
	return ""
}

// CheckConditions returns an error if conditions lack what Cluster API requires. It has defaults for
// all other fields, and ignores those that it does not know.
func CheckConditions(all []Condition) error {
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

// OwnedBy returns an error unless an object has an owner reference to the owner.
func OwnedBy(object, owner metav1.Object) (*metav1.OwnerReference, error) {
	for _, reference := range object.GetOwnerReferences() {
		if reference.UID == owner.GetUID() {
			return &reference, nil
		}
	}
	return nil, fmt.Errorf("%s has no owner reference to %s", object.GetName(), owner.GetName())
}
