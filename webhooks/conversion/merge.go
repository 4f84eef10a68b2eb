// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
)

// merge applies the changes from what was read to what is written to the whole object as it was
// before, with the fields that nobody could read. It replaces what is written by the result.
func merge[T any](before, read, written *T) error {
	var objects [3]map[string]any
	for i, object := range []*T{before, read, written} {
		var err error
		if objects[i], err = runtime.DefaultUnstructuredConverter.ToUnstructured(object); err != nil {
			return fmt.Errorf("merging with what was read: %w", err)
		}
	}
	result := objects[2]
	for _, part := range []string{"spec", "status"} {
		result[part] = mergeValue(objects[0][part], objects[1][part], objects[2][part])
	}
	// Pointers in what is written may be shared with the object that it was converted from.
	fresh := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(result, fresh); err != nil {
		return fmt.Errorf("merging with what was read: %w", err)
	}
	*written = *fresh
	return nil
}

// mergeValue returns nil for a value that is removed.
func mergeValue(before, read, written any) any {
	if reflect.DeepEqual(read, written) {
		return before
	}
	_, wasObject := read.(map[string]any)
	_, isObject := written.(map[string]any)
	if isObject || wasObject && written == nil {
		return mergeObject(before, read, written)
	}
	if items, isList := written.([]any); isList {
		return mergeList(before, read, items)
	}
	return written
}

// mergeObject takes a missing object for an empty one, so that the fields that nobody could read
// stay. Only false and zero, which v1beta1 does not tell from unset, leave with their object.
func mergeObject(before, read, written any) any {
	known, _ := before.(map[string]any)
	was, _ := read.(map[string]any)
	is, _ := written.(map[string]any)
	result := map[string]any{}
	for name := range sets.KeySet(known).Union(sets.KeySet(is)) {
		value := mergeValue(known[name], was[name], is[name])
		if value == nil || written == nil && reflect.ValueOf(value).IsZero() {
			continue
		}
		result[name] = value
	}
	if len(result) == 0 && written == nil {
		return nil
	}
	return result
}

// mergeList takes each object that did not change as it was before.
func mergeList(before, read any, written []any) any {
	known, _ := before.([]any)
	was, _ := read.([]any)
	if len(known) != len(was) {
		return written
	}
	result := slices.Clone(written)
	for i, item := range written {
		if _, isObject := item.(map[string]any); !isObject {
			continue
		}
		if same := slices.IndexFunc(was, func(other any) bool { return reflect.DeepEqual(item, other) }); same >= 0 {
			result[i] = known[same]
		}
	}
	return result
}
