// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/yamlprocessor"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

// variable of a flavor or of a class.
type variable struct {
	Name    string `json:"name"`
	Default string `json:"-"`
	Meaning string `json:"meaning"`
	Allowed string `json:"allowed"`
}

// entry is a flavor, or a class with its spec.
type entry struct {
	Name, Purpose string
	Variables     []variable
	Spec          clusterv1.ClusterClassSpec
}

// readMeanings reads the meanings of the variables of flavors by name.
func readMeanings(content []byte) (map[string]variable, error) {
	var list []variable
	if err := yaml.UnmarshalStrict(content, &list); err != nil {
		return nil, fmt.Errorf("variables.yaml: %w", err)
	}
	known := map[string]variable{}
	for _, one := range list {
		if _, twice := known[one.Name]; twice || one.Name == "" || one.Meaning == "" || one.Allowed == "" {
			return nil, fmt.Errorf("variables.yaml: variable %q: want it once, with a name, a meaning and the allowed values", one.Name)
		}
		known[one.Name] = one
	}
	return known, nil
}

// templatesPage returns the page of the templates, given the meanings of the variables of flavors.
func templatesPage(meanings []byte) ([]byte, error) {
	known, err := readMeanings(meanings)
	if err != nil {
		return nil, err
	}
	unused := maps.Clone(known)
	all, err := flavors.Build()
	if err != nil {
		return nil, err
	}
	var content struct{ Flavors, Classes []entry }
	for _, flavor := range all.Flavors {
		variables, err := variablesOf(flavor, known)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flavor.File, err)
		}
		for _, one := range variables {
			delete(unused, one.Name)
		}
		content.Flavors = append(content.Flavors, entry{Name: flavor.Name, Purpose: prose(flavor.Purpose()), Variables: variables})
	}
	if len(unused) > 0 {
		return nil, fmt.Errorf("variables.yaml describes %v, which no flavor uses: delete them", slices.Sorted(maps.Keys(unused)))
	}
	for _, class := range all.Classes {
		spec, err := specOf(class)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", class.File, err)
		}
		one := entry{Name: class.Name, Purpose: prose(class.Purpose()), Spec: spec}
		for _, variable := range spec.Variables {
			one.Variables = append(one.Variables, fields(variable.Name, variable.Schema.OpenAPIV3Schema)...)
		}
		content.Classes = append(content.Classes, one)
	}
	return render("templates", content)
}

// variablesOf returns the variables of a flavor, required ones first.
func variablesOf(flavor flavors.Template, known map[string]variable) ([]variable, error) {
	defaults, err := yamlprocessor.NewSimpleProcessor().GetVariableMap(flavor.Content)
	if err != nil {
		return nil, err
	}
	var required, optional []variable
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		one, found := known[name]
		if !found {
			return nil, fmt.Errorf("the variable %s is not in variables.yaml: document it there", name)
		}
		if defaults[name] == nil {
			required = append(required, one)
			continue
		}
		one.Default = code(*defaults[name])
		optional = append(optional, one)
	}
	return append(required, optional...), nil
}

// specOf returns the spec of the only ClusterClass among the objects of a template.
func specOf(class flavors.Template) (clusterv1.ClusterClassSpec, error) {
	var object clusterv1.ClusterClass
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(class.Content), len(class.Content))
	for object.Kind != "ClusterClass" {
		object = clusterv1.ClusterClass{}
		if err := decoder.Decode(&object); err != nil {
			return clusterv1.ClusterClassSpec{}, fmt.Errorf("read the ClusterClass: %w", err)
		}
	}
	return object.Spec, nil
}

// fields returns a variable of a class, and the fields of one that is an object or a list of
// objects.
func fields(name string, schema clusterv1.JSONSchemaProps) []variable {
	one := variable{Name: name, Meaning: prose(schema.Description), Allowed: allowed(schema)}
	if schema.Default != nil {
		one.Default = code(string(schema.Default.Raw))
	}
	all := append(make([]variable, 0, 1+len(schema.Properties)), one)
	properties := schema.Properties
	if schema.Items != nil {
		name, properties = name+"[]", schema.Items.Properties
	}
	for _, field := range slices.Sorted(maps.Keys(properties)) {
		all = append(all, fields(name+"."+field, properties[field])...)
	}
	return all
}

// allowed describes in words what a schema allows.
func allowed(schema clusterv1.JSONSchemaProps) string {
	if len(schema.Enum) > 0 {
		values := make([]string, 0, len(schema.Enum))
		for _, value := range schema.Enum {
			values = append(values, code(strings.Trim(string(value.Raw), `"`)))
		}
		return strings.Join(values, ", ")
	}
	said := schema.Type
	if schema.XIntOrString != nil && *schema.XIntOrString {
		said = "integer or string"
	}
	if schema.Items != nil {
		said = "list of " + allowed(*schema.Items)
	}
	if schema.Pattern != "" {
		said += " that matches " + code(schema.Pattern)
	}
	for _, limit := range []struct {
		text  string
		value *int64
	}{
		{", at least %d", schema.Minimum}, {", length at least %d", schema.MinLength}, {", length at most %d", schema.MaxLength}, {", at most %d entries", schema.MaxItems},
	} {
		if limit.value != nil {
			said += fmt.Sprintf(limit.text, *limit.value)
		}
	}
	return said
}

// prose prevents Markdown from reading placeholders as HTML.
func prose(text string) string { return strings.ReplaceAll(text, "<", "&lt;") }

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
