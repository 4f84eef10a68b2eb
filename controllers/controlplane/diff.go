// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
)

const (
	// maxDifferences is how many fields to list per object.
	maxDifferences = 12
	// maxValueLength is how many bytes of a value to show.
	maxValueLength = 80
)

// secretFields are listed if they differ, but their values are not shown. Commands and environment
// variables are among them because users put credentials there.
var secretFields = []string{
	"content", "passwd", "sshAuthorizedKeys", "token", "bootstrapTokens", "certificateKey", "tlsBootstrapToken",
	"preKubeadmCommands", "postKubeadmCommands", "bootCommands", "extraEnvs", "proxyURL", "userInfo", "env",
}

// compareFields lists the fields in which two values differ.
func compareFields(path string, current, wanted any) ([]plan.Difference, error) {
	var trees [2]any
	for i, value := range []any{current, wanted} {
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encoding %s: %w", path, err)
		}
		if err := json.Unmarshal(encoded, &trees[i]); err != nil {
			return nil, fmt.Errorf("decoding %s: %w", path, err)
		}
	}
	found := walk(path, trees[0], trees[1])
	if surplus := len(found) - maxDifferences; surplus > 0 {
		found = append(found[:maxDifferences], plan.Difference{Field: path, Text: fmt.Sprintf("%s: %d more fields differ", path, surplus)})
	}
	return found, nil
}

func walk(path string, current, wanted any) []plan.Difference {
	if same(current, wanted) {
		return nil
	}
	before, isMap := current.(map[string]any)
	after, isAlsoMap := wanted.(map[string]any)
	if (isMap || current == nil) && (isAlsoMap || wanted == nil) && !isSecret(path) {
		return walkMap(path, before, after)
	}
	first, isList := current.([]any)
	second, isAlsoList := wanted.([]any)
	if isList && isAlsoList && len(first) == len(second) && !isSecret(path) {
		return walkList(path, first, second)
	}
	return []plan.Difference{{Field: path, Text: fmt.Sprintf("%s: %s, %s required", path, shown(path, current), shown(path, wanted))}}
}

func walkMap(path string, current, wanted map[string]any) []plan.Difference {
	names := sets.List(sets.KeySet(current).Union(sets.KeySet(wanted)))
	found := make([]plan.Difference, 0, len(names))
	for _, name := range names {
		found = append(found, walk(path+"."+name, current[name], wanted[name])...)
	}
	return found
}

func walkList(path string, current, wanted []any) []plan.Difference {
	found := make([]plan.Difference, 0, len(current))
	for i := range current {
		found = append(found, walk(fmt.Sprintf("%s[%d]", path, i), current[i], wanted[i])...)
	}
	return found
}

// same treats empty values as missing.
func same(current, wanted any) bool {
	return reflect.DeepEqual(current, wanted) || vacant(current) && vacant(wanted)
}

func vacant(value any) bool {
	fields, isMap := value.(map[string]any)
	for _, child := range fields {
		if !vacant(child) {
			return false
		}
	}
	return isMap || value == nil
}

func isSecret(path string) bool {
	for part := range strings.SplitSeq(path, ".") {
		name, _, _ := strings.Cut(part, "[")
		if slices.Contains(secretFields, name) {
			return true
		}
	}
	return false
}

func shown(path string, value any) string {
	if value == nil {
		return "none"
	}
	if isSecret(path) || holdsSecret(value) {
		return "(not shown)"
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return "(not shown)"
	}
	if len(encoded) > maxValueLength {
		return string(encoded[:maxValueLength]) + "..."
	}
	return string(encoded)
}

// holdsSecret reports whether a value contains a secret field.
func holdsSecret(value any) bool {
	switch typed := value.(type) {
	case map[string]any:
		for name, child := range typed {
			if slices.Contains(secretFields, name) || holdsSecret(child) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(typed, holdsSecret)
	}
	return false
}
