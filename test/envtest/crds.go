// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package envtestenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

const (
	fooModule        = "github.com/capfoo/cluster-api-provider-foo"
	clusterAPIModule = "sigs.k8s.io/cluster-api"
	contractVersion  = "v1beta2"
)

// folders are the roots of the two modules with CRDs.
type folders struct {
	foo, clusterAPI string
}

func findFolders(ctx context.Context) (folders, error) {
	output, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", fooModule, clusterAPIModule).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return folders{}, fmt.Errorf("finding the modules %s and %s: %w: %s", fooModule, clusterAPIModule, err, exit.Stderr)
		}
		return folders{}, fmt.Errorf("finding the modules %s and %s: %w", fooModule, clusterAPIModule, err)
	}
	lines := strings.Fields(string(output))
	if len(lines) != 2 {
		return folders{}, fmt.Errorf("finding the modules %s and %s: go list answered %q", fooModule, clusterAPIModule, output)
	}
	return folders{foo: lines[0], clusterAPI: lines[1]}, nil
}

func (f folders) crdFolders() []string {
	return []string{
		filepath.Join(f.foo, "config", "crd", "*", "bases"),
		filepath.Join(f.clusterAPI, "core", "config", "crd", "bases"),
		filepath.Join(f.clusterAPI, "bootstrap", "kubeadm", "config", "crd", "bases"),
		filepath.Join(f.clusterAPI, "controlplane", "kubeadm", "config", "crd", "bases"),
	}
}

// webhooks returns the options that make the kube-apiserver call Foo's webhooks.
func (f folders) webhooks() envtest.WebhookInstallOptions {
	config := filepath.Join(f.foo, "config", "webhook")
	return envtest.WebhookInstallOptions{
		Paths: []string{filepath.Join(config, "control-plane", "manifests.yaml"), filepath.Join(config, "infrastructure", "manifests.yaml")},
		// Foo's kinds do not implement conversion themselves: only the conversion package does.
		IgnoreSchemeConvertible: true,
	}
}

// loadCRDs reads all CRDs of the folders.
func loadCRDs(crdFolders []string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, folder := range crdFolders {
		paths, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil {
			return nil, fmt.Errorf("listing CRDs: %w", err)
		}
		if len(paths) == 0 {
			return nil, fmt.Errorf("no CRD in %s", folder)
		}
		for _, path := range paths {
			crd, err := loadCRD(path)
			if err != nil {
				return nil, err
			}
			crds = append(crds, crd)
		}
	}
	return crds, nil
}

func loadCRD(path string) (*apiextensionsv1.CustomResourceDefinition, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a CRD: %w", err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		return nil, fmt.Errorf("reading the CRD in %s: %w", path, err)
	}
	// Without a webhook server, objects of a CRD with a conversion webhook could not be read; with
	// webhooks, envtest configures conversion itself.
	crd.Spec.Conversion = nil
	labelContract(crd)
	return crd, nil
}

// labelContract adds the contract label that Cluster API's own CRDs get only from kustomize.
// Controllers use it to find the version of a referenced object.
func labelContract(crd *apiextensionsv1.CustomResourceDefinition) {
	key := clusterv1.GroupVersion.Group + "/" + contractVersion
	if _, ok := crd.Labels[key]; ok {
		return
	}
	for _, version := range crd.Spec.Versions {
		if version.Name != contractVersion {
			continue
		}
		if crd.Labels == nil {
			crd.Labels = map[string]string{}
		}
		crd.Labels[key] = contractVersion
	}
}
