// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command manifests writes the components that the quickstart installs. For each provider of
// Cluster API, this is the YAML of its release, built by kustomize from the provider's module. So
// it always has the version of the module that the programs are built from, and nothing is
// downloaded. For Foo, it is the content of config/default.
//
// Files are named as in a clusterctl repository: <output>/cluster-api/core-components.yaml, with
// Cluster API's own metadata next to them. The CRDs of cert-manager come from its module, because
// clusterctl checks whether they are installed. Run it in the root folder.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/hack/kustomize"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

const module = "sigs.k8s.io/cluster-api"

// fooComponents maps each file to write to the kustomization of this module that it is built from.
var fooComponents = map[string]string{
	// All of Foo, for one manager that runs both providers.
	"foo/foo-components.yaml":                                 "config/default",
	"control-plane-foo/control-plane-components.yaml":         "config/control-plane",
	"infrastructure-foo/infrastructure-components.yaml":       "config/infrastructure",
	"runtime-extension-foo/runtime-extension-components.yaml": "config/runtime-extension",
}

// components maps each file to write to the kustomization inside the module that it is built from.
var components = map[string]string{
	"cluster-api/core-components.yaml":                    "core/config/default",
	"bootstrap-kubeadm/bootstrap-components.yaml":         "bootstrap/kubeadm/config/default",
	"control-plane-kubeadm/control-plane-components.yaml": "controlplane/kubeadm/config/default",
}

// cert-manager's module, and the file in hack/tools that pins it.
const (
	certManagerModule = "github.com/cert-manager/cert-manager"
	certManagerPin    = "cert-manager.mod"
	certManagerFile   = "cert-manager/cert-manager.crds.yaml"
)

// certManagerCRDs lists the kinds that the components of providers use.
var certManagerCRDs = []string{"cert-manager.io_certificates.yaml", "cert-manager.io_issuers.yaml"}

func main() {
	output := flag.String("output", "bin/manifests", "folder to write to")
	flag.Parse()
	if err := run(*output); err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(1)
	}
}

func run(output string) error {
	source, err := moduleDir(module)
	if err != nil {
		return err
	}
	files := repository.Files{}
	if err := build(files, source, components); err != nil {
		return err
	}
	if err := build(files, ".", fooComponents); err != nil {
		return err
	}
	extensionConfig, err := os.ReadFile("config/extensionconfig/extensionconfig.yaml")
	if err != nil {
		return fmt.Errorf("run it in the root folder: %w", err)
	}
	files["runtime-extension-foo/extensionconfig.yaml"] = extensionConfig
	metadata, err := os.ReadFile(filepath.Join(source, repository.MetadataFile))
	if err != nil {
		return err
	}
	for file := range components {
		files[path.Join(path.Dir(file), repository.MetadataFile)] = metadata
	}
	if files[certManagerFile], err = certManager(); err != nil {
		return err
	}
	return files.Write(output)
}

// build adds each file, built from its kustomization in the folder source.
func build(files repository.Files, source string, from map[string]string) error {
	for file, kustomization := range from {
		content, err := kustomize.Build(filepath.Join(source, kustomization))
		if err != nil {
			return err
		}
		files[file] = content
	}
	return nil
}

// certManager returns the CRDs of cert-manager.
func certManager() ([]byte, error) {
	source, err := downloadModule(certManagerModule, certManagerPin)
	if err != nil {
		return nil, err
	}
	var all []byte
	for _, name := range certManagerCRDs {
		content, err := os.ReadFile(filepath.Join(source, "deploy/crds", name))
		if err != nil {
			return nil, err
		}
		all = append(append(all, "---\n"...), content...)
	}
	return all, nil
}

// moduleDir returns the source folder of a module that this one requires.
func moduleDir(path string) (string, error) {
	command := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Dir}}", path)
	command.Stderr = os.Stderr
	dir, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("find module %s: %w", path, err)
	}
	return strings.TrimSpace(string(dir)), nil
}

// downloadModule returns the source folder of a module that only a file in hack/tools requires.
func downloadModule(path, pin string) (string, error) {
	command := exec.CommandContext(context.Background(), "go", "mod", "download", "-modfile="+pin, "-json", path)
	command.Dir = "hack/tools"
	command.Stderr = os.Stderr
	answer, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("download module %s: %w", path, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(answer, &module); err != nil {
		return "", fmt.Errorf("download module %s: %w", path, err)
	}
	return module.Dir, nil
}
