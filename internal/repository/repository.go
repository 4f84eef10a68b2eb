// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package repository lays out files as clusterctl finds them in a folder:
//
//	<root>/<type>-<name>/<version>/{<type>-components.yaml,metadata.yaml,...}
//
// Limits: it knows nothing of what the files hold, and deletes nothing.
package repository

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
)

// Names of files that clusterctl asks for.
const (
	// MetadataFile says which contract each release series of the provider implements.
	MetadataFile = "metadata.yaml"
	// TemplateFile is the default cluster template. clusterctl looks for it with infrastructure providers only.
	TemplateFile = "cluster-template.yaml"
)

// Provider is one provider in one version.
type Provider struct {
	// Name of the provider without its type, for example foo.
	Name string
	// Type of the provider.
	Type clusterctlv1.ProviderType
	// Version is a semantic version with a leading v. clusterctl ignores folders of any other name.
	Version string
}

// Dir returns the provider's folder for this version, relative to the root, with slashes.
//
//contract:clusterctl/local-repository
func (p Provider) Dir() string {
	return path.Join(clusterctlv1.ManifestLabel(p.Name, p.Type), p.Version)
}

// ComponentsFile returns the path of the provider's components, relative to the root, with slashes. clusterctl finds the
// repository by this file, which must be there even when only a template is asked for.
//
//contract:clusterctl/components-names
func (p Provider) ComponentsFile() string {
	return path.Join(p.Dir(), clusterctlv1.ManifestLabel("components", p.Type)+".yaml")
}

// URL returns what clusterctl's configuration holds for the provider in a repository at root, which must be absolute.
func (p Provider) URL(root string) string {
	return filepath.Join(root, filepath.FromSlash(p.ComponentsFile()))
}

// Files are the contents of files by their path, which is relative to the root of the repository and has slashes.
type Files map[string][]byte

// Paths returns the paths of the files in order.
func (f Files) Paths() []string { return slices.Sorted(maps.Keys(f)) }

// Write writes the files below root and makes the folders that they need. Files that are there are replaced.
func (f Files) Write(root string) error {
	for _, name := range f.Paths() {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("make the folder of %s: %w", name, err)
		}
		if err := os.WriteFile(file, f[name], 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}
