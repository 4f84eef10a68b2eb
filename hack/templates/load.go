// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/yamlprocessor"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/hack/flavors"
)

// variablesFile documents the variables of the flavors.
const variablesFile = "variables.yaml"

// document is the content of the document.
type document struct {
	flavors []flavor
	classes []class
}

// flavor is a cluster template.
type flavor struct {
	name, purpose string
	variables     []variable
}

// variable of a flavor.
type variable struct {
	Name string `json:"name"`
	// Meaning and Allowed are prose.
	Meaning string `json:"meaning"`
	Allowed string `json:"allowed"`
	// fallback is the default; nil if the variable is required.
	fallback *string
}

// class is a ClusterClass.
type class struct {
	name, purpose string
	object        clusterv1.ClusterClass
}

// load reads the sources of the document, and checks that they are complete.
func load(templates string) (document, error) {
	all, err := flavors.Build(templates)
	if err != nil {
		return document{}, err
	}
	meanings, err := readMeanings(filepath.Join(templates, variablesFile))
	if err != nil {
		return document{}, err
	}
	var doc document
	used := sets.New[string]()
	for _, template := range all.Flavors {
		one, err := describe(template, meanings)
		if err != nil {
			return document{}, err
		}
		for _, variable := range one.variables {
			used.Insert(variable.Name)
		}
		doc.flavors = append(doc.flavors, one)
	}
	if unused := sets.KeySet(meanings).Difference(used); unused.Len() > 0 {
		return document{}, fmt.Errorf("%s describes %v, which no flavor uses: delete them", variablesFile, sets.List(unused))
	}
	for _, template := range all.Classes {
		object, err := readClass(template)
		if err != nil {
			return document{}, err
		}
		doc.classes = append(doc.classes, class{name: template.Name, purpose: purpose(template.Content), object: object})
	}
	return doc, nil
}

// readMeanings reads the meanings of the variables by name.
func readMeanings(file string) (map[string]variable, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []variable
	if err := yaml.UnmarshalStrict(content, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	meanings := map[string]variable{}
	for _, one := range list {
		if one.Name == "" || one.Meaning == "" || one.Allowed == "" {
			return nil, fmt.Errorf("%s: variable %q: want a name, a meaning and the allowed values", file, one.Name)
		}
		if _, twice := meanings[one.Name]; twice {
			return nil, fmt.Errorf("%s: variable %q occurs twice", file, one.Name)
		}
		meanings[one.Name] = one
	}
	return meanings, nil
}

// describe returns a flavor with its variables, required ones first.
func describe(template flavors.Template, meanings map[string]variable) (flavor, error) {
	defaults, err := yamlprocessor.NewSimpleProcessor().GetVariableMap(template.Content)
	if err != nil {
		return flavor{}, fmt.Errorf("%s: %w", template.File, err)
	}
	described := flavor{name: template.Name, purpose: purpose(template.Content)}
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		one, found := meanings[name]
		if !found {
			return flavor{}, fmt.Errorf("%s: the variable %s is not in %s: document it there", template.File, name, variablesFile)
		}
		one.fallback = defaults[name]
		described.variables = append(described.variables, one)
	}
	slices.SortStableFunc(described.variables, func(a, b variable) int { return rank(a) - rank(b) })
	return described, nil
}

func rank(v variable) int {
	if v.fallback == nil {
		return 0
	}
	return 1
}

// purpose returns the first paragraph of the comment at the top of a template.
func purpose(content []byte) string {
	var words []string
	for line := range bytes.Lines(content) {
		text, isComment := strings.CutPrefix(string(line), "#")
		text = strings.TrimSpace(text)
		if !isComment || text == "" {
			break
		}
		words = append(words, text)
	}
	return strings.Join(words, " ")
}

// readClass returns the ClusterClass among the objects of a template.
func readClass(template flavors.Template) (clusterv1.ClusterClass, error) {
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(template.Content), 4096)
	for {
		var object clusterv1.ClusterClass
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return object, fmt.Errorf("%s: contains no ClusterClass", template.File)
		}
		if err != nil {
			return object, fmt.Errorf("%s: %w", template.File, err)
		}
		if object.Kind != "ClusterClass" {
			continue
		}
		for _, variable := range object.Spec.Variables {
			if variable.Schema.OpenAPIV3Schema.Description == "" {
				return object, fmt.Errorf("%s: the variable %s has no description", template.File, variable.Name)
			}
		}
		return object, nil
	}
}
