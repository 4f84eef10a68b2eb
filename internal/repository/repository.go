// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package repository lays out files in a folder as clusterctl expects them:
//
//	<root>/<type>-<name>/<version>/{<type>-components.yaml,metadata.yaml,...}
//
// Limits: it does not interpret the files, and deletes nothing.
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

// MetadataFile is the name of the file that says which contract each release series of the provider
// implements. clusterctl reads it.
const MetadataFile = "metadata.yaml"

// Provider is one provider in one version.
type Provider struct {
	// Name of the provider without its type, for example foo.
	Name string
	// Type of the provider.
	Type clusterctlv1.ProviderType
	// Version is a semantic version with a leading v. clusterctl ignores folders with any other
	// name.
	Version string
}

// Dir returns the provider's folder for this version, relative to the root, with slashes.
func (p Provider) Dir() string {
	return path.Join(clusterctlv1.ManifestLabel(p.Name, p.Type), p.Version)
}

// ComponentsFile returns the path of the provider's components, relative to the root, with slashes.
// clusterctl finds the repository by this file, which must exist even if only a template is
// requested.
func (p Provider) ComponentsFile() string {
	name := clusterctlv1.ManifestLabel("components", p.Type)
	if p.Type == clusterctlv1.CoreProviderType {
		name = "core-" + name // the label of a core provider is its name alone
	}
	return path.Join(p.Dir(), name+".yaml")
}

// URL returns the provider's URL in clusterctl's configuration for a repository at root, which must
// be absolute.
func (p Provider) URL(root string) string {
	return filepath.Join(root, filepath.FromSlash(p.ComponentsFile()))
}

// Configuration returns the configuration that makes clusterctl use providers of the repository at root,
// which must be absolute, and nothing else.
func Configuration(root string, providers ...Provider) map[string]any {
	locations := make([]map[string]string, 0, len(providers))
	for _, one := range providers {
		locations = append(locations, map[string]string{"name": one.Name, "type": string(one.Type), "url": one.URL(root)})
	}
	return map[string]any{
		"providers": locations,
		// The check would look for newer versions of clusterctl on the network.
		"CLUSTERCTL_DISABLE_VERSIONCHECK": "true",
		// It does not exist, so that no file of the user overrides one in the repository.
		"overridesFolder": filepath.Join(root, "no-overrides"),
	}
}

// Files maps paths to contents. Paths are relative to the root of the repository, with slashes.
type Files map[string][]byte

// Paths returns the paths of the files in order.
func (f Files) Paths() []string { return slices.Sorted(maps.Keys(f)) }

// Write writes the files below root and creates the folders that they need. It replaces existing
// files.
func (f Files) Write(root string) error {
	for _, name := range f.Paths() {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("create the folder of %s: %w", name, err)
		}
		if err := os.WriteFile(file, f[name], 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}
