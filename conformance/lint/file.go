// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/yaml"
)

// FileType is what a manifest is for.
type FileType string

// The types of files in a provider's repository.
const (
	Components FileType = "components"
	Metadata   FileType = "metadata"
	Template   FileType = "cluster template"
	Class      FileType = "ClusterClass"
	Other      FileType = "other"
)

// File is a manifest.
type File struct {
	Path      string
	Type      FileType
	Objects   []Object
	Variables []Variable

	problems  []problem
	variables error
}

// problem is a line that cannot be read.
type problem struct {
	line    int
	message string
}

func (f *File) problem(line int, message string) {
	f.problems = append(f.problems, problem{line, message})
}

func (f *File) base() string { return filepath.Base(f.Path) }

func newFile(path string, data []byte) *File {
	file := &File{Path: path}
	text := string(data)
	file.Variables, text, file.variables = substitute(text)
	if file.variables == nil {
		file.parse(text)
	}
	if len(file.problems) > 0 && blockVariable.Match(data) {
		if without := newFile(path, blockVariable.ReplaceAll(data, nil)); len(without.problems) < len(file.problems) {
			file.Objects, file.problems = without.Objects, without.problems
		}
	}
	file.Type = file.typeOf()
	return file
}

// parse reads the documents in parallel: the CRDs of a large provider take seconds otherwise.
func (f *File) parse(text string) {
	documents := split(text)
	objects := make([]*unstructured.Unstructured, len(documents))
	errs := make([]error, len(documents))
	inParallel(len(documents), func(i int) { objects[i], errs[i] = decode(documents[i].text, f.base() != "metadata.yaml") })
	for i, document := range documents {
		if errs[i] != nil {
			f.problem(document.inFile(errs[i].Error()))
		} else if objects[i] != nil {
			f.add(objects[i], document.line)
		}
	}
}

// inParallel calls a function for the numbers below count, as many at once as there are CPUs.
func inParallel(count int, call func(i int)) {
	workqueue.ParallelizeUntil(context.Background(), runtime.GOMAXPROCS(0), count, call)
}

// add adds an object, or the objects of a list such as kubectl writes.
func (f *File) add(object *unstructured.Unstructured, line int) {
	items, ok := object.Object["items"].([]any)
	if !ok || !strings.HasSuffix(object.GetKind(), "List") {
		f.Objects = append(f.Objects, Object{Unstructured: object, File: f, Line: line})
		return
	}
	for i, item := range items {
		content, ok := item.(map[string]any)
		if !ok {
			f.problem(line, fmt.Sprintf("items[%d] of a %s is no object", i, object.GetKind()))
			continue
		}
		one := &unstructured.Unstructured{Object: content}
		// The API server leaves this out of the items of its lists.
		if kind := strings.TrimSuffix(object.GetKind(), "List"); kind != "" && one.GetKind() == "" {
			one.SetKind(kind)
			one.SetAPIVersion(object.GetAPIVersion())
		}
		f.add(one, line)
	}
}

// document is a part of a file that begins after line start. Its first line with content is line.
type document struct {
	start, line int
	text        string
}

var lineNumber = regexp.MustCompile(`\bline (\d+)`)

// inFile returns a message about the document with the lines of the file, and the first of them.
func (d document) inFile(message string) (int, string) {
	line := d.line
	if first := lineNumber.FindStringSubmatch(message); first != nil {
		line = d.start + atoi(first[1])
	}
	return line, lineNumber.ReplaceAllStringFunc(message, func(text string) string {
		return fmt.Sprintf("line %d", d.start+atoi(strings.TrimPrefix(text, "line ")))
	})
}

var separator = regexp.MustCompile(`(?m)^---[ \t]*(#.*)?\r?$`)

func atoi(digits string) int {
	value, _ := strconv.Atoi(digits) // the expression allows digits only
	return value
}

// split returns the documents with the lines on which they begin.
func split(text string) []document {
	var documents []document
	start := 0
	add := func(end int) {
		content := text[start:end]
		blank := len(content) - len(strings.TrimLeft(content, "\r\n"))
		documents = append(documents, document{strings.Count(text[:start], "\n"), 1 + strings.Count(text[:start+blank], "\n"), content})
	}
	for _, match := range separator.FindAllStringIndex(text, -1) {
		add(match[0])
		start = match[1]
	}
	add(len(text))
	return documents
}

// decode returns the object of a document, or nil for an empty one. A typed one must say what it is.
func decode(text string, typed bool) (*unstructured.Unstructured, error) {
	var parsed any
	if err := yaml.Unmarshal([]byte(text), &parsed); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
	}
	content, ok := parsed.(map[string]any)
	if parsed != nil && !ok {
		return nil, fmt.Errorf("a document is %s, want an object with apiVersion and kind", describe(parsed))
	}
	if len(content) == 0 {
		return nil, nil
	}
	object := &unstructured.Unstructured{Object: content}
	switch {
	case !typed:
	case object.GetAPIVersion() == "":
		return nil, fmt.Errorf("a document has no apiVersion")
	case object.GetKind() == "":
		return nil, fmt.Errorf("a document has no kind")
	}
	return object, nil
}

// describe says what a document is that is no object.
func describe(content any) string {
	switch content.(type) {
	case []any:
		return "a list"
	case string:
		return "a text"
	default:
		return "a single value"
	}
}

// componentKinds are kinds that only components have.
var componentKinds = []string{
	"CustomResourceDefinition", "Deployment", "DaemonSet", "StatefulSet", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding",
	"ServiceAccount", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "Certificate", "Issuer", "ExtensionConfig",
}

// typeOf decides by the name of the file, or else by its objects.
func (f *File) typeOf() FileType {
	if named := f.typeOfName(); named != Other {
		return named
	}
	switch {
	case slices.ContainsFunc(f.Objects, func(o Object) bool { return slices.Contains(componentKinds, o.GetKind()) }):
		return Components
	case slices.ContainsFunc(f.Objects, func(o Object) bool { return isKind(o, "clusterctl.cluster.x-k8s.io", "Metadata") }):
		return Metadata
	case f.first("ClusterClass") != nil:
		return Class
	case f.first("Cluster") != nil:
		return Template
	default:
		return Other
	}
}

func (f *File) typeOfName() FileType {
	name := f.base()
	switch {
	case name == "metadata.yaml":
		return Metadata
	case strings.HasPrefix(name, "cluster-template"):
		return Template
	case strings.HasPrefix(name, "clusterclass"):
		return Class
	case name == "-", strings.HasSuffix(name, "-components.yaml"):
		return Components
	default:
		return Other
	}
}
