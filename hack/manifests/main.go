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
// module that the programs are built from, and nothing is downloaded. For Foo it is what config holds.
//
// Files are named as in a clusterctl repository: <output>/cluster-api/core-components.yaml. Run it in the root folder.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const module = "sigs.k8s.io/cluster-api"

// components maps each file to write onto the kustomization that it is built from, inside the module.
var components = map[string]string{
	"cluster-api/core-components.yaml":            "core/config/default",
	"bootstrap-kubeadm/bootstrap-components.yaml": "bootstrap/kubeadm/config/default",
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
	for file, kustomization := range components {
		content, err := build(filepath.Join(source, kustomization))
		if err != nil {
			return err
		}
		if err := write(filepath.Join(output, file), content); err != nil {
			return err
		}
	}
	foo, err := fooComponents()
	if err != nil {
		return err
	}
	return write(filepath.Join(output, "foo/foo-components.yaml"), foo)
}

// fooComponents returns Foo's CRDs, roles and service account, with the namespace that these are in.
func fooComponents() ([]byte, error) {
	crds, err := filepath.Glob("config/crd/bases/*.yaml")
	if err != nil {
		return nil, err
	}
	if len(crds) == 0 {
		return nil, errors.New("config/crd/bases has no CRDs; run it in the root folder, after make generate")
	}
	documents := [][]byte{[]byte("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: foo-system\n")}
	for _, path := range crds {
		crd, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		documents = append(documents, crd)
	}
	rbac, err := build("config/rbac")
	if err != nil {
		return nil, err
	}
	return bytes.Join(append(documents, rbac), []byte("---\n")), nil
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

func build(kustomization string) ([]byte, error) {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), kustomization)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", kustomization, err)
	}
	content, err := resources.AsYaml()
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", kustomization, err)
	}
	return content, nil
}

func write(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o600)
}
