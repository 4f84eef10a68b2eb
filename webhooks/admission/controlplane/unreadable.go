// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// kubeadmDurations are the fields of Cluster API's v1beta1 kubeadm configuration that are decoded
// as durations, but whose schema accepts any text. An object with any other text cannot be
// converted, which would be a server error.
var kubeadmDurations = [][]string{
	{"clusterConfiguration", "apiServer", "timeoutForControlPlane"},
	{"joinConfiguration", "discovery", "timeout"},
}

// bootstrapTokens and nodeTaints are lists whose items have such fields.
var (
	bootstrapTokens = []string{"initConfiguration", "bootstrapTokens"}
	nodeTaints      = [][]string{{"initConfiguration", "nodeRegistration", "taints"}, {"joinConfiguration", "nodeRegistration", "taints"}}
)

// spokeVersion is the version in which Foo's own durations and times are texts.
const spokeVersion = "v1beta1"

// ownDurations are the durations of Foo's own v1beta1, whose schema accepts values too long to
// decode.
var ownDurations = [][]string{
	{"machineTemplate", "nodeDrainTimeout"},
	{"machineTemplate", "nodeVolumeDetachTimeout"},
	{"machineTemplate", "nodeDeletionTimeout"},
	{"remediationStrategy", "retryPeriod"},
	{"remediationStrategy", "minHealthyPeriod"},
}

// ownTimes are decoded as RFC 3339, which is stricter than the schema's date-time.
var ownTimes = [][]string{{"rolloutAfter"}}

// bootstrapToken matches texts that can be decoded as a token, in either version.
var bootstrapToken = regexp.MustCompile(`^[a-z0-9]{6}\.[a-z0-9]{16}$`)

// unreadable returns a problem for each text in a spec that the types of the version cannot decode.
// Values of the wrong type are left to the schema.
func unreadable(spec map[string]any, path *field.Path, version string) field.ErrorList {
	var problems field.ErrorList
	if version == spokeVersion {
		problems = unreadableTexts(spec, path, ownDurations, validateDuration)
		problems = append(problems, unreadableTexts(spec, path, ownTimes, validateTime)...)
	}
	config, found, err := unstructured.NestedMap(spec, "kubeadmConfigSpec")
	if err != nil || !found {
		return problems
	}
	return append(problems, unreadableConfig(config, path.Child("kubeadmConfigSpec"))...)
}

// check returns what is wrong with a text.
type check func(text string, path *field.Path) field.ErrorList

func unreadableTexts(object map[string]any, path *field.Path, names [][]string, wrong check) field.ErrorList {
	var problems field.ErrorList
	for _, name := range names {
		text, found, err := unstructured.NestedString(object, name...)
		if err == nil && found {
			problems = append(problems, wrong(text, path.Child(name[0], name[1:]...))...)
		}
	}
	return problems
}

func unreadableConfig(config map[string]any, path *field.Path) field.ErrorList {
	problems := unreadableTexts(config, path, kubeadmDurations, validateDuration)
	problems = append(problems, unreadableItems(config, path, bootstrapTokens, unreadableToken)...)
	for _, taints := range nodeTaints {
		problems = append(problems, unreadableItems(config, path, taints, unreadableTaint)...)
	}
	return problems
}

// unreadableItems checks the objects in a list.
func unreadableItems(config map[string]any, path *field.Path, name []string, wrong func(map[string]any, *field.Path) field.ErrorList) field.ErrorList {
	items, _, err := unstructured.NestedSlice(config, name...)
	if err != nil {
		return nil
	}
	var problems field.ErrorList
	for i, item := range items {
		if object, isObject := item.(map[string]any); isObject {
			problems = append(problems, wrong(object, path.Child(name[0], name[1:]...).Index(i))...)
		}
	}
	return problems
}

func unreadableTaint(taint map[string]any, path *field.Path) field.ErrorList {
	return unreadableTexts(taint, path, [][]string{{"timeAdded"}}, validateTime)
}

func unreadableToken(token map[string]any, path *field.Path) field.ErrorList {
	problems := unreadableTexts(token, path, [][]string{{"ttl"}}, validateDuration)
	problems = append(problems, unreadableTexts(token, path, [][]string{{"expires"}}, validateTime)...)
	if text, isString := token["token"].(string); isString && !bootstrapToken.MatchString(text) {
		// A token lets its holder join machines, so the message does not repeat it.
		problems = append(problems, field.Invalid(path.Child("token"), field.OmitValueType{},
			"must be six lowercase letters or digits, a period, and sixteen more lowercase letters or digits"))
	}
	return problems
}

func validateDuration(text string, path *field.Path) field.ErrorList {
	if duration, err := time.ParseDuration(text); err == nil && duration >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, text, "must be a duration from 0 to 2562047h, such as 90s or 4m")}
}

func validateTime(text string, path *field.Path) field.ErrorList {
	if _, err := time.Parse(time.RFC3339, text); err == nil {
		return nil
	}
	return field.ErrorList{field.Invalid(path, text, "must be a time such as 2026-01-31T15:04:05Z")}
}
