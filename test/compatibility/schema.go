// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package compatibility

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
)

// schema is the schema of a value and of everything in it.
type schema = apiextensionsv1.JSONSchemaProps

// checks are the checks of a single value, without its content. Each returns what is lost.
var checks = []func(older, newer *schema) []string{
	checkType, checkLimits, checkEnum, checkText, checkRules, checkRequired, checkDefault, checkMerging,
}

// compareSchemas compares two schemas recursively. Where is the path of their value.
func compareSchemas(where string, older, newer *schema) []Break {
	var found []Break
	for _, check := range checks {
		for _, what := range check(older, newer) {
			found = append(found, Break{where, what})
		}
	}
	found = append(found, compareProperties(where, older, newer)...)
	if older.Items != nil && older.Items.Schema != nil && newer.Items != nil && newer.Items.Schema != nil {
		found = append(found, compareSchemas(where+"[]", older.Items.Schema, newer.Items.Schema)...)
	}
	return found
}

// compareProperties compares the fields of an object, and its entries with names that the schema
// does not list.
func compareProperties(where string, older, newer *schema) []Break {
	var found []Break
	for _, name := range slices.Sorted(maps.Keys(older.Properties)) {
		before := older.Properties[name]
		if now, kept := newer.Properties[name]; kept {
			found = append(found, compareSchemas(field(where, name), &before, &now)...)
		} else {
			found = append(found, Break{field(where, name), "is gone"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(newer.Properties)) {
		if _, known := older.Properties[name]; !known {
			now := newer.Properties[name]
			found = append(found, compareNew(field(where, name), older, &now)...)
		}
	}
	return append(found, compareOthers(where, older, newer)...)
}

// compareNew checks a field that the older schema does not have.
func compareNew(where string, object, added *schema) []Break {
	var found []Break
	if added.Default != nil {
		found = append(found, Break{where, "is new and has the default " + text(*added.Default) + ", which existing objects get as well"})
	}
	if ptr.Deref(object.XPreserveUnknownFields, false) || object.AdditionalProperties != nil {
		found = append(found, Break{where, "is new where any field was allowed"})
	}
	return found
}

// compareOthers compares what an object may contain besides its fields.
func compareOthers(where string, older, newer *schema) []Break {
	if ptr.Deref(older.XPreserveUnknownFields, false) && !ptr.Deref(newer.XPreserveUnknownFields, false) {
		return []Break{{where, "no longer keeps unknown fields"}}
	}
	before, now := older.AdditionalProperties, newer.AdditionalProperties
	switch {
	case before == nil || !before.Allows && before.Schema == nil:
		return nil
	case now == nil || !now.Allows && now.Schema == nil:
		return []Break{{where, "no longer accepts user-defined names"}}
	case now.Schema == nil:
		return nil
	case before.Schema == nil:
		return []Break{{where, "no longer accepts any value"}}
	}
	return compareSchemas(where+"{}", before.Schema, now.Schema)
}

func field(where, name string) string {
	if where[len(where)-1] == ':' {
		return where + " " + name
	}
	return where + "." + name
}

func checkType(older, newer *schema) []string {
	var found []string
	if older.Type != newer.Type || older.XIntOrString != newer.XIntOrString {
		found = append(found, fmt.Sprintf("is of the type %q instead of %q", typeOf(newer), typeOf(older)))
	}
	if older.Nullable && !newer.Nullable {
		found = append(found, "can no longer be null")
	}
	if older.XEmbeddedResource != newer.XEmbeddedResource {
		found = append(found, "is an object with metadata only before, or only now")
	}
	return found
}

func typeOf(one *schema) string {
	if one.XIntOrString {
		return "integer or string"
	}
	return one.Type
}

// checkLimits finds values that are no longer within the limits.
func checkLimits(older, newer *schema) []string {
	found := slices.Concat(
		lower("maximum", older.Maximum, newer.Maximum), higher("minimum", older.Minimum, newer.Minimum),
		lower("maxLength", older.MaxLength, newer.MaxLength), higher("minLength", older.MinLength, newer.MinLength),
		lower("maxItems", older.MaxItems, newer.MaxItems), higher("minItems", older.MinItems, newer.MinItems),
		lower("maxProperties", older.MaxProperties, newer.MaxProperties), higher("minProperties", older.MinProperties, newer.MinProperties),
	)
	if newer.ExclusiveMaximum && !older.ExclusiveMaximum || newer.ExclusiveMinimum && !older.ExclusiveMinimum {
		found = append(found, "no longer allows the limits themselves")
	}
	if newer.MultipleOf != nil && !equality.Semantic.DeepEqual(older.MultipleOf, newer.MultipleOf) {
		found = append(found, fmt.Sprintf("must be a multiple of %v now", *newer.MultipleOf))
	}
	return found
}

func lower[T cmp.Ordered](limit string, before, now *T) []string {
	if now == nil || before != nil && *now >= *before {
		return nil
	}
	return []string{fmt.Sprintf("has the %s %v, which is lower than before", limit, *now)}
}

func higher[T cmp.Ordered](limit string, before, now *T) []string {
	if now == nil || before != nil && *now <= *before {
		return nil
	}
	return []string{fmt.Sprintf("has the %s %v, which is higher than before", limit, *now)}
}

func checkEnum(older, newer *schema) []string {
	if len(newer.Enum) == 0 {
		return nil
	}
	if len(older.Enum) == 0 {
		return []string{"allows only some values now"}
	}
	var found []string
	for _, lost := range missing(texts(older.Enum), texts(newer.Enum)) {
		found = append(found, "no longer allows "+lost)
	}
	return found
}

func checkText(older, newer *schema) []string {
	var found []string
	if newer.Pattern != "" && newer.Pattern != older.Pattern {
		found = append(found, "must match another pattern: "+newer.Pattern)
	}
	if newer.Format != "" && newer.Format != older.Format {
		found = append(found, fmt.Sprintf("has the format %q instead of %q", newer.Format, older.Format))
	}
	return found
}

// checkRules finds combinations of fields that are now forbidden.
func checkRules(older, newer *schema) []string {
	var found []string
	for _, rule := range newer.XValidations {
		if !slices.ContainsFunc(older.XValidations, func(one apiextensionsv1.ValidationRule) bool { return one.Rule == rule.Rule }) {
			found = append(found, "has a new rule: "+rule.Rule)
		}
	}
	for _, one := range []struct {
		name        string
		before, now any
	}{
		{"allOf", older.AllOf, newer.AllOf}, {"anyOf", older.AnyOf, newer.AnyOf}, {"oneOf", older.OneOf, newer.OneOf}, {"not", older.Not, newer.Not},
	} {
		if !reflect.ValueOf(one.now).IsZero() && !equality.Semantic.DeepEqual(one.before, one.now) {
			found = append(found, "has another "+one.name)
		}
	}
	return found
}

func checkRequired(older, newer *schema) []string {
	added := missing(newer.Required, older.Required)
	found := make([]string, 0, len(added))
	for _, name := range added {
		found = append(found, "requires "+name+" now")
	}
	return found
}

func checkDefault(older, newer *schema) []string {
	before, now := "nothing", "nothing"
	if older.Default != nil {
		before = text(*older.Default)
	}
	if newer.Default != nil {
		now = text(*newer.Default)
	}
	if before == now {
		return nil
	}
	return []string{"has the default " + now + " instead of " + before}
}

// checkMerging finds lists and objects that server-side apply now merges differently.
func checkMerging(older, newer *schema) []string {
	var found []string
	if ptr.Deref(older.XListType, "atomic") != ptr.Deref(newer.XListType, "atomic") || !slices.Equal(older.XListMapKeys, newer.XListMapKeys) {
		found = append(found, "is a list of another type")
	}
	if ptr.Deref(older.XMapType, "granular") != ptr.Deref(newer.XMapType, "granular") {
		found = append(found, "is an object of another type")
	}
	return found
}

func texts(values []apiextensionsv1.JSON) []string {
	result := make([]string, 0, len(values))
	for _, value := range values {
		result = append(result, text(value))
	}
	return result
}

// text returns a value as canonical JSON, so that two values can be compared.
func text(value apiextensionsv1.JSON) string {
	var decoded any
	if err := json.Unmarshal(value.Raw, &decoded); err != nil {
		return string(value.Raw)
	}
	encoded, err := json.Marshal(decoded)
	if err != nil {
		return string(value.Raw)
	}
	return string(encoded)
}
