/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path"
	"path/filepath"

	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/hack/kustomize"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
	"github.com/capfoo/cluster-api-provider-foo/templates"
)

// Files at the root of the repository.
const (
	configurationFile = "clusterctl.yaml"
	sumsFile          = "SHA256SUMS"
)

// provider is one of the providers that a release holds.
type provider struct {
	kind clusterctlv1.ProviderType
	// title names the provider in a sentence.
	title string
	// kustomization is the folder, among the sources, that its components are built from.
	kustomization string
	// templates are the cluster templates by file name.
	templates map[string][]byte
}

var providers = []provider{{
	kind: clusterctlv1.ControlPlaneProviderType, title: "control plane provider", kustomization: "config/control-plane",
}, {
	kind: clusterctlv1.InfrastructureProviderType, title: "infrastructure provider", kustomization: "config/infrastructure",
	templates: map[string][]byte{repository.TemplateFile: templates.Cluster},
}}

func (p provider) at(version string) repository.Provider {
	return repository.Provider{Name: "foo", Type: p.kind, Version: version}
}

// header stands at the top of the components, where whoever is about to install them reads it.
const header = `# Foo %s, %s: its CRDs, its webhook configurations, and the namespace, service account and roles
# for its controllers.
#
# The manager is not part of this: there is no container image or Deployment here, so installing it starts nothing, and the
# Service that the webhooks are called through leads nowhere: no object of Foo's kinds can be written until a manager is behind it.
# In this version the manager runs as a process. "make quickstart" in Foo's sources starts it, with all that it needs.
`

// build returns what a release publishes, from the sources in a folder.
func build(sources, version string) (repository.Files, error) {
	files := repository.Files{}
	for _, provider := range providers {
		objects, err := kustomize.Build(filepath.Join(sources, filepath.FromSlash(provider.kustomization)))
		if err != nil {
			return nil, fmt.Errorf("%s (run it in the root folder of the sources): %w", provider.title, err)
		}
		at := provider.at(version)
		files[at.ComponentsFile()] = append(fmt.Appendf(nil, header, version, provider.title), objects...)
		files[path.Join(at.Dir(), repository.MetadataFile)] = templates.Metadata
		for name, template := range provider.templates {
			files[path.Join(at.Dir(), name)] = template
		}
	}
	return files, nil
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
	// DisableVersionCheck is a string, as clusterctl's variables are. The check would ask the network for newer versions
	// of clusterctl.
	DisableVersionCheck string `json:"CLUSTERCTL_DISABLE_VERSIONCHECK"`
	// OverridesFolder is not there, so that no file of the user's own takes the place of one in the repository.
	OverridesFolder string             `json:"overridesFolder"`
	Providers       []providerLocation `json:"providers"`
}

type providerLocation struct {
	Name string                    `json:"name"`
	Type clusterctlv1.ProviderType `json:"type"`
	URL  string                    `json:"url"`
}

// clusterctlConfiguration returns what makes clusterctl use the repository at root, an absolute path.
func clusterctlConfiguration(root, version string) ([]byte, error) {
	content := configuration{DisableVersionCheck: "true", OverridesFolder: filepath.Join(root, "no-overrides")}
	for _, provider := range providers {
		at := provider.at(version)
		content.Providers = append(content.Providers, providerLocation{Name: at.Name, Type: at.Type, URL: at.URL(root)})
	}
	return yaml.Marshal(content)
}
