// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// IsImmutable is the problem of a change whose values must not be shown.
const IsImmutable = "is immutable"

// Change is a field that was changed.
type Change struct {
	Path *field.Path
	// Before and After are the old and the new value, as in JSON; nil for none.
	Before, After any
}

// Problem says that the field is immutable, and shows both values unless either is a list or an
// object.
func (c Change) Problem() string {
	was, before := text(c.Before)
	becomes, after := text(c.After)
	switch {
	case !before || !after:
		return IsImmutable
	case c.Before == nil:
		return IsImmutable + ", so it must not be set to " + becomes + " later"
	case c.After == nil:
		return IsImmutable + ", so its value " + was + " must not be removed"
	default:
		return IsImmutable + ", so it must not change from " + was + " to " + becomes
	}
}

func text(value any) (string, bool) {
	switch value := value.(type) {
	case nil:
		return "", true
	case string:
		return strconv.Quote(value), true
	case bool, int64, float64:
		return fmt.Sprint(value), true
	}
	return "", false
}

// Changed returns the fields below path that differ between before and after, sorted, except those
// that are allowed. Each allowed name is relative to path, such as "rollout" or
// "kubeadmConfigSpec.files", and includes everything beneath it. Before and after are pointers to
// structs; Changed returns an error if they are not. Only the fields on the list may change, so a
// field that is added later cannot be changed until somebody has thought about it. Lists are
// compared as a whole, and a missing object equals an empty one.
func Changed(path *field.Path, before, after any, allowed ...string) ([]Change, error) {
	was, err := runtime.DefaultUnstructuredConverter.ToUnstructured(before)
	if err != nil {
		return nil, fmt.Errorf("reading the old value of %s: %w", path, err)
	}
	becomes, err := runtime.DefaultUnstructuredConverter.ToUnstructured(after)
	if err != nil {
		return nil, fmt.Errorf("reading the new value of %s: %w", path, err)
	}
	permitted := map[string]bool{}
	for _, name := range allowed {
		permitted[path.String()+"."+name] = true
	}
	return compare(was, becomes, path, permitted), nil
}

// compare takes a missing object for an empty one, so that it names the object's fields.
func compare(before, after map[string]any, path *field.Path, permitted map[string]bool) []Change {
	var changed []Change
	for _, name := range names(before, after) {
		child := path.Child(name)
		was, wasObject := before[name].(map[string]any)
		becomes, becomesObject := after[name].(map[string]any)
		switch {
		case permitted[child.String()] || apiequality.Semantic.DeepEqual(before[name], after[name]):
		case (wasObject || before[name] == nil) && (becomesObject || after[name] == nil):
			changed = append(changed, compare(was, becomes, child, permitted)...)
		default:
			changed = append(changed, Change{Path: child, Before: before[name], After: after[name]})
		}
	}
	return changed
}

func names(objects ...map[string]any) []string {
	all := map[string]bool{}
	for _, object := range objects {
		for name := range object {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
