// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/yamlprocessor"
)

const (
	classPrefix = "clusterclass-"
	// variablePrefix is the prefix of all variables except those that every provider shares.
	variablePrefix = "FOO_"
)

// commonVariables are the variables that clusterctl sets from the command line.
var commonVariables = []string{
	"NAMESPACE", "CLUSTER_NAME", "KUBERNETES_VERSION", "CONTROL_PLANE_MACHINE_COUNT", "WORKER_MACHINE_COUNT",
}

// check returns what would make a template or a ClusterClass unusable with clusterctl. Otherwise
// nobody would notice before creating a cluster from it.
func check(file string, content []byte) error {
	objects, err := documents(content)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	name, isClass := strings.CutPrefix(strings.TrimSuffix(filepath.Base(file), ".yaml"), classPrefix)
	if isClass {
		err = checkClass(name, content, objects)
	} else {
		err = checkTemplate(content, objects)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// checkClass requires a ClusterClass named after the file, and nothing that depends on where it is
// installed.
//
//contract:clusterctl/classes
//contract:clusterctl/classes-names
//contract:clusterctl/classes-namespace
//contract:clusterctl/classes-variables
func checkClass(name string, content []byte, objects []unstructured.Unstructured) error {
	if bytes.Contains(content, []byte("${")) {
		return errors.New("has a variable ${...}: a ClusterClass has its own variables, and is installed unchanged")
	}
	named := false
	for _, object := range objects {
		if object.GetNamespace() != "" {
			return fmt.Errorf("%s %s has the namespace %s, want none: users choose it", object.GetKind(), object.GetName(), object.GetNamespace())
		}
		named = named || object.GetKind() == "ClusterClass" && object.GetName() == name
	}
	if !named {
		return fmt.Errorf("has no ClusterClass %s: clusterctl looks for a class in the file named after it", name)
	}
	return nil
}

// checkTemplate requires one Cluster, all objects in the namespace that the user chooses, and no
// variable that another provider could also use.
//
//contract:clusterctl/templates
//contract:clusterctl/templates-namespace
//contract:clusterctl/templates-variables
//contract:clusterctl/template-transformations
func checkTemplate(content []byte, objects []unstructured.Unstructured) error {
	variables, err := yamlprocessor.NewSimpleProcessor().GetVariables(content)
	if err != nil {
		return err
	}
	for _, variable := range variables {
		if !slices.Contains(commonVariables, variable) && !strings.HasPrefix(variable, variablePrefix) {
			return fmt.Errorf("has the variable %s, want clusterctl's variables %s, or others with the prefix %s",
				variable, strings.Join(commonVariables, ", "), variablePrefix)
		}
	}
	clusters := 0
	for _, object := range objects {
		if namespace := object.GetNamespace(); namespace != "" && namespace != "${NAMESPACE}" {
			return fmt.Errorf("%s %s has the namespace %s, want ${NAMESPACE}", object.GetKind(), object.GetName(), namespace)
		}
		if object.GetKind() == "Cluster" {
			clusters++
		}
	}
	if clusters != 1 {
		return fmt.Errorf("has %d Clusters, want one", clusters)
	}
	return nil
}

// documents returns the objects of a file.
func documents(content []byte) ([]unstructured.Unstructured, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	var objects []unstructured.Unstructured
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		object := map[string]any{}
		if err := utilyaml.Unmarshal(document, &object); err != nil {
			return nil, err
		}
		if len(object) > 0 {
			objects = append(objects, unstructured.Unstructured{Object: object})
		}
	}
}
