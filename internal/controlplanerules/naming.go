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

// DefaultNameTemplate is the default of spec.machineNaming.template.
const DefaultNameTemplate = "{{ .fooControlPlane.name }}-{{ .random }}"

// maxNameLength keeps a Machine's name usable as a host name and as a label value.
const maxNameLength = validation.DNS1123LabelMaxLength

// onlyValues is what a template may use.
const onlyValues = "must use nothing but .cluster.name, .fooControlPlane.name and .random"

// hasRandom finds the part of a template that keeps two Machines from having the same name.
var hasRandom = regexp.MustCompile(`\{\{-?\s*\.random\s*-?\}\}`)

// Names are what a Machine's name is made from.
type Names struct {
	// Cluster is the name of the Cluster.
	Cluster string
	// ControlPlane is the name of the FooControlPlane.
	ControlPlane string
	// Random is random characters.
	Random string
}

// MachineName returns a name by a template; an empty one is the default. A name that is too long is cut, and keeps its
// random part. The template holds text and values only, so that its size bounds the time and the memory that it takes.
// The error says what is wrong with the template.
func MachineName(text string, names Names) (string, error) {
	if text == "" {
		text = DefaultNameTemplate
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
			return "", fmt.Errorf("%s: %s is none of these", onlyValues, node)
		}
	}
	self := map[string]string{"name": names.ControlPlane}
	var name bytes.Buffer
	// The second name of the control plane lets a template of a KubeadmControlPlane be used as it is.
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

// isTextOrValue says whether a part of a template is text, or {{ .a.value }} and nothing else: a loop may never end, and a function
// may pad what it returns to any length.
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
		return "", fmt.Errorf("gives names such as %q: %s", name, strings.Join(problems, ", "))
	}
	return name, nil
}
