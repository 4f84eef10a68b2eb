// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

type openAPI = apiextensionsv1.JSONSchemaProps

// lookup returns the schema of a field, and the names on the way that an object must have. In a
// path, [] stands for the items of a list and {} for the values of a map. A schema that keeps
// unknown fields has every field, without a type.
func lookup(s *openAPI, path string) (found *openAPI, required []string) {
	for _, part := range strings.Split(path, ".") {
		name := strings.TrimRight(part, "[]{}")
		if s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields && len(s.Properties) == 0 {
			return &openAPI{}, nil
		}
		property, ok := s.Properties[name]
		if !ok {
			return nil, nil
		}
		if slices.Contains(s.Required, name) {
			required = append(required, name)
		}
		s = &property
		if s = inside(s, strings.TrimPrefix(part, name)); s == nil {
			return nil, nil
		}
	}
	return s, required
}

// inside returns the schema of the items or values.
func inside(s *openAPI, suffix string) *openAPI {
	switch suffix {
	case "[]":
		if s.Items == nil {
			return nil
		}
		return s.Items.Schema
	case "{}":
		if s.AdditionalProperties == nil {
			return nil
		}
		return s.AdditionalProperties.Schema
	default:
		return s
	}
}

func checkFields(s crdScope) []string {
	var messages []string
	for _, field := range s.rule.Lint.Fields[s.contract] {
		field.Optional = field.Optional && !s.crd.ofPool() // the pool sets all fields
		if message := checkField(s.schema(), field); message != "" {
			messages = append(messages, fmt.Sprintf("version %s %s", s.version.Name, message))
		}
	}
	return messages
}

func checkField(s *openAPI, field conformance.Field) string {
	paths := strings.Split(field.Path, "|")
	wrong := ""
	for _, path := range paths {
		if found, required := lookup(s, path); found != nil {
			message := checkFound(path, found, required, field)
			if message == "" {
				return ""
			}
			wrong = cmp.Or(wrong, message)
		}
	}
	if wrong != "" {
		return wrong
	}
	if field.Absent || field.MayLack {
		return ""
	}
	message := "has no field " + strings.Join(paths, " and no field ")
	if field.Type != "" {
		message += ", want " + article(field.Type)
	}
	return message
}

func checkFound(path string, found *openAPI, required []string, field conformance.Field) string {
	if field.Absent {
		return "has the field " + path
	}
	if field.Optional && slices.Contains(required, last(path)) {
		return "requires the field " + path
	}
	return checkType(path, found, field)
}

func checkType(path string, found *openAPI, field conformance.Field) string {
	switch {
	case field.Type != "" && !isType(found, field.Type):
		return fmt.Sprintf("has the field %s as %s, want %s", path, article(typeOf(found)), article(field.Type))
	case field.Format != "" && found.Type != "" && found.Format != field.Format:
		return fmt.Sprintf("has the field %s with the format %q, want %q", path, found.Format, field.Format)
	case len(field.Keys) > 0 && found.Type == "array" && !sameKeys(found, field.Keys):
		return fmt.Sprintf("has the list %s without the keys of a list map, want %s", path, strings.Join(field.Keys, ", "))
	default:
		return ""
	}
}

func last(path string) string { return path[strings.LastIndex(path, ".")+1:] }

func sameKeys(s *openAPI, keys []string) bool {
	return s.XListType != nil && *s.XListType == "map" && slices.Equal(slices.Sorted(slices.Values(s.XListMapKeys)), slices.Sorted(slices.Values(keys)))
}

// isType reports whether the schema allows the type. A schema without a type allows any.
func isType(s *openAPI, want string) bool {
	return s.Type == want || s.Type == "" || s.XIntOrString && (want == "integer" || want == "string")
}

func typeOf(s *openAPI) string {
	if s.XIntOrString {
		return "integer or string"
	}
	if s.Type == "object" && s.AdditionalProperties != nil {
		return "map"
	}
	return s.Type
}

func article(name string) string {
	if strings.ContainsAny(name[:min(1, len(name))], "aeiou") {
		return "an " + name
	}
	return "a " + name
}

// differences returns fields of both schemas that have another type in the second.
func differences(a, b *openAPI, path string) []string {
	if a.Type != b.Type {
		return []string{fmt.Sprintf("%s is %s, and %s in the kind's spec", path, article(a.Type), article(b.Type))}
	}
	var messages []string
	for name, property := range a.Properties {
		if other, ok := b.Properties[name]; ok {
			messages = append(messages, differences(&property, &other, path+"."+name)...)
		}
	}
	if a.Items != nil && b.Items != nil && a.Items.Schema != nil && b.Items.Schema != nil {
		messages = append(messages, differences(a.Items.Schema, b.Items.Schema, path+"[]")...)
	}
	slices.Sort(messages)
	return messages
}

// fields returns the paths of all fields with their types.
func fields(s *openAPI, path string, into map[string]string) {
	visit(s, path, func(path string, s *openAPI) { into[path] = s.Type })
}

// visit calls a function for a schema at a path, and for each one below it.
func visit(s *openAPI, path string, see func(path string, s *openAPI)) {
	see(path, s)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		visit(&property, path+"."+name, see)
	}
	if s.Items != nil && s.Items.Schema != nil {
		visit(s.Items.Schema, path+"[]", see)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		visit(s.AdditionalProperties.Schema, path+"{}", see)
	}
}
