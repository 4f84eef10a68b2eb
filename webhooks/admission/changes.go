/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package admission

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ChangeOnly returns a problem for each field under path that differs between before and after and is not among those that
// may change. Each of these is the path of a field below path, as "rollout" or "kubeadmConfigSpec.files", and includes all
// that is in the field. Lists are compared as a whole.
func ChangeOnly(path *field.Path, before, after any, mayChange ...string) field.ErrorList {
	from, err := asMap(before)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	to, err := asMap(after)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	var problems field.ErrorList
	for _, changed := range changes(from, to, "") {
		if slices.ContainsFunc(mayChange, func(allowed string) bool { return changed == allowed || strings.HasPrefix(changed, allowed+".") }) {
			continue
		}
		problems = append(problems, field.Forbidden(path.Child(changed), "must not change"+allowedText(changed, mayChange)))
	}
	return problems
}

// SetOnce returns a problem if a value that was set is changed or removed.
func SetOnce[T comparable](path *field.Path, before, after T) field.ErrorList {
	var unset T
	switch {
	case before == unset || before == after:
		return nil
	case after == unset:
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf("was set to %v and must not be removed", before))}
	default:
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf("was set to %v and must not change to %v", before, after))}
	}
}

// allowedText names the fields beside a changed one that may change.
func allowedText(changed string, mayChange []string) string {
	parent := changed[:strings.LastIndex(changed, ".")+1]
	var beside []string
	for _, allowed := range mayChange {
		if rest, below := strings.CutPrefix(allowed, parent); below && !strings.Contains(rest, ".") {
			beside = append(beside, rest)
		}
	}
	if len(beside) == 0 {
		return ""
	}
	return "; beside it these may: " + strings.Join(beside, ", ")
}

// changes returns the paths of the fields that differ, as deep as both sides have objects.
func changes(from, to map[string]any, prefix string) []string {
	keys := map[string]bool{}
	for key := range from {
		keys[key] = true
	}
	for key := range to {
		keys[key] = true
	}
	var result []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if reflect.DeepEqual(from[key], to[key]) {
			continue
		}
		// Where one side has nothing, the other one's fields are what changes.
		left, right, both := objects(from[key], to[key])
		if both {
			result = append(result, changes(left, right, prefix+key+".")...)
			continue
		}
		result = append(result, prefix+key)
	}
	return result
}

// objects returns both values as objects, where none at all is an empty one, and whether that is possible.
func objects(from, to any) (left, right map[string]any, both bool) {
	left, leftOK := from.(map[string]any)
	right, rightOK := to.(map[string]any)
	both = leftOK && rightOK || leftOK && to == nil && len(left) > 0 || rightOK && from == nil && len(right) > 0
	return left, right, both
}

func asMap(object any) (map[string]any, error) {
	content, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	result := map[string]any{}
	return result, json.Unmarshal(content, &result)
}
