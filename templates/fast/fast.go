// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fast builds the flavor fast for programs that embed it, from the same sources as a
// release.
package fast

import (
	"fmt"
	"io/fs"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/capfoo/cluster-api-provider-foo/templates"
)

// Flavor is the name of the flavor in clusterctl.
const Flavor = "fast"

// Template returns the cluster template with clusterctl's variables not yet replaced. It is always
// the same.
func Template() ([]byte, error) {
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
		return nil, fmt.Errorf("flavor %s: %w", Flavor, err)
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(sources, "flavors/"+Flavor)
	if err != nil {
		return nil, fmt.Errorf("flavor %s: %w", Flavor, err)
	}
	return objects.AsYaml()
}
