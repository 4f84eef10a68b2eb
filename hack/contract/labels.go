// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

const labelPrefix = "contract:"

// nodes lists Ginkgo's functions whose first argument is part of a test's name.
var nodes = []string{
	"Describe", "Context", "When", "DescribeTable", "DescribeTableSubtree", "Entry", "It", "Specify",
	"FDescribe", "FContext", "FWhen", "FDescribeTable", "FEntry", "FIt",
	"PDescribe", "PContext", "PWhen", "PDescribeTable", "PEntry", "PIt",
}

// labels returns the rules that Ginkgo labels name, and an error for each label that cannot be
// read.
func (s source) labels() ([]mention, []error) {
	var mentions []mention
	var problems []error
	var stack []ast.Node
	ast.Inspect(s.file, func(node ast.Node) bool {
		if node == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, node)
		call, ok := node.(*ast.CallExpr)
		if !ok || calledName(call) != "Label" {
			return true
		}
		name := testName(stack)
		for _, argument := range call.Args {
			id, err := ruleOfLabel(argument)
			line := s.fset.Position(argument.Pos()).Line
			if err != nil {
				problems = append(problems, fmt.Errorf("%s:%d: %w", s.path, line, err))
			} else if id != "" {
				mentions = append(mentions, mention{id: id, place: place{path: s.path, name: name}, line: line})
			}
		}
		return true
	})
	return mentions, problems
}

// ruleOfLabel returns the rule that a label names, or an empty string if it names none.
func ruleOfLabel(argument ast.Expr) (string, error) {
	text, whole := literalText(argument)
	if !strings.HasPrefix(text, labelPrefix) {
		return "", nil
	}
	if !whole {
		return "", fmt.Errorf("the label %q… must be a single literal, so that it can be found", text)
	}
	if strings.Contains(text, "/") {
		return "", fmt.Errorf("the label %q contains a slash, which Ginkgo rejects: write a dot", text)
	}
	return strings.Replace(strings.TrimPrefix(text, labelPrefix), ".", "/", 1), nil
}

// testName joins the texts of the Ginkgo nodes that enclose the innermost node of the stack.
func testName(stack []ast.Node) string {
	var texts []string
	for _, node := range stack {
		call, ok := node.(*ast.CallExpr)
		if !ok || !slices.Contains(nodes, calledName(call)) || len(call.Args) == 0 {
			continue
		}
		if text, _ := literalText(call.Args[0]); text != "" {
			texts = append(texts, strings.TrimSpace(text))
		}
	}
	return strings.Join(texts, " ")
}

func calledName(call *ast.CallExpr) string {
	switch function := call.Fun.(type) {
	case *ast.Ident:
		return function.Name
	case *ast.SelectorExpr:
		return function.Sel.Name
	default:
		return ""
	}
}

// literalText returns the literal at the start of a string expression, and whether it is the whole
// expression.
func literalText(expression ast.Expr) (text string, whole bool) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		value, err := strconv.Unquote(e.Value)
		return value, err == nil
	case *ast.BinaryExpr:
		left, _ := literalText(e.X)
		return left, false
	default:
		return "", false
	}
}
