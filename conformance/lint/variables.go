// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/drone/envsubst/v2"
	"github.com/drone/envsubst/v2/parse"
)

// Variable is a variable in a manifest that clusterctl substitutes.
type Variable struct {
	Name string
	// Default says that the manifest has a default for it.
	Default bool
}

// defaults are the functions that give a variable a default.
var defaults = []string{":=", "=", ":-"}

// spaced matches variables with spaces, which clusterctl allows.
var spaced = regexp.MustCompile(`\$\{\s*([A-Za-z0-9_]+)\s*\}`)

// substitute returns the variables, and the text as clusterctl would make it with defaults and with
// made up values for other variables.
func substitute(text string) ([]Variable, string, error) {
	if !strings.Contains(text, "${") {
		return nil, text, nil
	}
	text = spaced.ReplaceAllString(text, "$${$1}")
	tree, err := parse.Parse(text)
	if err != nil {
		return nil, text, fmt.Errorf("variables: %w", err)
	}
	found := map[string]bool{}
	var names []string
	walk(tree.Root, func(node *parse.FuncNode) {
		if _, ok := found[node.Param]; !ok {
			names = append(names, node.Param)
		}
		found[node.Param] = found[node.Param] || slices.Contains(defaults, node.Name)
	})
	var variables []Variable
	for _, name := range names {
		variables = append(variables, Variable{Name: name, Default: found[name]})
	}
	text, err = envsubst.Eval(text, func(name string) string {
		if found[name] {
			return ""
		}
		return madeUp(name)
	})
	if err != nil {
		return variables, text, fmt.Errorf("variables: %w", err)
	}
	return variables, text, nil
}

func walk(node parse.Node, visit func(*parse.FuncNode)) {
	switch node := node.(type) {
	case *parse.ListNode:
		for _, child := range node.Nodes {
			walk(child, visit)
		}
	case *parse.FuncNode:
		visit(node)
		for _, child := range node.Args {
			walk(child, visit)
		}
	}
}

// madeUp returns a value that fits where the variable is used in names, versions and counts.
func madeUp(name string) string {
	switch {
	case name == "KUBERNETES_VERSION":
		return "v1.30.0"
	case strings.HasSuffix(name, "_COUNT"), strings.HasSuffix(name, "_REPLICAS"), strings.HasSuffix(name, "_PORT"):
		return "1"
	default:
		return strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	}
}
