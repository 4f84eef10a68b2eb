// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
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
func LoadCluster(ctx context.Context, kubeconfig, contextName string) ([]*Release, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: contextName}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", kubeconfig, err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", kubeconfig, err)
	}
	providers := map[string]*Release{}
	for _, resource := range clusterResources {
		list, err := client.Resource(resource).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", resource.Resource, err)
		}
		for i := range list.Items {
			provider := list.Items[i].GetLabels()["cluster.x-k8s.io/provider"]
			if provider == "" && resource.Resource == "extensionconfigs" {
				provider = "extensions"
			}
			if provider == "" || provider == "cluster-api" {
				continue
			}
			if providers[provider] == nil {
				providers[provider] = &Release{Dir: provider, Cluster: true, Files: []*File{{Path: provider, Type: Components}}}
			}
			file := providers[provider].Files[0]
			file.Objects = append(file.Objects, Object{Unstructured: &list.Items[i], File: file})
		}
	}
	if len(providers) == 0 {
		return nil, fmt.Errorf("the cluster has no objects with the label cluster.x-k8s.io/provider")
	}
	var releases []*Release
	for _, release := range providers {
		release.prepare()
		releases = append(releases, release)
	}
	slices.SortFunc(releases, func(a, b *Release) int { return strings.Compare(a.Dir, b.Dir) })
	return releases, nil
}
