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

package controlplane

import (
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// durations are the fields of Cluster API's v1beta1 kubeadm configuration that are read as a duration, and that its schema
// takes for any text. An object that has another text there cannot be converted, which would be an error of the server.
var durations = [][]string{
	{"clusterConfiguration", "apiServer", "timeoutForControlPlane"},
	{"joinConfiguration", "discovery", "timeout"},
}

// bootstrapToken is what is read as a token, in either version.
var bootstrapToken = regexp.MustCompile(`^[a-z0-9]{6}\.[a-z0-9]{16}$`)

// unreadable returns a problem for each text of a kubeadm configuration that its types cannot be read from. What has not
// even the right type is left to the schema.
func unreadable(config map[string]any, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	for _, name := range durations {
		text, found, err := unstructured.NestedString(config, name...)
		if err == nil && found {
			problems = append(problems, validateDuration(text, path.Child(name[0], name[1:]...))...)
		}
	}
	tokens, _, err := unstructured.NestedSlice(config, "initConfiguration", "bootstrapTokens")
	if err != nil {
		return problems
	}
	for i, item := range tokens {
		if token, isObject := item.(map[string]any); isObject {
			problems = append(problems, unreadableToken(token, path.Child("initConfiguration", "bootstrapTokens").Index(i))...)
		}
	}
	return problems
}

func unreadableToken(token map[string]any, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	if text, isString := token["ttl"].(string); isString {
		problems = validateDuration(text, path.Child("ttl"))
	}
	if text, isString := token["token"].(string); isString && !bootstrapToken.MatchString(text) {
		// Whoever has a token may join machines: it is not repeated.
		problems = append(problems, field.Invalid(path.Child("token"), field.OmitValueType{},
			"must be six lowercase letters and digits, a point, and sixteen more of them"))
	}
	return problems
}

func validateDuration(text string, path *field.Path) field.ErrorList {
	if duration, err := time.ParseDuration(text); err == nil && duration >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, text, "must be a duration of at least 0, such as 90s or 4m")}
}
