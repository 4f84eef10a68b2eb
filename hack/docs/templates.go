// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/yamlprocessor"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

// variable says what a variable of a flavor means.
type variable struct{ Meaning, Allowed string }

// meaning returns what a variable means, given templates/variables.yaml.
func meaning(content []byte, name string) (variable, error) {
	var all map[string]variable
	if err := yaml.UnmarshalStrict(content, &all); err != nil {
		return variable{}, fmt.Errorf("variables.yaml: %w", err)
	}
	if one := all[name]; one.Meaning != "" && one.Allowed != "" {
		return one, nil
	}
	return variable{}, fmt.Errorf("variables.yaml lacks the meaning or the allowed values of the variable %s: add them", name)
}

var processor = yamlprocessor.NewSimpleProcessor()

// shared returns the variables that all flavors have, with their defaults in the first flavor; nil for
// none.
func shared(all []flavors.Template) (map[string]*string, error) {
	common, err := processor.GetVariableMap(all[0].Content)
	for _, flavor := range all[1:] {
		variables, problem := processor.GetVariableMap(flavor.Content)
		err = errors.Join(err, problem)
		maps.DeleteFunc(common, func(name string, _ *string) bool { _, has := variables[name]; return !has })
	}
	return common, err
}

// own returns the variables of a flavor that are not in common, or whose default differs.
func own(flavor flavors.Template, common map[string]*string) (map[string]*string, error) {
	variables, err := processor.GetVariableMap(flavor.Content)
	maps.DeleteFunc(variables, func(name string, value *string) bool {
		usual, is := common[name]
		return is && ptr.Equal(value, usual)
	})
	return variables, err
}

// specOf returns the spec of the only ClusterClass among the objects of a template.
func specOf(class flavors.Template) (clusterv1.ClusterClassSpec, error) {
	var object clusterv1.ClusterClass
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(class.Content), len(class.Content))
	for object.Kind != "ClusterClass" {
		object = clusterv1.ClusterClass{}
		if err := decoder.Decode(&object); err != nil {
			return object.Spec, fmt.Errorf("%s: read the ClusterClass: %w", class.File, err)
		}
	}
	return object.Spec, nil
}
