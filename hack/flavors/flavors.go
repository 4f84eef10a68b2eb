// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package flavors builds the cluster templates and ClusterClasses that a release publishes from their kustomizations in the
// folder templates. The same sources give the same bytes.
//
// Limits: it asks no API server whether what it builds is valid.
package flavors

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/capfoo/cluster-api-provider-foo/hack/kustomize"
)

// Default is the name of the flavor that clusterctl takes when it is asked for none.
const Default = ""

// Folders below templates.
const (
	baseDir    = "base"
	flavorsDir = "flavors"
	classesDir = "clusterclasses"
)

// baseFile is the only file of the default flavor. It explains itself, and is published as it is.
const baseFile = "cluster-template.yaml"

// Template is a file that clusterctl looks for.
type Template struct {
	// Name of the flavor, or of the ClusterClass.
	Name string
	// File is the name under which clusterctl looks for it.
	File string
	// Content is YAML with variables.
	Content []byte
}

// All are the cluster templates and ClusterClasses of a version.
type All struct {
	// Flavors in the order of their names. The default is the first.
	Flavors []Template
	// Classes are the ClusterClasses with their templates, in the order of their names.
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

// buildAll builds the kustomization in each folder of a folder.
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

// leadingComment returns the comment at the top of a file, which kustomize drops: it explains the flavor to those who read
// what was made of it, too.
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
		return nil, fmt.Errorf("%s: want a comment at the top that says what it is for", file)
	}
	return comment, nil
}
