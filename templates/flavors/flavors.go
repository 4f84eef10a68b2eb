// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package flavors builds the cluster templates and ClusterClasses that a release publishes from
// their kustomizations, which are embedded. The result is always the same.
//
// Limits: it does not validate the result with an API server.
package flavors

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/internal/kustomize"
	"github.com/capfoo/cluster-api-provider-foo/templates"
)

// Names of flavors that programs use.
const (
	// Default is the flavor that clusterctl uses if none is requested.
	Default = ""
	Fast    = "fast"
)

// Template is a file that clusterctl looks for.
type Template struct {
	// Name of the flavor, or of the ClusterClass.
	Name string
	// File is the file name that clusterctl looks for.
	File string
	// Content is YAML with variables.
	Content []byte
}

// Purpose returns the first paragraph of the comment at the top.
func (t Template) Purpose() string {
	paragraph, _, _ := strings.Cut(string(t.Content), "\n#\n")
	var words []string
	for line := range strings.Lines(paragraph) {
		text, isComment := strings.CutPrefix(line, "#")
		if !isComment {
			break
		}
		words = append(words, strings.TrimSpace(text))
	}
	return strings.Join(words, " ")
}

// All holds the cluster templates and ClusterClasses of a version.
type All struct {
	// Flavors in name order. The default comes first.
	Flavors []Template
	// Classes are the ClusterClasses with their templates, in name order.
	Classes []Template
}

// Files returns all templates, the flavors first.
func (a All) Files() []Template { return append(append([]Template(nil), a.Flavors...), a.Classes...) }

// Build builds everything.
func Build() (All, error) {
	content, err := buildDefault()
	if err != nil {
		return All{}, err
	}
	all := All{Flavors: []Template{{Name: Default, File: "cluster-template.yaml", Content: content}}}
	for _, folder := range []struct {
		name, prefix string
		to           *[]Template
	}{{"flavors", "cluster-template-", &all.Flavors}, {"clusterclasses", "clusterclass-", &all.Classes}} {
		entries, err := templates.Sources.ReadDir(folder.name)
		if err != nil {
			return All{}, err
		}
		for _, entry := range entries {
			if !entry.IsDir() {
				continue
			}
			content, err := build(path.Join(folder.name, entry.Name()))
			if err != nil {
				return All{}, err
			}
			*folder.to = append(*folder.to, Template{Name: entry.Name(), File: folder.prefix + entry.Name() + ".yaml", Content: content})
		}
	}
	return all, nil
}

// buildDefault joins the files of the base. They are published with their comments.
func buildDefault() ([]byte, error) {
	const base = "base"
	text, err := templates.Sources.ReadFile(base + "/kustomization.yaml")
	if err != nil {
		return nil, err
	}
	var kustomization types.Kustomization
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		return nil, fmt.Errorf("templates/base: %w", err)
	}
	content, err := leadingComment(base)
	for _, part := range kustomization.Resources {
		var objects []byte
		if err == nil {
			objects, err = templates.Sources.ReadFile(path.Join(base, part, part+".yaml"))
		}
		content = append(append(content, "---\n"...), objects...)
	}
	return content, err
}

// leadingComment returns the comment at the top of a kustomization, which explains what it builds.
func leadingComment(folder string) ([]byte, error) {
	text, err := templates.Sources.ReadFile(folder + "/kustomization.yaml")
	if err != nil {
		return nil, err
	}
	end := bytes.Index(text, []byte("apiVersion: "))
	if end <= 0 {
		return nil, fmt.Errorf("templates/%s/kustomization.yaml: want a comment at the top that explains its purpose", folder)
	}
	return text[:end:end], nil
}

// Get builds one flavor.
func Get(name string) ([]byte, error) {
	if name == Default {
		return buildDefault()
	}
	return build("flavors/" + name)
}

// build builds the kustomization in a folder. kustomize drops the comment at its top.
func build(folder string) ([]byte, error) {
	sources := filesys.MakeFsInMemory()
	err := fs.WalkDir(templates.Sources, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := templates.Sources.ReadFile(path)
		if err != nil {
			return err
		}
		return sources.WriteFile(path, content)
	})
	if err != nil {
		return nil, err
	}
	content, err := kustomize.BuildIn(sources, folder)
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	explanation, err := leadingComment(folder)
	return append(explanation, content...), err
}
