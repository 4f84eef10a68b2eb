// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kustomize builds kustomizations. The same input gives the same bytes. Limits: no plugins,
// and no files from outside a kustomization's own folder.
package kustomize

import (
	"fmt"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Build returns the objects of the kustomization in a folder on disk as YAML documents, in the
// order in which the kustomization lists them.
func Build(dir string) ([]byte, error) { return BuildIn(filesys.MakeFsOnDisk(), dir) }

// BuildIn builds the kustomization in a folder of a file system.
func BuildIn(files filesys.FileSystem, dir string) ([]byte, error) {
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, dir)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", dir, err)
	}
	content, err := objects.AsYaml()
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", dir, err)
	}
	return content, nil
}
