// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package flavors builds the cluster templates and ClusterClasses that a release publishes from
// their kustomizations in the folder templates. The same sources give the same bytes.
//
// Limits: it does not validate the result with an API server.
package flavors

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/capfoo/cluster-api-provider-foo/hack/kustomize"
)

// Default is the name of the flavor that clusterctl uses if none is requested.
const Default = ""

// Folders below templates.
const (
	baseDir    = "base"
	flavorsDir = "flavors"
	classesDir = "clusterclasses"
)

// baseFile is the only file of the default flavor. It has its own comments and is published
// unchanged.
const baseFile = "cluster-template.yaml"

// Template is a file that clusterctl looks for.
type Template struct {
	// Name of the flavor, or of the ClusterClass.
	Name string
	// File is the file name that clusterctl looks for.
	File string
	// Content is YAML with variables.
	Content []byte
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

// Build builds everything from the folder templates.
func Build(templates string) (All, error) {
	content, err := os.ReadFile(filepath.Join(templates, baseDir, baseFile))
	if err != nil {
		return All{}, fmt.Errorf("default flavor: %w", err)
	}
	all := All{Flavors: []Template{{Name: Default, File: "cluster-template.yaml", Content: content}}}
	flavors, err := buildAll(filepath.Join(templates, flavorsDir), "cluster-template-")
	if err != nil {
		return All{}, fmt.Errorf("flavors: %w", err)
	}
	all.Flavors = append(all.Flavors, flavors...)
	if all.Classes, err = buildAll(filepath.Join(templates, classesDir), "clusterclass-"); err != nil {
		return All{}, fmt.Errorf("ClusterClasses: %w", err)
	}
	return all, nil
}

// buildAll builds the kustomization in each subfolder of a folder.
func buildAll(dir, prefix string) ([]Template, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var built []Template
	for _, entry := range entries {
		kustomization := filepath.Join(dir, entry.Name())
		content, err := kustomize.Build(kustomization)
		if err != nil {
			return nil, err
		}
		explanation, err := leadingComment(filepath.Join(kustomization, "kustomization.yaml"))
		if err != nil {
			return nil, err
		}
		built = append(built, Template{Name: entry.Name(), File: prefix + entry.Name() + ".yaml", Content: append(explanation, content...)})
	}
	return built, nil
}

// leadingComment returns the comment at the top of a file. kustomize drops it, but it should
// explain the flavor in the built template too.
func leadingComment(file string) ([]byte, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var comment []byte
	for line := range bytes.Lines(content) {
		if !bytes.HasPrefix(line, []byte("#")) {
			break
		}
		comment = append(comment, line...)
	}
	if len(comment) == 0 {
		return nil, fmt.Errorf("%s: want a comment at the top that explains its purpose", file)
	}
	return comment, nil
}
