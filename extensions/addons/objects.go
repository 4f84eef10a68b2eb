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
	"slices"
	"strings"

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

// title names an object for users.
func title(object *unstructured.Unstructured) string {
	name := object.GetName()
	if object.GetNamespace() != "" {
		name = object.GetNamespace() + "/" + name
	}
	return object.GetKind() + " " + name
}

// parseManifests returns the objects of all documents of a text, including objects in lists, in the
// order in which they are applied: dependencies first, webhooks last, as in kustomize. There may be
// none.
func parseManifests(text string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	documents := apiyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader([]byte(text))))
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("document %d cannot be read: %w", number, err)
		}
		found, err := parseDocument(document)
		if err != nil {
			return nil, fmt.Errorf("document %d %w", number, err)
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int {
		return compareKinds(a.GroupVersionKind().GroupKind(), b.GroupVersionKind().GroupKind())
	})
	return all, nil
}

// quoteError is an error whose text may quote the manifest.
type quoteError struct {
	problem string
	cause   error
}

func (e *quoteError) Error() string { return e.problem + ": " + e.cause.Error() }

// withoutQuotes returns the text of an error without what it may quote from a manifest.
func withoutQuotes(err error) string {
	if quote, ok := errors.AsType[*quoteError](err); ok {
		return strings.TrimSuffix(err.Error(), ": "+quote.cause.Error())
	}
	return err.Error()
}

func parseDocument(document []byte) ([]*unstructured.Unstructured, error) {
	converted, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, &quoteError{"is not YAML", err}
	}
	var content any
	if err := json.Unmarshal(converted, &content); err != nil {
		return nil, &quoteError{"is not valid Kubernetes YAML", err}
	}
	if content == nil {
		return nil, nil
	}
	fields, ok := content.(map[string]any)
	if !ok {
		return nil, errors.New("is not an object")
	}
	return flatten(&unstructured.Unstructured{Object: fields})
}

// flatten returns the objects of a list, or the object itself.
func flatten(given *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if !given.IsList() {
		return []*unstructured.Unstructured{given}, check(given)
	}
	var all []*unstructured.Unstructured
	var problem error
	err := given.EachListItem(func(item runtime.Object) error {
		if one, ok := item.(*unstructured.Unstructured); ok {
			var found []*unstructured.Unstructured
			found, problem = flatten(one)
			all = append(all, found...)
		}
		return problem
	})
	if err != nil && problem == nil {
		return nil, errors.New("has an item that is not an object")
	}
	return all, problem
}

// check returns an error if an object lacks a required field.
func check(given *unstructured.Unstructured) error {
	version, err := schema.ParseGroupVersion(given.GetAPIVersion())
	switch {
	case err != nil || version.Version == "":
		return errors.New("has no usable apiVersion")
	case given.GetKind() == "":
		return errors.New("has no kind")
	case given.GetName() == "":
		return errors.New("has no metadata.name")
	default:
		return nil
	}
}

// identity tells objects apart. It has no version, because an object is the same in all versions of
// its kind.
type identity struct {
	kind            schema.GroupKind
	namespace, name string
}

func (i identity) String() string { return fmt.Sprintf("%s %s/%s", i.kind.Kind, i.namespace, i.name) }

func identify(object *unstructured.Unstructured) identity {
	return identity{
		kind: object.GroupVersionKind().GroupKind(), name: object.GetName(),
		namespace: cmp.Or(object.GetNamespace(), metav1.NamespaceDefault),
	}
}

// compareKinds orders kinds as kustomize does.
func compareKinds(a, b schema.GroupKind) int {
	one, other := resid.NewGvk(a.Group, "", a.Kind), resid.NewGvk(b.Group, "", b.Kind)
	switch {
	case one.IsLessThan(other):
		return -1
	case other.IsLessThan(one):
		return 1
	default:
		return 0
	}
}
