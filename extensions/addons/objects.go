// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	apiyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"
)

// maxObjects is the maximum number of objects for a Cluster, so that the report about them can be
// stored.
const maxObjects = 1000

// object is one object of an add-on.
type object struct {
	*unstructured.Unstructured
	from source
	key  string
}

// String names the object for users.
func (o object) String() string {
	name := o.GetName()
	if o.GetNamespace() != "" {
		name = o.GetNamespace() + "/" + name
	}
	return o.GetKind() + " " + name
}

// place returns where the object is defined.
func (o object) place() string { return fmt.Sprintf("%s, key %s", o.from, o.key) }

// secret reports whether the content of the object must not be shown.
func (o object) secret() bool {
	return o.from.secret() || o.GroupVersionKind().GroupKind() == schema.GroupKind{Kind: secretKind}
}

// read returns the objects of all sources in the order in which they are applied, and why sources
// were left out. A source is left out as a whole, because half an add-on may be worse than none.
func read(sources []source) ([]object, []string) {
	var all []object
	var problems []string
	for _, from := range sources {
		found, err := from.objects()
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		all = append(all, found...)
	}
	if len(all) > maxObjects {
		return nil, append(problems, fmt.Sprintf("the add-ons have %d objects, want at most %d", len(all), maxObjects))
	}
	all, repeated := withoutRepeated(all)
	return ordered(all), append(problems, repeated...)
}

func (s source) objects() ([]object, error) {
	if len(s.binary) > 0 {
		return nil, fmt.Errorf("%s, key %s: it is in binaryData, want it in data", s, slices.Min(s.binary))
	}
	if len(s.data) == 0 {
		return nil, fmt.Errorf("%s has no data, want manifests", s)
	}
	var all []object
	for _, key := range slices.Sorted(maps.Keys(s.data)) {
		found, err := parse(s.data[key])
		if err != nil {
			return nil, fmt.Errorf("%s, key %s: %s", s, key, err.describe(s))
		}
		for _, one := range found {
			all = append(all, object{Unstructured: one, from: s, key: key})
		}
	}
	return all, nil
}

// parseError is why a text holds no objects.
type parseError struct {
	// document counts from 1. It is 0 if the error concerns all documents.
	document int
	problem  string
	// detail may quote the text.
	detail error
}

// describe returns the error in words, without details that must not be shown.
func (e *parseError) describe(from source) string {
	text := e.problem
	if e.document > 0 {
		text = fmt.Sprintf("document %d %s", e.document, e.problem)
	}
	if e.detail == nil || from.secret() {
		return text
	}
	return fmt.Sprintf("%s: %s", text, oneLine(e.detail.Error()))
}

// parse returns the objects of all documents in a text, including objects in lists.
func parse(text []byte) ([]*unstructured.Unstructured, *parseError) {
	var all []*unstructured.Unstructured
	documents := apiyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, &parseError{document: number, problem: "cannot be read", detail: err}
		}
		found, problem := parseDocument(document)
		if problem != nil {
			problem.document = number
			return nil, problem
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, &parseError{problem: "contains no objects"}
	}
	return all, nil
}

func parseDocument(document []byte) ([]*unstructured.Unstructured, *parseError) {
	converted, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, &parseError{problem: "is not YAML", detail: err}
	}
	var content any
	if err := json.Unmarshal(converted, &content); err != nil {
		return nil, &parseError{problem: "is not valid Kubernetes YAML", detail: err}
	}
	if content == nil {
		return nil, nil
	}
	fields, ok := content.(map[string]any)
	if !ok {
		return nil, &parseError{problem: "is not an object"}
	}
	return flatten(&unstructured.Unstructured{Object: fields})
}

// flatten returns the objects of a list, or the object itself.
func flatten(given *unstructured.Unstructured) ([]*unstructured.Unstructured, *parseError) {
	if !given.IsList() {
		return []*unstructured.Unstructured{given}, check(given)
	}
	var all []*unstructured.Unstructured
	var problem *parseError
	err := given.EachListItem(func(item runtime.Object) error {
		one, ok := item.(*unstructured.Unstructured)
		if !ok {
			return errors.New("not an object")
		}
		var found []*unstructured.Unstructured
		found, problem = flatten(one)
		all = append(all, found...)
		if problem != nil {
			return errors.New(problem.problem)
		}
		return nil
	})
	if problem != nil {
		return nil, problem
	}
	if err != nil {
		return nil, &parseError{problem: "has an item that is not an object"}
	}
	return all, nil
}

// check verifies that an object has the required fields.
func check(given *unstructured.Unstructured) *parseError {
	version, err := schema.ParseGroupVersion(given.GetAPIVersion())
	switch {
	case err != nil || version.Version == "":
		return &parseError{problem: "has no usable apiVersion"}
	case given.GetKind() == "":
		return &parseError{problem: "has no kind"}
	case given.GetName() == "":
		return &parseError{problem: "has no metadata.name"}
	}
	return nil
}

// identity tells objects apart. It has no version, because an object is the same in all versions of
// its kind.
type identity struct {
	kind            schema.GroupKind
	namespace, name string
}

func (o object) identity() identity {
	return identity{
		kind: o.GroupVersionKind().GroupKind(), name: o.GetName(),
		namespace: cmp.Or(o.GetNamespace(), metav1.NamespaceDefault),
	}
}

// withoutRepeated leaves out objects that are defined in several places, because they would be
// changed back and forth forever. It also returns the places.
func withoutRepeated(all []object) ([]object, []string) {
	count := map[identity]int{}
	first := map[identity]object{}
	var problems []string
	for _, one := range all {
		id := one.identity()
		count[id]++
		switch count[id] {
		case 1:
			first[id] = one
		case 2:
			problems = append(problems, fmt.Sprintf("%s is defined in %s and in %s, want it in one place", one, first[id].place(), one.place()))
		}
	}
	return slices.DeleteFunc(all, func(one object) bool { return count[one.identity()] > 1 }), problems
}

// ordered sorts objects as kustomize does: dependencies first, webhooks last. Objects of one kind
// keep their order.
func ordered(all []object) []object {
	slices.SortStableFunc(all, func(a, b object) int {
		one, other := gvk(a), gvk(b)
		switch {
		case one.IsLessThan(other):
			return -1
		case other.IsLessThan(one):
			return 1
		default:
			return 0
		}
	})
	return all
}

func gvk(o object) resid.Gvk {
	kind := o.GroupVersionKind()
	return resid.NewGvk(kind.Group, kind.Version, kind.Kind)
}
