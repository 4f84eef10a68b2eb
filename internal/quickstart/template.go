// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"fmt"
	"os"
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	clusterctl "sigs.k8s.io/cluster-api/cmd/clusterctl/client"
	clusterctlconfig "sigs.k8s.io/cluster-api/cmd/clusterctl/client/config"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

// templateVersion is the version of the template in the local repository.
const templateVersion = "v0.1.0"

// renderTemplate writes a temporary clusterctl repository and lets clusterctl render
// the flavor fast from it, like `clusterctl generate cluster --flavor fast`. This flavor suits a
// quickstart: the user is waiting, and nobody relies on the cluster's data. Variables of the
// template come from the environment.
func renderTemplate(ctx context.Context, config Config) ([]unstructured.Unstructured, error) {
	// Several clusters may be created at the same time.
	folder, err := os.MkdirTemp(config.StateDir, "repository-")
	if err != nil {
		return nil, fmt.Errorf("write template repository: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	url, err := writeRepository(folder)
	if err != nil {
		return nil, fmt.Errorf("write template repository: %w", err)
	}
	// A separate reader prevents clusterctl from reading and creating files in the user's home
	// folder.
	reader := clusterctlconfig.NewMemoryReader()
	if _, err := reader.AddProvider("foo", clusterctlv1.InfrastructureProviderType, url); err != nil {
		return nil, err
	}
	settings, err := clusterctlconfig.New(ctx, "", clusterctlconfig.InjectReader(reader))
	if err != nil {
		return nil, err
	}
	client, err := clusterctl.New(ctx, "", clusterctl.InjectConfig(settings))
	if err != nil {
		return nil, err
	}
	options := clusterctl.GetClusterTemplateOptions{
		ProviderRepositorySource: &clusterctl.ProviderRepositorySourceOptions{
			InfrastructureProvider: "foo:" + templateVersion, Flavor: flavors.Fast,
		},
		TargetNamespace:          config.Namespace,
		ClusterName:              config.ClusterName,
		KubernetesVersion:        config.KubernetesVersion,
		ControlPlaneMachineCount: ptr.To(int64(config.ControlPlaneMachineCount)),
		WorkerMachineCount:       ptr.To(int64(config.WorkerMachineCount)),
	}
	listing := options
	listing.ListVariablesOnly = true
	unrendered, err := client.GetClusterTemplate(ctx, listing)
	if err != nil {
		return nil, fmt.Errorf("read cluster template: %w", err)
	}
	for _, name := range unrendered.Variables() {
		if value, ok := os.LookupEnv(name); ok {
			reader.Set(name, value)
		}
	}
	rendered, err := client.GetClusterTemplate(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("render cluster template: %w", err)
	}
	return rendered.Objs(), nil
}

// writeRepository writes a repository with the template, and returns the configuration by which
// clusterctl finds it.
func writeRepository(root string) (string, error) {
	template, err := flavors.Get(flavors.Fast)
	if err != nil {
		return "", err
	}
	metadata, err := yaml.Marshal(clusterctlv1.Metadata{
		TypeMeta:      metav1.TypeMeta{APIVersion: clusterctlv1.GroupVersion.String(), Kind: "Metadata"},
		ReleaseSeries: []clusterctlv1.ReleaseSeries{{Major: 0, Minor: 1, Contract: clusterv1.GroupVersion.Version}},
	})
	if err != nil {
		return "", err
	}
	provider := repository.Provider{Name: "foo", Type: clusterctlv1.InfrastructureProviderType, Version: templateVersion}
	files := repository.Files{
		path.Join(provider.Dir(), "cluster-template-"+flavors.Fast+".yaml"): template,
		path.Join(provider.Dir(), repository.MetadataFile):                  metadata,
		// It must exist even though rendering does not use it.
		provider.ComponentsFile(): nil,
	}
	return provider.URL(root), files.Write(root)
}
