// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command manifests writes the components that the quickstart installs, named as in a clusterctl
// repository. The components of Cluster API come from the module that the programs are built from,
// so they have its version and nothing is downloaded. Run it in the root folder.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/internal/kustomize"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

// source is a module, and the mod file that requires it.
type source struct{ module, modfile string }

var (
	foo        = source{}
	clusterAPI = source{module: "sigs.k8s.io/cluster-api", modfile: "go.mod"}
	inMemory   = source{module: "sigs.k8s.io/cluster-api/test", modfile: "hack/tools/inmemory.mod"}
	upstream   = source{module: "sigs.k8s.io/cluster-api/test", modfile: "test/upstream/go.mod"}
)

// manifest is a file to write: a file of its source, or a kustomization to build.
type manifest struct {
	source source
	path   string
}

// These are of providers that only tests use, so the quickstart does not download their module.
var (
	inMemoryManifests = map[string]manifest{
		"infrastructure-in-memory/infrastructure-components.yaml": {inMemory, "infrastructure/docker/config/default"},
	}
	extensionManifests = map[string]manifest{
		"runtime-extension-test-extension/runtime-extension-components.yaml": {upstream, "extension/config/default"},
		"runtime-extension-test-extension/metadata.yaml":                     {clusterAPI, "metadata.yaml"},
	}
)

// manifests maps each file to write to its contents.
var manifests = map[string]manifest{
	// All of Foo, for one manager that runs both providers.
	"foo/foo-components.yaml":                                 {foo, "config/default"},
	"control-plane-foo/control-plane-components.yaml":         {foo, "config/control-plane"},
	"infrastructure-foo/infrastructure-components.yaml":       {foo, "config/infrastructure"},
	"runtime-extension-foo/runtime-extension-components.yaml": {foo, "config/runtime-extension"},
	"runtime-extension-foo/extensionconfig.yaml":              {foo, "config/extensionconfig/extensionconfig.yaml"},
	"cluster-api/core-components.yaml":                        {clusterAPI, "core/config/default"},
	"cluster-api/metadata.yaml":                               {clusterAPI, "metadata.yaml"},
	"bootstrap-kubeadm/bootstrap-components.yaml":             {clusterAPI, "bootstrap/kubeadm/config/default"},
	"bootstrap-kubeadm/metadata.yaml":                         {clusterAPI, "metadata.yaml"},
	"control-plane-kubeadm/control-plane-components.yaml":     {clusterAPI, "controlplane/kubeadm/config/default"},
	"control-plane-kubeadm/metadata.yaml":                     {clusterAPI, "metadata.yaml"},
}

func main() {
	output := flag.String("output", "bin/manifests", "folder to write to")
	onlyInMemory := flag.Bool("in-memory", false, "write only the components of Cluster API's in-memory provider")
	onlyExtension := flag.Bool("test-extension", false, "write only the components of Cluster API's test extension")
	flag.Parse()
	switch {
	case *onlyInMemory:
		manifests = inMemoryManifests
	case *onlyExtension:
		manifests = extensionManifests
	}
	if err := run(*output); err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(1)
	}
}

func run(output string) error {
	folders := map[source]string{foo: "."}
	files := repository.Files{}
	for file, manifest := range manifests {
		if folders[manifest.source] == "" {
			folder, err := manifest.source.folder()
			if err != nil {
				return err
			}
			folders[manifest.source] = folder
		}
		read := kustomize.Build
		if strings.HasSuffix(manifest.path, ".yaml") {
			read = os.ReadFile
		}
		content, err := read(filepath.Join(folders[manifest.source], manifest.path))
		if err != nil {
			return err
		}
		files[file] = content
	}
	return files.Write(output)
}

// folder returns the folder of the module, which Go downloads unless it is there.
func (s source) folder() (string, error) {
	command := exec.CommandContext(context.Background(), "go", "mod", "download", "-json", "-modfile="+filepath.Base(s.modfile), s.module)
	command.Dir, command.Stderr = filepath.Dir(s.modfile), os.Stderr
	answer, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("download module %s: %w", s.module, err)
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(answer, &found); err != nil {
		return "", fmt.Errorf("download module %s: %w", s.module, err)
	}
	return found.Dir, nil
}
