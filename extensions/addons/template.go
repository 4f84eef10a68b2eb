// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"errors"
	"fmt"
	"strings"
	"text/template"
	"text/template/parse"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

const (
	// maxRendered is the maximum size of the manifests that a template makes, in bytes.
	maxRendered = 4 << 20
	// maxSteps is the maximum number of loop passes of a template. The extension is shared,
	// and nothing else ends a template that loops for hours.
	maxSteps = 100_000
)

// values returns what a template can use, except for the values of a Secret.
func values(cluster *clusterv1.Cluster, version string) (map[string]any, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cluster)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of the Cluster: %w", err)
	}
	delete(fields, "status")
	variables := map[string]any{}
	for _, one := range cluster.Spec.Topology.Variables {
		var value any
		if err := json.Unmarshal(one.Value.Raw, &value); err != nil {
			return nil, fmt.Errorf("reading the variable %s of the Cluster's topology: %w", one.Name, err)
		}
		variables[one.Name] = value
	}
	return map[string]any{"Cluster": fields, "KubernetesVersion": version, "Variables": variables}, nil
}

// render executes a template. Its errors name places in the template, and no values.
func render(text string, values map[string]any) (string, error) {
	run := &execution{}
	parsed, err := template.New("template").Option("missingkey=error").Funcs(run.functions()).Parse(text)
	if err != nil {
		return "", untitled(err)
	}
	for _, one := range parsed.Templates() {
		guard(one.Root)
	}
	if err := parsed.Execute(run, values); err != nil {
		return "", untitled(err)
	}
	return run.text.String(), nil
}

// untitled removes the word that all errors of templates begin with.
func untitled(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "template: ")) }

var (
	errSize   = fmt.Errorf("the manifests are larger than %d MiB", maxRendered>>20)
	errSteps  = fmt.Errorf("it takes more than %d steps", maxSteps)
	errAbsent = errors.New("there is no value")
	errLines  = errors.New("the value has several lines, which could add fields or objects; use toJson")
	errKind   = errors.New("the value is a list or has fields; use toJson")
)

// execution is one execution of a template.
type execution struct {
	text  strings.Builder
	steps int
}

// Write adds to the text.
func (e *execution) Write(part []byte) (int, error) {
	if e.text.Len()+len(part) > maxRendered {
		return 0, errSize
	}
	return e.text.Write(part)
}

const (
	stepFunction   = "_step"
	insertFunction = "_insert"
)

func (e *execution) functions() template.FuncMap {
	return template.FuncMap{"toJson": toJSON, "join": join, stepFunction: e.step, insertFunction: e.insert}
}

func toJSON(value any) (string, error) {
	text, err := json.Marshal(value)
	return string(text), err
}

// join returns the items of a list as a text.
func join(list []any, separator string) string {
	items := make([]string, 0, len(list))
	for _, item := range list {
		items = append(items, fmt.Sprint(item))
	}
	return strings.Join(items, separator)
}

// step counts a step, and inserts nothing.
func (e *execution) step() (string, error) {
	e.steps++
	if e.steps > maxSteps {
		return "", errSteps
	}
	return "", nil
}

// insert returns a value if it can only be a part of a field. Whoever may choose a variable or an
// annotation of a Cluster need not have permission to add objects to an add-on.
func (*execution) insert(value any) (any, error) {
	switch value := value.(type) {
	case nil:
		return nil, errAbsent
	case string:
		if strings.ContainsAny(value, "\n\r\u0085\u2028\u2029") {
			return nil, errLines
		}
	case bool, int, int64, float64:
	default:
		return nil, errKind
	}
	return value, nil
}

// guard makes the nodes count each pass of a loop and each use of a template as a step, and check
// each value that they insert.
func guard(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch node := node.(type) {
		case *parse.ActionNode:
			if len(node.Pipe.Decl) == 0 {
				node.Pipe.Cmds = append(node.Pipe.Cmds, call(insertFunction, node.Pos))
			}
		case *parse.IfNode:
			guard(node.List)
			guard(node.ElseList)
		case *parse.WithNode:
			guard(node.List)
			guard(node.ElseList)
		case *parse.RangeNode:
			guard(node.List)
			guard(node.ElseList)
		}
	}
	step := &parse.ActionNode{NodeType: parse.NodeAction, Pos: list.Pos, Pipe: &parse.PipeNode{
		NodeType: parse.NodePipe, Pos: list.Pos, Cmds: []*parse.CommandNode{call(stepFunction, list.Pos)},
	}}
	list.Nodes = append([]parse.Node{step}, list.Nodes...)
}

func call(function string, at parse.Pos) *parse.CommandNode {
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: at, Args: []parse.Node{parse.NewIdentifier(function).SetPos(at)}}
}
