// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package compatibility

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

// decode reads an object of a test case.
func decode(t *testing.T, content string) object {
	t.Helper()
	value := object{}
	NewWithT(t).Expect(yaml.UnmarshalStrict([]byte(content), &value)).To(Succeed())
	return value
}

func TestBreaksOfAValue(t *testing.T) {
	for _, test := range []struct{ name, before, now, want string }{
		{"another type", "{type: integer}", "{type: string}", `v1: has the type "string" instead of "integer"`},
		{"no null", "{type: string, nullable: true}", "{type: string}", `v1: has the nullable nothing instead of true`},
		{"an embedded object", "{type: object}", "{type: object, x-kubernetes-embedded-resource: true}", `v1: has the x-kubernetes-embedded-resource true instead of nothing`},
		{"a lower maximum", "{type: integer, maximum: 9}", "{type: integer, maximum: 8}", `v1: has the maximum 8 instead of 9`},
		{"a new maximum", "{type: integer}", "{type: integer, maximum: 8}", `v1: has the maximum 8 instead of nothing`},
		{"a higher minimum", "{type: integer, minimum: 0}", "{type: integer, minimum: 1}", `v1: has the minimum 1 instead of 0`},
		{"a maximum that excludes itself", "{type: integer, maximum: 9}", "{type: integer, maximum: 9, exclusiveMaximum: true}", `v1: has the exclusiveMaximum true instead of nothing`},
		{"a minimum that excludes itself", "{type: integer, minimum: 9}", "{type: integer, minimum: 9, exclusiveMinimum: true}", `v1: has the exclusiveMinimum true instead of nothing`},
		{"multiples", "{type: integer}", "{type: integer, multipleOf: 2}", `v1: has the multipleOf 2 instead of nothing`},
		{"a shorter text", "{type: string, maxLength: 9}", "{type: string, maxLength: 8}", `v1: has the maxLength 8 instead of 9`},
		{"a longer text", "{type: string}", "{type: string, minLength: 1}", `v1: has the minLength 1 instead of nothing`},
		{"fewer items", "{type: array, maxItems: 9}", "{type: array, maxItems: 8}", `v1: has the maxItems 8 instead of 9`},
		{"more items", "{type: array}", "{type: array, minItems: 1}", `v1: has the minItems 1 instead of nothing`},
		{"fewer fields", "{type: object}", "{type: object, maxProperties: 8}", `v1: has the maxProperties 8 instead of nothing`},
		{"more fields", "{type: object}", "{type: object, minProperties: 1}", `v1: has the minProperties 1 instead of nothing`},
		{"one value fewer", "{type: string, enum: [a, b]}", "{type: string, enum: [b, c]}", `v1: has the enum ["b","c"] instead of ["a","b"]`},
		{"only some values", "{type: string}", "{type: string, enum: [a]}", `v1: has the enum ["a"] instead of nothing`},
		{"another pattern", "{type: string, pattern: ^a$}", "{type: string, pattern: ^b$}", `v1: has the pattern "^b$" instead of "^a$"`},
		{"a new pattern", "{type: string}", "{type: string, pattern: ^b$}", `v1: has the pattern "^b$" instead of nothing`},
		{"another format", "{type: integer, format: int64}", "{type: integer, format: int32}", `v1: has the format "int32" instead of "int64"`},
		{"a new rule", "{type: object}", "{type: object, x-kubernetes-validations: [{rule: self == oldSelf}]}", `v1: has the x-kubernetes-validations [{"rule":"self == oldSelf"}] instead of nothing`},
		{"another choice", "{anyOf: [{type: integer}, {type: string}]}", "{anyOf: [{type: integer}]}", `v1: has the anyOf [{"type":"integer"}] instead of [{"type":"integer"},{"type":"string"}]`},
		{"new conditions", "{type: object}", "{type: object, not: {required: [a]}}", `v1: has the not {"required":["a"]} instead of nothing`},
		{"all of them", "{type: object}", "{type: object, allOf: [{required: [a]}]}", `v1: has the allOf [{"required":["a"]}] instead of nothing`},
		{"one of them", "{type: object}", "{type: object, oneOf: [{required: [a]}]}", `v1: has the oneOf [{"required":["a"]}] instead of nothing`},
		{"a field that is required", "{type: object, properties: {a: {type: string}}}", "{type: object, required: [a], properties: {a: {type: string}}}", `v1: has the required ["a"] instead of nothing`},
		{"a new field that is required", "{type: object}", "{type: object, required: [a], properties: {a: {type: string}}}", `v1: has the required ["a"] instead of nothing`},
		{"a removed field", "{type: object, properties: {a: {type: string}}}", "{type: object}", "v1: a is gone"},
		{"another default", "{type: integer, default: 1}", "{type: integer, default: 2}", `v1: has the default 2 instead of 1`},
		{"a new default", "{type: integer}", "{type: integer, default: 2}", `v1: has the default 2 instead of nothing`},
		{"no default", "{type: object, default: {a: 1}}", "{type: object}", `v1: has the default nothing instead of {"a":1}`},
		{"a new field with a default", "{type: object}", "{type: object, properties: {a: {type: string, default: x}}}",
			`v1: a is new and has the default "x", which existing objects get as well`},
		{"a field where any was allowed", "{type: object, x-kubernetes-preserve-unknown-fields: true}",
			"{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}", "v1: a is new where any field was allowed"},
		{"no unknown fields", "{type: object, x-kubernetes-preserve-unknown-fields: true}", "{type: object}", `v1: has the x-kubernetes-preserve-unknown-fields nothing instead of true`},
		{"no user-defined names", "{type: object, additionalProperties: {type: string}}", "{type: object}", `v1:{} is gone`},
		{"not any value", "{type: object, additionalProperties: true}", "{type: object, additionalProperties: {type: string}}", `v1:{} no longer accepts any value`},
		{"a list that is merged", "{type: array}", "{type: array, x-kubernetes-list-type: set}", `v1: has the x-kubernetes-list-type "set" instead of nothing`},
		{"a list with other keys", "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]}",
			"{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b]}", `v1: has the x-kubernetes-list-map-keys ["b"] instead of ["a"]`},
		{"an object that is not merged", "{type: object}", "{type: object, x-kubernetes-map-type: atomic}", `v1: has the x-kubernetes-map-type "atomic" instead of nothing`},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			before, now := decode(t, test.before), decode(t, test.now)
			g.Expect(compareSchemas("v1:", before, now)).To(Equal([]string{test.want}))
			nested := "{type: object, properties: {spec: {type: object, properties: {list: {type: array, items: {type: object, additionalProperties: %}}}}}}"
			before, now = nest(t, nested, test.before), nest(t, nested, test.now)
			g.Expect(compareSchemas("v1:", before, now)).To(HaveEach(HavePrefix("v1: spec.list[]{}")), "at any depth")
			g.Expect(compareSchemas("v1:", before, now)).To(HaveLen(1))
			g.Expect(compareSchemas("v1:", now, now)).To(BeEmpty())
		})
	}
}

// nest returns a schema with its % replaced by another schema.
func nest(t *testing.T, outer, inner string) object {
	t.Helper()
	return decode(t, strings.Replace(outer, "%", inner, 1))
}

func TestChangesOfAValueThatBreakNothing(t *testing.T) {
	for _, test := range []struct{ name, before, now string }{
		{"another description", "{type: string, description: a}", "{type: string, description: b}"},
		{"null", "{type: string}", "{type: string, nullable: true}"},
		{"wider limits", "{type: integer, minimum: 1, maximum: 3}", "{type: integer, minimum: 0, maximum: 4}"},
		{"no limits", "{type: array, minItems: 1, maxItems: 3}", "{type: array}"},
		{"limits that allow themselves", "{type: integer, maximum: 3, exclusiveMaximum: true}", "{type: integer, maximum: 3}"},
		{"one more value", "{type: string, enum: [a]}", "{type: string, enum: [b, a]}"},
		{"any value", "{type: string, enum: [a]}", "{type: string}"},
		{"no pattern", "{type: string, pattern: a, format: date}", "{type: string}"},
		{"one rule fewer, and another message", "{type: object, x-kubernetes-validations: [{rule: a, message: b}, {rule: c}]}",
			"{type: object, x-kubernetes-validations: [{rule: a, message: d}]}"},
		{"no conditions", "{type: object, anyOf: [{required: [a]}]}", "{type: object}"},
		{"a field that is no longer required", "{type: object, required: [a], properties: {a: {type: string}}}", "{type: object, properties: {a: {type: string}}}"},
		{"a new field, with limits inside", "{type: object}", "{type: object, properties: {a: {type: object, required: [b], properties: {b: {type: string, minLength: 1}}}}}"},
		{"the same default, written in another way", "{type: object, default: {a: 1, b: 2}}", "{type: object, default: {b: 2, a: 1}}"},
		{"the type of a list that it has anyway", "{type: array}", "{type: array, x-kubernetes-list-type: atomic}"},
		{"user-defined names", "{type: object}", "{type: object, additionalProperties: {type: string}}"},
		{"any value for them", "{type: object, additionalProperties: {type: string}}", "{type: object, additionalProperties: true}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			NewWithT(t).Expect(compareSchemas("v1:", decode(t, test.before), decode(t, test.now))).To(BeEmpty())
		})
	}
}

// definition is a CRD with everything that Compare checks outside schemas.
const definition = `
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList, shortNames: [th], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: string}}}}
    subresources: {status: {}, scale: {specReplicasPath: .a, statusReplicasPath: .b}}
    selectableFields: [{jsonPath: .spec}]
  - name: v2
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: integer}}}}
  - {name: v0, served: false, storage: false}
`

func TestBreaksOfAKind(t *testing.T) {
	for name, test := range map[string]struct{ before, now, want string }{
		"group":                       {"group: example.org", "group: other", `spec has the group "other" instead of "example.org"`},
		"scope":                       {"scope: Namespaced", "scope: Cluster", `spec has the scope "Cluster" instead of "Namespaced"`},
		"kind":                        {"kind: Thing,", "kind: Other,", `names has the kind "Other" instead of "Thing"`},
		"plural":                      {"plural: things", "plural: others", `names has the plural "others" instead of "things"`},
		"singular":                    {"singular: thing", "singular: other", `names has the singular "other" instead of "thing"`},
		"short name":                  {"[th]", "[t]", `names has the shortNames ["t"] instead of ["th"]`},
		"category":                    {"categories: [all]", "categories: []", `names has the categories [] instead of ["all"]`},
		"version":                     {"name: v1\n", "name: v3\n", "v1 is gone, and objects may be stored in it"},
		"version that was not served": {"name: v0,", "name: v3,", "v0 is gone, and objects may be stored in it"},
		"served":                      {"name: v1\n    served: true", "name: v1\n    served: false", "v1 has the served false instead of true"},
		"status":                      {"status: {}, ", "", "v1 has the status nothing instead of {}"},
		"scale":                       {"specReplicasPath: .a", "specReplicasPath: .b", `v1 has the scale {"specReplicasPath":".b","statusReplicasPath":".b"} instead of`},
		"selectors":                   {"selectableFields: [{jsonPath: .spec}]", "selectableFields: []", `v1 has the selectableFields [] instead of [{"jsonPath":".spec"}]`},
		"schema":                      {"{spec: {type: integer}}", "{}", "v2: spec is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(strings.Count(definition, test.before)).To(Equal(1))
			older, newer := decode(t, definition), decode(t, strings.Replace(definition, test.before, test.now, 1))
			g.Expect(Compare(older, older)).To(BeEmpty())
			g.Expect(Compare(older, newer)).To(ConsistOf(HavePrefix(test.want)))
		})
	}
}

func TestChangesOfAKindThatBreakNothing(t *testing.T) {
	newer := strings.NewReplacer("storage: true", "storage: false", "[th]", "[th, thi]", "[all]", "[all, more]").Replace(definition) + `
  - {name: v3, served: true, storage: true, subresources: {status: {}}}`
	NewWithT(t).Expect(Compare(decode(t, definition), decode(t, newer))).To(BeEmpty())
}
