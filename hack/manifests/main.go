// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command manifests writes the components that the quickstart installs, named as in a clusterctl
// repository. The components of Cluster API come from the module that the programs are built from,
// so they have its version and nothing is downloaded. The CRDs of cert-manager come from its
// module, because clusterctl checks whether they are installed. Run it in the root folder.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/internal/kustomize"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

// source is a module, and the mod file that requires it.
type source struct{ module, modfile string }

var (
	foo         = source{}
	clusterAPI  = source{module: "sigs.k8s.io/cluster-api", modfile: "go.mod"}
	certManager = source{module: "github.com/cert-manager/cert-manager", modfile: "hack/tools/cert-manager.mod"}
	inMemory    = source{module: "sigs.k8s.io/cluster-api/test", modfile: "hack/tools/inmemory.mod"}
	upstream    = source{module: "sigs.k8s.io/cluster-api/test", modfile: "test/upstream/go.mod"}
)

// manifest is what a file to write consists of: files, or kustomizations to build.
type manifest struct {
	source source
	paths  []string
}

// These are of providers that only tests use, so the quickstart does not download their module.
var (
	inMemoryManifests = map[string]manifest{
		"infrastructure-in-memory/infrastructure-components.yaml": {inMemory, []string{"infrastructure/docker/config/default"}},
	}
	extensionManifests = map[string]manifest{
		"runtime-extension-test-extension/runtime-extension-components.yaml": {upstream, []string{"extension/config/default"}},
		"runtime-extension-test-extension/metadata.yaml":                     {clusterAPI, []string{"metadata.yaml"}},
	}
)

// manifests maps each file to write to its contents.
var manifests = map[string]manifest{
	// All of Foo, for one manager that runs both providers.
	"foo/foo-components.yaml":                                 {foo, []string{"config/default"}},
	"control-plane-foo/control-plane-components.yaml":         {foo, []string{"config/control-plane"}},
	"infrastructure-foo/infrastructure-components.yaml":       {foo, []string{"config/infrastructure"}},
	"runtime-extension-foo/runtime-extension-components.yaml": {foo, []string{"config/runtime-extension"}},
	"runtime-extension-foo/extensionconfig.yaml":              {foo, []string{"config/extensionconfig/extensionconfig.yaml"}},
	"cluster-api/core-components.yaml":                        {clusterAPI, []string{"core/config/default"}},
	"cluster-api/metadata.yaml":                               {clusterAPI, []string{"metadata.yaml"}},
	"bootstrap-kubeadm/bootstrap-components.yaml":             {clusterAPI, []string{"bootstrap/kubeadm/config/default"}},
	"bootstrap-kubeadm/metadata.yaml":                         {clusterAPI, []string{"metadata.yaml"}},
	"control-plane-kubeadm/control-plane-components.yaml":     {clusterAPI, []string{"controlplane/kubeadm/config/default"}},
	"control-plane-kubeadm/metadata.yaml":                     {clusterAPI, []string{"metadata.yaml"}},
	// The kinds that the components of providers use.
	"cert-manager/cert-manager.crds.yaml": {certManager, []string{
		"deploy/crds/crd-certificates.yaml", "deploy/crds/crd-issuers.yaml",
	}},
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
		var parts [][]byte
		for _, path := range manifest.paths {
			read := kustomize.Build
			if strings.HasSuffix(path, ".yaml") {
				read = readFile
			}
			content, err := read(filepath.Join(folders[manifest.source], path))
			if err != nil {
				return err
			}
			parts = append(parts, content)
		}
		files[file] = bytes.Join(parts, []byte("---\n"))
	}
	return files.Write(output)
}

// helm matches the lines of a file that are templates, which set labels of a Helm release.
var helm = regexp.MustCompile(`(?m)^.*{{.*\n`)

func readFile(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	return helm.ReplaceAll(content, nil), err
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
