// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// clusterResources are what a management cluster has of a provider.
var clusterResources = []schema.GroupVersionResource{
	{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	{Version: "v1", Resource: "services"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "runtime.cluster.x-k8s.io", Version: "v1beta2", Resource: "extensionconfigs"},
}

// LoadCluster reads the providers of a management cluster. Objects without the label of a provider
// are left out, except configurations of runtime extensions.
func LoadCluster(ctx context.Context, client dynamic.Interface) ([]*Release, error) {
	providers := map[string]*Release{}
	for _, resource := range clusterResources {
		list, err := client.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("list %s: %w", resource.Resource, err)
		}
		if err == nil {
			sortIn(providers, list.Items)
		}
	}
	if len(providers) == 0 {
		return nil, errors.New("the cluster has no objects with the label cluster.x-k8s.io/provider")
	}
	releases := make([]*Release, 0, len(providers))
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		providers[name].prepare()
		releases = append(releases, providers[name])
	}
	return releases, nil
}

// sortIn adds objects to the releases of their providers.
func sortIn(providers map[string]*Release, objects []unstructured.Unstructured) {
	for i := range objects {
		provider := objects[i].GetLabels()["cluster.x-k8s.io/provider"]
		if provider == "" && objects[i].GetKind() == "ExtensionConfig" {
			provider = "extensions"
		}
		if provider == "" || provider == "cluster-api" {
			continue
		}
		if providers[provider] == nil {
			providers[provider] = &Release{Dir: provider, Cluster: true, Files: []*File{{Path: provider, Type: Components}}}
		}
		file := providers[provider].Files[0]
		file.Objects = append(file.Objects, Object{Unstructured: &objects[i], File: file})
	}
}
