// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	utilversion "k8s.io/apimachinery/pkg/util/version"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/internal/kustomize"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

const configurationFile = "clusterctl.yaml"

// provider is one of the providers in a release.
type provider struct {
	kind clusterctlv1.ProviderType
	// title names the provider in a sentence; kustomization is the folder of its components; program
	// is what it runs.
	title, kustomization, program string
}

var providers = []provider{
	{clusterctlv1.ControlPlaneProviderType, "control plane provider", "config/control-plane", managerProgram},
	{clusterctlv1.InfrastructureProviderType, "infrastructure provider", "config/infrastructure", managerProgram},
	{clusterctlv1.RuntimeExtensionProviderType, "runtime extension", "config/runtime-extension", extensionProgram},
}

func (p provider) at(version string) repository.Provider {
	return repository.Provider{Name: "foo", Type: p.kind, Version: version}
}

// build returns the components, metadata and templates of each provider.
func build(sources, version string) (repository.Files, error) {
	all, err := os.ReadFile(filepath.Join(sources, repository.MetadataFile))
	if err != nil {
		return nil, fmt.Errorf("run it in the root folder of the sources: %w", err)
	}
	own, err := metadataOf(version, all)
	if err != nil {
		return nil, err
	}
	files := repository.Files{}
	for _, provider := range providers {
		at := provider.at(version)
		files[path.Join(at.Dir(), repository.MetadataFile)] = own
		if files[at.ComponentsFile()], err = components(sources, provider, version); err != nil {
			return nil, err
		}
	}
	// clusterctl would leave it behind when it deletes the components, and clusters could no longer be
	// changed or deleted.
	config := path.Join(providers[2].at(version).Dir(), "extensionconfig.yaml")
	if files[config], err = os.ReadFile(filepath.Join(sources, "config/extensionconfig/extensionconfig.yaml")); err != nil {
		return nil, err
	}
	// clusterctl looks for them in the repository of the infrastructure provider only.
	templates, err := flavors.Build()
	if err != nil {
		return nil, err
	}
	for _, template := range templates.Files() {
		files[path.Join(providers[1].at(version).Dir(), template.File)] = template.Content
	}
	return files, nil
}

// components returns everything that clusterctl installs for a provider. clusterctl can replace the
// image of a Pod by itself, so only images in flags are variables.
func components(sources string, provider provider, version string) ([]byte, error) {
	objects, err := kustomize.Build(filepath.Join(sources, provider.kustomization))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", provider.title, err)
	}
	images := map[string]string{provider.program: imageRepository + provider.program + ":" + version}
	if provider.program == extensionProgram {
		images[snapshotProgram] = "${FOO_ETCD_SNAPSHOT_IMAGE:=" + imageRepository + snapshotProgram + ":" + version + "}"
	}
	for program, published := range images {
		image := []byte("foo-" + program + ":unreleased")
		if found := bytes.Count(objects, image); found != 1 {
			return nil, fmt.Errorf("%s: the image %s occurs %d times, want once", provider.title, image, found)
		}
		objects = bytes.ReplaceAll(objects, image, []byte(published))
	}
	header := fmt.Appendf(nil, "# Foo %s, %s. Install it with clusterctl, which replaces the variables: docs/getting-started.md lists them.\n",
		version, provider.title)
	return append(header, objects...), nil
}

// metadata is the content of metadata.yaml. clusterctl's own type would leave out a major version of 0.
type metadata struct {
	APIVersion    string          `json:"apiVersion"`
	Kind          string          `json:"kind"`
	ReleaseSeries []releaseSeries `json:"releaseSeries"`
}

type releaseSeries struct {
	Major    uint   `json:"major"`
	Minor    uint   `json:"minor"`
	Contract string `json:"contract"`
}

func (s releaseSeries) version() *utilversion.Version {
	return utilversion.MajorMinor(s.Major, s.Minor)
}

// metadataOf returns the metadata of a version, which must be a semantic version with a leading v, in
// one of the release series. Later series are left out: clusterctl takes the newest series that the
// newest release lists for a contract, and fails if that series has no release yet.
func metadataOf(version string, all []byte) ([]byte, error) {
	parsed, err := utilversion.ParseSemantic(version)
	if err != nil || version != "v"+parsed.String() || parsed.BuildMetadata() != "" {
		return nil, fmt.Errorf("version %q: want v<major>.<minor>.<patch>, or with a pre-release, for example v0.1.0 or v0.1.0-rc.1", version)
	}
	known := metadata{}
	if err := yaml.UnmarshalStrict(all, &known); err != nil {
		return nil, fmt.Errorf("metadata.yaml: %w", err)
	}
	own := utilversion.MajorMinor(parsed.Major(), parsed.Minor())
	if !slices.ContainsFunc(known.ReleaseSeries, func(s releaseSeries) bool { return s.version().EqualTo(own) }) {
		return nil, fmt.Errorf("version %q belongs to no release series in metadata.yaml: first add the series with its contract", version)
	}
	known.ReleaseSeries = slices.DeleteFunc(known.ReleaseSeries, func(s releaseSeries) bool { return s.version().GreaterThan(own) })
	return yaml.Marshal(known)
}
