// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template"
	"text/template/parse"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

const (
	// maxRendered is the maximum size of the manifests that a template makes, and of all that its
	// functions make on the way, in bytes.
	maxRendered = 4 << 20
	// maxSteps is the maximum number of texts, actions, passes of loops and uses of templates. The
	// extension is shared, and nothing else ends a template that loops for hours, or one that uses
	// itself and keeps more variables each time.
	maxSteps = 100_000
	// maxWidth is the maximum width to which printf pads a value.
	maxWidth = 100
)

// values returns what a template can use, except for the values of a Secret.
func values(cluster *clusterv1.Cluster, version string) (map[string]any, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cluster)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of the Cluster: %w", err)
	}
	delete(fields, "status")
	// A Cluster from a cache and one from the API server must give the same, or add-ons are applied
	// again and again.
	fields["apiVersion"], fields["kind"] = clusterv1.GroupVersion.String(), clusterv1.ClusterKind
	for _, field := range []string{"managedFields", "resourceVersion"} {
		unstructured.RemoveNestedField(fields, "metadata", field)
	}
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
	errMade   = fmt.Errorf("the functions of the template produce more than %d MiB of text", maxRendered>>20)
	errWidth  = errors.New("printf takes widths and precisions only up to 99, and none from its arguments")
	errSteps  = fmt.Errorf("it takes more than %d steps", maxSteps)
	errAbsent = errors.New("there is no value")
	errLines  = errors.New("the value has several lines, which could add fields or objects; use toJson")
	errKind   = errors.New("the value is a list or has fields; use toJson")
)

// execution is one execution of a template.
type execution struct {
	text  strings.Builder
	steps int
	// made is the size of all texts that functions have made. A variable may hold each of them.
	made int
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

// functions returns the functions that a template can call. They replace the functions of Go's
// templates that make text, because those do not limit its size.
func (e *execution) functions() template.FuncMap {
	return template.FuncMap{
		"print": e.bounded(fmt.Sprint), "println": e.bounded(fmt.Sprintln), "printf": e.printf,
		"html": e.bounded(template.HTMLEscaper), "js": e.bounded(template.JSEscaper), "urlquery": e.bounded(template.URLQueryEscaper),
		"toJson": e.toJSON, "join": e.join, stepFunction: e.step, insertFunction: e.insert,
	}
}

// count counts a text that a function has made. One call makes at most a few times maxRendered.
func (e *execution) count(text string) (string, error) {
	if e.made += len(text); e.made > maxRendered {
		return "", errMade
	}
	return text, nil
}

// bounded returns a function that makes a text of its arguments, each used once.
func (e *execution) bounded(function func(...any) string) func(...any) (string, error) {
	return func(arguments ...any) (string, error) {
		if !fit(1, arguments) {
			return "", errMade
		}
		return e.count(function(arguments...))
	}
}

// tooWide finds a width, precision or index of three digits in a format, or one from an argument.
var tooWide = regexp.MustCompile(`%[-+# 0-9.\[\]]*([0-9]{3}|\*)`)

// printf is fmt.Sprintf. Any verb may use any argument.
func (e *execution) printf(format string, arguments ...any) (string, error) {
	if tooWide.MatchString(format) {
		return "", errWidth
	}
	if !fit(1+strings.Count(format, "%"), arguments) {
		return "", errMade
	}
	return e.count(fmt.Sprintf(format, arguments...))
}

// fit reports whether texts of the arguments are small, even if each is used several times.
func fit(uses int, arguments []any) bool {
	size := 0
	for _, one := range arguments {
		if text, ok := one.(string); ok {
			size += maxWidth + len(text)
		} else {
			size += maxWidth * len(fmt.Sprint(one)) // each number in it may be padded
		}
		if size > maxRendered/uses {
			return false
		}
	}
	return true
}

func (e *execution) toJSON(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	return e.count(string(text))
}

// join returns the items of a list as a text.
func (e *execution) join(list []any, separator string) (string, error) {
	if len(list)*len(separator) > maxRendered {
		return "", errMade
	}
	items := make([]string, 0, len(list))
	for _, item := range list {
		items = append(items, fmt.Sprint(item))
	}
	return e.count(strings.Join(items, separator))
}

// step counts a step, and inserts nothing.
func (e *execution) step() (string, error) {
	if e.steps++; e.steps > maxSteps {
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

// guard makes a list of nodes count its steps, and check each value that it inserts.
func guard(list *parse.ListNode) {
	if list == nil {
		return
	}
	step := &parse.ActionNode{NodeType: parse.NodeAction, Pos: list.Pos, Pipe: &parse.PipeNode{
		NodeType: parse.NodePipe, Pos: list.Pos, Cmds: []*parse.CommandNode{call(stepFunction, list.Pos)},
	}}
	nodes := []parse.Node{step}
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
		nodes = append(nodes, node, step)
	}
	list.Nodes = nodes
}

func call(function string, at parse.Pos) *parse.CommandNode {
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: at, Args: []parse.Node{parse.NewIdentifier(function).SetPos(at)}}
}
