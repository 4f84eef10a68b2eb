// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
)

// argument is an argument of a component.
type argument = bootstrapv1.Arg

// tree is a JSON object.
type tree map[string]any

// set sets the value at a path, and creates the objects above it.
func (t tree) set(value any, path ...string) {
	for ; len(path) > 1; path = path[1:] {
		below, isTree := t[path[0]].(tree)
		if !isTree {
			below = tree{}
			t[path[0]] = below
		}
		t = below
	}
	t[path[0]] = value
}

// setText sets a text unless it is empty.
func (t tree) setText(text string, path ...string) {
	if text != "" {
		t.set(text, path...)
	}
}

// changes reports whether a merge patch, decoded from JSON, changes a value.
func changes(patch, value any) bool {
	fields, isObject := patch.(map[string]any)
	if !isObject {
		return !reflect.DeepEqual(patch, value)
	}
	object, isObject := value.(map[string]any)
	for name, change := range fields {
		before, there := object[name]
		if change == nil && there || change != nil && (!there || changes(change, before)) {
			return true
		}
	}
	return !isObject
}

// arguments replaces all arguments at a path below spec.template.spec, unless the list is empty. In
// v1beta2 arguments are a list. In v1beta1 they are the keys of an object, so the arguments in the
// template must be removed one by one, and none can be given twice.
func (t *template) arguments(said tree, list []argument, path ...string) error {
	if len(list) == 0 {
		return nil
	}
	if t.version == v1beta2 {
		said.set(list, path...)
		return nil
	}
	named := tree{}
	for _, one := range list {
		if _, twice := named[one.Name]; twice {
			return fmt.Errorf("the argument %s is given twice, want it once: a %s template cannot hold it twice, a %s template can", one.Name, v1beta1, v1beta2)
		}
		value := ""
		if one.Value != nil {
			value = *one.Value
		}
		named[one.Name] = value
	}
	// If there is no object, there is nothing to remove.
	before, _, _ := unstructured.NestedMap(t.object, append([]string{"spec", "template", "spec"}, path...)...)
	for name := range before {
		if _, stays := named[name]; !stays {
			named[name] = nil
		}
	}
	said.set(named, path...)
	return nil
}
