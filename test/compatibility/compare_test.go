// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package compatibility

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// decode reads a value of a test case.
func decode[T any](t *testing.T, content string) *T {
	t.Helper()
	value := new(T)
	NewWithT(t).Expect(yaml.UnmarshalStrict([]byte(content), value)).To(Succeed())
	return value
}

// messages returns the breaks as lines.
func messages(breaks []Break) []string {
	lines := make([]string, 0, len(breaks))
	for _, one := range breaks {
		lines = append(lines, one.String())
	}
	return lines
}

func TestBreaksOfAValue(t *testing.T) {
	for _, test := range []struct{ name, before, now, want string }{
		{"another type", "{type: integer}", "{type: string}", `v1: is of the type "string" instead of "integer"`},
		{"not an integer or string any more", "{x-kubernetes-int-or-string: true}", "{type: string}", `v1: is of the type "string" instead of "integer or string"`},
		{"no null", "{type: string, nullable: true}", "{type: string}", "v1: can no longer be null"},
		{"an embedded object", "{type: object}", "{type: object, x-kubernetes-embedded-resource: true}", "v1: is an object with metadata only before, or only now"},
		{"a lower maximum", "{type: integer, maximum: 9}", "{type: integer, maximum: 8}", "v1: has the maximum 8, which is lower than before"},
		{"a new maximum", "{type: integer}", "{type: integer, maximum: 8}", "v1: has the maximum 8, which is lower than before"},
		{"a higher minimum", "{type: integer, minimum: 0}", "{type: integer, minimum: 1}", "v1: has the minimum 1, which is higher than before"},
		{"a maximum that excludes itself", "{type: integer, maximum: 9}", "{type: integer, maximum: 9, exclusiveMaximum: true}", "v1: no longer allows the limits themselves"},
		{"a minimum that excludes itself", "{type: integer, minimum: 9}", "{type: integer, minimum: 9, exclusiveMinimum: true}", "v1: no longer allows the limits themselves"},
		{"multiples", "{type: integer}", "{type: integer, multipleOf: 2}", "v1: must be a multiple of 2 now"},
		{"a shorter text", "{type: string, maxLength: 9}", "{type: string, maxLength: 8}", "v1: has the maxLength 8, which is lower than before"},
		{"a longer text", "{type: string}", "{type: string, minLength: 1}", "v1: has the minLength 1, which is higher than before"},
		{"fewer items", "{type: array, maxItems: 9}", "{type: array, maxItems: 8}", "v1: has the maxItems 8, which is lower than before"},
		{"more items", "{type: array}", "{type: array, minItems: 1}", "v1: has the minItems 1, which is higher than before"},
		{"fewer fields", "{type: object}", "{type: object, maxProperties: 8}", "v1: has the maxProperties 8, which is lower than before"},
		{"more fields", "{type: object}", "{type: object, minProperties: 1}", "v1: has the minProperties 1, which is higher than before"},
		{"one value fewer", "{type: string, enum: [a, b]}", "{type: string, enum: [b, c]}", `v1: no longer allows "a"`},
		{"only some values", "{type: string}", "{type: string, enum: [a]}", "v1: allows only some values now"},
		{"another pattern", "{type: string, pattern: ^a$}", "{type: string, pattern: ^b$}", "v1: must match another pattern: ^b$"},
		{"a new pattern", "{type: string}", "{type: string, pattern: ^b$}", "v1: must match another pattern: ^b$"},
		{"another format", "{type: integer, format: int64}", "{type: integer, format: int32}", `v1: has the format "int32" instead of "int64"`},
		{"a new rule", "{type: object}", "{type: object, x-kubernetes-validations: [{rule: self == oldSelf}]}", "v1: has a new rule: self == oldSelf"},
		{"another choice", "{anyOf: [{type: integer}, {type: string}]}", "{anyOf: [{type: integer}]}", "v1: has another anyOf"},
		{"new conditions", "{type: object}", "{type: object, not: {required: [a]}}", "v1: has another not"},
		{"all of them", "{type: object}", "{type: object, allOf: [{required: [a]}]}", "v1: has another allOf"},
		{"one of them", "{type: object}", "{type: object, oneOf: [{required: [a]}]}", "v1: has another oneOf"},
		{"a field that is required", "{type: object, properties: {a: {type: string}}}", "{type: object, required: [a], properties: {a: {type: string}}}", "v1: requires a now"},
		{"a new field that is required", "{type: object}", "{type: object, required: [a], properties: {a: {type: string}}}", "v1: requires a now"},
		{"a removed field", "{type: object, properties: {a: {type: string}}}", "{type: object}", "v1: a is gone"},
		{"another default", "{type: integer, default: 1}", "{type: integer, default: 2}", "v1: has the default 2 instead of 1"},
		{"a new default", "{type: integer}", "{type: integer, default: 2}", "v1: has the default 2 instead of nothing"},
		{"no default", "{type: object, default: {a: 1}}", "{type: object}", `v1: has the default nothing instead of {"a":1}`},
		{"a new field with a default", "{type: object}", "{type: object, properties: {a: {type: string, default: x}}}",
			`v1: a is new and has the default "x", which existing objects get as well`},
		{"a field where any was allowed", "{type: object, x-kubernetes-preserve-unknown-fields: true}",
			"{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}", "v1: a is new where any field was allowed"},
		{"no unknown fields", "{type: object, x-kubernetes-preserve-unknown-fields: true}", "{type: object}", "v1: no longer keeps unknown fields"},
		{"no user-defined names", "{type: object, additionalProperties: {type: string}}", "{type: object}", "v1: no longer accepts user-defined names"},
		{"not any value", "{type: object, additionalProperties: true}", "{type: object, additionalProperties: {type: string}}", "v1: no longer accepts any value"},
		{"a list that is merged", "{type: array}", "{type: array, x-kubernetes-list-type: set}", "v1: is a list of another type"},
		{"a list with other keys", "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]}",
			"{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b]}", "v1: is a list of another type"},
		{"an object that is not merged", "{type: object}", "{type: object, x-kubernetes-map-type: atomic}", "v1: is an object of another type"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			before, now := decode[schema](t, test.before), decode[schema](t, test.now)
			g.Expect(messages(compareSchemas("v1:", before, now))).To(Equal([]string{test.want}))
			nested := "{type: object, properties: {spec: {type: object, properties: {list: {type: array, items: {type: object, additionalProperties: %}}}}}}"
			before, now = nest(t, nested, test.before), nest(t, nested, test.now)
			g.Expect(compareSchemas("v1:", before, now)).To(HaveEach(HaveField("Where", HavePrefix("v1: spec.list[]{}"))), "at any depth")
			g.Expect(compareSchemas("v1:", before, now)).To(HaveLen(1))
			g.Expect(compareSchemas("v1:", now, now)).To(BeEmpty())
		})
	}
}

// nest returns a schema with its % replaced by another schema.
func nest(t *testing.T, outer, inner string) *schema {
	t.Helper()
	return decode[schema](t, strings.Replace(outer, "%", inner, 1))
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
			NewWithT(t).Expect(messages(compareSchemas("v1:", decode[schema](t, test.before), decode[schema](t, test.now)))).To(BeEmpty())
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
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: string}}}}
  - {name: v0, served: false, storage: false}
`

func TestBreaksOfAKind(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(spec *apiextensionsv1.CustomResourceDefinitionSpec)
		want   string
	}{
		{"group", func(s *apiextensionsv1.CustomResourceDefinitionSpec) { s.Group = "other" }, "has the group other instead of example.org"},
		{"scope", func(s *apiextensionsv1.CustomResourceDefinitionSpec) { s.Scope = "Cluster" }, "has the scope Cluster instead of Namespaced"},
		{"kind", func(s *apiextensionsv1.CustomResourceDefinitionSpec) { s.Names.Kind = "Other" }, "has the kind Other instead of Thing"},
		{"plural", func(s *apiextensionsv1.CustomResourceDefinitionSpec) { s.Names.Plural = "others" }, "has the plural others instead of things"},
		{"singular", func(s *apiextensionsv1.CustomResourceDefinitionSpec) { s.Names.Singular = "other" }, "has the singular other instead of thing"},
		{"short name", func(s *apiextensionsv1.CustomResourceDefinitionSpec) { s.Names.ShortNames = []string{"t"} }, "no longer has the short name th"},
		{"category", func(s *apiextensionsv1.CustomResourceDefinitionSpec) { s.Names.Categories = nil }, "is no longer in the category all"},
		{"version", func(s *apiextensionsv1.CustomResourceDefinitionSpec) { s.Versions = s.Versions[1:] }, "v1 is gone, and objects may be stored in it"},
		{"version that was not served", func(s *apiextensionsv1.CustomResourceDefinitionSpec) { s.Versions = s.Versions[:2] }, "v0 is gone, and objects may be stored in it"},
		{"served", func(s *apiextensionsv1.CustomResourceDefinitionSpec) { s.Versions[0].Served = false }, "v1 is no longer served"},
		{"status", func(s *apiextensionsv1.CustomResourceDefinitionSpec) { s.Versions[0].Subresources.Status = nil }, "v1 no longer has a status subresource"},
		{"scale", func(s *apiextensionsv1.CustomResourceDefinitionSpec) { s.Versions[0].Subresources.Scale = nil }, "v1 is not scaled as before"},
		{"selectors", func(s *apiextensionsv1.CustomResourceDefinitionSpec) { s.Versions[0].SelectableFields = nil }, "v1 can no longer be selected by .spec"},
		{"schema", func(s *apiextensionsv1.CustomResourceDefinitionSpec) {
			delete(s.Versions[1].Schema.OpenAPIV3Schema.Properties, "spec")
		}, "v2: spec is gone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			older := decode[apiextensionsv1.CustomResourceDefinition](t, definition)
			newer := older.DeepCopy()
			g.Expect(Compare(older, newer)).To(BeEmpty())
			test.change(&newer.Spec)
			g.Expect(messages(Compare(older, newer))).To(Equal([]string{test.want}))
		})
	}
}

func TestChangesOfAKindThatBreakNothing(t *testing.T) {
	older := decode[apiextensionsv1.CustomResourceDefinition](t, definition)
	newer := older.DeepCopy()
	newer.Spec.Versions = append(newer.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: "v3", Served: true, Storage: true})
	newer.Spec.Versions[1].Storage = false
	newer.Spec.Names.ShortNames = append(newer.Spec.Names.ShortNames, "thi")
	newer.Spec.Versions[1].Subresources = older.Spec.Versions[0].Subresources
	NewWithT(t).Expect(messages(Compare(older, newer))).To(BeEmpty())
}
