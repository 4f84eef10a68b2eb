// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package variables finds the variables in a manifest that clusterctl substitutes.
package variables

import (
	"fmt"
	"regexp"
	"slices"

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

// Find returns the variables, and the text without the spaces around their names.
func Find(text string) ([]Variable, string, error) {
	text = spaced.ReplaceAllString(text, "$${$1}")
	tree, err := parse.Parse(text)
	if err != nil {
		return nil, text, fmt.Errorf("variables: %w", err)
	}
	var found []Variable
	walk(tree.Root, func(node *parse.FuncNode) {
		index := slices.IndexFunc(found, func(v Variable) bool { return v.Name == node.Param })
		if index < 0 {
			index = len(found)
			found = append(found, Variable{Name: node.Param})
		}
		found[index].Default = found[index].Default || slices.Contains(defaults, node.Name)
	})
	return found, text, nil
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
