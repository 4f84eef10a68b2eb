// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplanerules

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template"
	templateparse "text/template/parse"

	"k8s.io/apimachinery/pkg/util/validation"
)

// defaultNameTemplate is the default of spec.machineNaming.template.
const defaultNameTemplate = "{{ .fooControlPlane.name }}-{{ .random }}"

// maxNameLength keeps a Machine's name usable as a host name and as a label value.
const maxNameLength = validation.DNS1123LabelMaxLength

// onlyValues is the error for a template that uses anything else.
const onlyValues = "may use only .cluster.name, .fooControlPlane.name and .random"

// hasRandom matches the part of a template that makes names unique.
var hasRandom = regexp.MustCompile(`\{\{-?\s*\.random\s*-?\}\}`)

// Names holds the inputs of a Machine's name.
type Names struct {
	// Cluster is the name of the Cluster.
	Cluster string
	// ControlPlane is the name of the FooControlPlane.
	ControlPlane string
	// Random holds random characters.
	Random string
}

// MachineName returns the name that a template produces; an empty template is the default. A name
// that is too long is truncated, but keeps its random part. A template may contain only text and
// values, so its size bounds the time and memory that it takes. The error says what is wrong with
// the template.
func MachineName(text string, names Names) (string, error) {
	if text == "" {
		text = defaultNameTemplate
	}
	if !hasRandom.MatchString(text) {
		return "", errors.New("must contain {{ .random }}, so that no two Machines have the same name")
	}
	parsed, err := template.New("machineNaming").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", fmt.Errorf("must be a Go template: %w", err)
	}
	for _, node := range parsed.Root.Nodes {
		if !isTextOrValue(node) {
			return "", fmt.Errorf("%s: %s is not one of them", onlyValues, node)
		}
	}
	self := map[string]string{"name": names.ControlPlane}
	var name bytes.Buffer
	// With the second name, the template of a KubeadmControlPlane works unchanged.
	err = parsed.Execute(&name, map[string]any{
		"cluster":             map[string]string{"name": names.Cluster},
		"fooControlPlane":     self,
		"kubeadmControlPlane": self,
		"random":              names.Random,
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w", onlyValues, err)
	}
	return validName(name.String(), names.Random)
}

// isTextOrValue reports whether a part of a template is text, or {{ .a.value }} and nothing else: a
// loop may never end, and a function may pad its result to any length.
func isTextOrValue(node templateparse.Node) bool {
	if node.Type() == templateparse.NodeText {
		return true
	}
	action, ok := node.(*templateparse.ActionNode)
	if !ok || len(action.Pipe.Decl) > 0 || len(action.Pipe.Cmds) != 1 || len(action.Pipe.Cmds[0].Args) != 1 {
		return false
	}
	return action.Pipe.Cmds[0].Args[0].Type() == templateparse.NodeField
}

func validName(name, random string) (string, error) {
	if len(name) > maxNameLength {
		name = name[:maxNameLength-len(random)] + random
	}
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return "", fmt.Errorf("produces names such as %q: %s", name, strings.Join(problems, ", "))
	}
	return name, nil
}
