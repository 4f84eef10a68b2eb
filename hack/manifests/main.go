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

// Command manifests writes the components that the quickstart installs. For each provider of Cluster API that is the
// YAML that its own release holds, built by kustomize from the provider's module: so it always has the version of the
// module that the programs are built from, and nothing is downloaded. For Foo it is what config/default holds.
//
// Files are named as in a clusterctl repository: <output>/cluster-api/core-components.yaml. Run it in the root folder.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/hack/kustomize"
)

const module = "sigs.k8s.io/cluster-api"

// fooComponents maps each file to write onto the kustomization of this module that it is built from.
var fooComponents = map[string]string{
	// All of Foo, for one manager that runs both providers.
	"foo/foo-components.yaml":                           "config/default",
	"control-plane-foo/control-plane-components.yaml":   "config/control-plane",
	"infrastructure-foo/infrastructure-components.yaml": "config/infrastructure",
}

// components maps each file to write onto the kustomization that it is built from, inside the module.
var components = map[string]string{
	"cluster-api/core-components.yaml":                    "core/config/default",
	"bootstrap-kubeadm/bootstrap-components.yaml":         "bootstrap/kubeadm/config/default",
	"control-plane-kubeadm/control-plane-components.yaml": "controlplane/kubeadm/config/default",
}

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
	if err := build(output, source, components); err != nil {
		return err
	}
	return build(output, ".", fooComponents)
}

// build writes each file, built from its kustomization in the folder source.
func build(output, source string, files map[string]string) error {
	for file, kustomization := range files {
		content, err := kustomize.Build(filepath.Join(source, kustomization))
		if err != nil {
			return err
		}
		if err := write(filepath.Join(output, file), content); err != nil {
			return err
		}
	}
	return nil
}

// moduleDir returns the folder that holds the source of a module that this one requires.
func moduleDir(path string) (string, error) {
	command := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Dir}}", path)
	command.Stderr = os.Stderr
	dir, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("find module %s: %w", path, err)
	}
	return strings.TrimSpace(string(dir)), nil
}

func write(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}
