// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"

	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/hack/flavors"
	"github.com/capfoo/cluster-api-provider-foo/hack/kustomize"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
	"github.com/capfoo/cluster-api-provider-foo/templates"
)

// Files at the root of the repository.
const (
	configurationFile = "clusterctl.yaml"
	sumsFile          = "SHA256SUMS"
)

// provider is one of the providers in a release.
type provider struct {
	kind clusterctlv1.ProviderType
	// title names the provider in a sentence.
	title string
	// image is the image that its components run, and the variable that can name a mirror.
	image imageOf
	// kustomization is the source folder that its components are built from.
	kustomization string
	// templates is true if it publishes the cluster templates and ClusterClasses.
	templates bool
	// extensionConfig is true if it publishes the ExtensionConfig. The components do not contain
	// it, because clusterctl would leave it behind when it deletes them, and clusters could no
	// longer be changed or deleted.
	extensionConfig bool
}

const (
	// extensionConfigSource is the path of the ExtensionConfig in the sources.
	extensionConfigSource = "config/extensionconfig/extensionconfig.yaml"
	// extensionConfigFile is its name in the repository.
	extensionConfigFile = "extensionconfig.yaml"
)

// imageOf is an image of a release.
type imageOf struct{ program, variable string }

var (
	managerImage   = imageOf{program: managerProgram, variable: "FOO_MANAGER_IMAGE"}
	extensionImage = imageOf{program: extensionProgram, variable: "FOO_RUNTIME_EXTENSION_IMAGE"}
)

// unreleased is the image's name in config/.
func (i imageOf) unreleased() string { return "foo-" + i.program + ":unreleased" }

// released replaces it in a release: a variable that can name a mirror, with the published image as
// default.
func (i imageOf) released(version string) string {
	return fmt.Sprintf("${%s:=%s%s:%s}", i.variable, imageRepository, i.program, version)
}

var providers = []provider{{
	kind: clusterctlv1.ControlPlaneProviderType, title: "control plane provider", image: managerImage, kustomization: "config/control-plane",
}, {
	kind: clusterctlv1.InfrastructureProviderType, title: "infrastructure provider", image: managerImage, kustomization: "config/infrastructure",
	// clusterctl looks for both in the repository of the infrastructure provider only.
	templates: true,
}, {
	kind: clusterctlv1.RuntimeExtensionProviderType, title: "runtime extension", image: extensionImage, kustomization: "config/runtime-extension",
	extensionConfig: true,
}}

func (p provider) at(version string) repository.Provider {
	return repository.Provider{Name: "foo", Type: p.kind, Version: version}
}

// header is the comment at the top of the components, for readers who are about to install them.
const header = `# Foo %s, %s. Install it with clusterctl, which replaces the variables: docs/getting-started.md lists them.
`

// build returns the files of a release, built from the sources in a folder: the components,
// metadata and templates of each provider.
//
//contract:clusterctl/repository
//contract:clusterctl/metadata
//contract:runtime-extension/extensionconfig
func build(sources, version string) (repository.Files, error) {
	files := repository.Files{}
	for _, provider := range providers {
		components, err := components(sources, provider, version)
		if err != nil {
			return nil, err
		}
		at := provider.at(version)
		files[at.ComponentsFile()] = components
		files[path.Join(at.Dir(), repository.MetadataFile)] = templates.Metadata
		if err := addTemplates(files, sources, provider, at.Dir()); err != nil {
			return nil, err
		}
		if !provider.extensionConfig {
			continue
		}
		config, err := os.ReadFile(filepath.Join(sources, filepath.FromSlash(extensionConfigSource)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", provider.title, err)
		}
		files[path.Join(at.Dir(), extensionConfigFile)] = config
	}
	return files, nil
}

// components returns everything that clusterctl installs for a provider.
//
//contract:clusterctl/components
//contract:clusterctl/components-namespace
//contract:clusterctl/components-controllers
//contract:clusterctl/components-variables
//contract:clusterctl/components-labels
//contract:clusterctl/components-transformations
//contract:clusterctl/external-objects
func components(sources string, provider provider, version string) ([]byte, error) {
	objects, err := kustomize.Build(filepath.Join(sources, filepath.FromSlash(provider.kustomization)))
	if err != nil {
		return nil, fmt.Errorf("%s (run it in the root folder of the sources): %w", provider.title, err)
	}
	image := []byte(provider.image.unreleased())
	if found := bytes.Count(objects, image); found != 1 {
		return nil, fmt.Errorf("%s: the image %s occurs %d times, want once", provider.title, image, found)
	}
	objects = bytes.ReplaceAll(objects, image, []byte(provider.image.released(version)))
	return append(fmt.Appendf(nil, header, version, provider.title), objects...), nil
}

// addTemplates adds the cluster templates and ClusterClasses if the provider publishes them.
//
//contract:clusterctl/templates-names
func addTemplates(files repository.Files, sources string, provider provider, dir string) error {
	if !provider.templates {
		return nil
	}
	all, err := flavors.Build(filepath.Join(sources, "templates"))
	if err != nil {
		return fmt.Errorf("%s: %w", provider.title, err)
	}
	for _, template := range all.Files() {
		if err := check(template.File, template.Content); err != nil {
			return err
		}
		files[path.Join(dir, template.File)] = template.Content
	}
	return nil
}

// sums returns the SHA-256 sums of the files, as sha256sum --check reads them.
func sums(files repository.Files) []byte {
	var content bytes.Buffer
	for _, name := range files.Paths() {
		fmt.Fprintf(&content, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	return content.Bytes()
}

// configuration is the part of clusterctl's configuration that is written.
type configuration struct {
	// DisableVersionCheck is a string like all of clusterctl's variables. The check would look for
	// newer versions of clusterctl on the network.
	DisableVersionCheck string `json:"CLUSTERCTL_DISABLE_VERSIONCHECK"`
	// OverridesFolder does not exist, so that no file of the user overrides one in the repository.
	OverridesFolder string             `json:"overridesFolder"`
	Providers       []providerLocation `json:"providers"`
}

type providerLocation struct {
	Name string                    `json:"name"`
	Type clusterctlv1.ProviderType `json:"type"`
	URL  string                    `json:"url"`
}

// clusterctlConfiguration returns the configuration that makes clusterctl use the repository at
// root, an absolute path.
func clusterctlConfiguration(root, version string) ([]byte, error) {
	content := configuration{DisableVersionCheck: "true", OverridesFolder: filepath.Join(root, "no-overrides")}
	for _, provider := range providers {
		at := provider.at(version)
		content.Providers = append(content.Providers, providerLocation{Name: at.Name, Type: at.Type, URL: at.URL(root)})
	}
	return yaml.Marshal(content)
}
