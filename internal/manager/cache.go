// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cacheOptions caches the metadata of all Secrets, because nothing says beforehand which of them a
// user names, but the data of none.
func cacheOptions(opts *Options) cache.Options {
	return cache.Options{
		SyncPeriod:        opts.base.Cache.SyncPeriod,
		DefaultTransform:  cache.TransformStripManagedFields(),
		DefaultNamespaces: namespaces(opts),
		ByObject:          map[client.Object]cache.ByObject{&corev1.Secret{}: {Transform: withoutData}},
	}
}

func namespaces(opts *Options) map[string]cache.Config {
	if opts.Namespace == "" {
		return nil
	}
	return map[string]cache.Config{opts.Namespace: {}}
}

// withoutData removes what may hold a Secret's data, including annotations, where kubectl leaves a
// copy. Watches ask for metadata only; a Secret that is read as a whole would look empty rather
// than stay in memory.
func withoutData(object any) (any, error) {
	if secret, ok := object.(*corev1.Secret); ok {
		secret.Data = nil
	}
	if metadata, err := meta.Accessor(object); err == nil {
		metadata.SetAnnotations(nil)
		metadata.SetManagedFields(nil)
	}
	return object, nil
}

// having selects objects that have a label.
func having(key string) labels.Selector {
	// The key is a constant and a valid label key, so there can be no error.
	requirement, _ := labels.NewRequirement(key, selection.Exists, nil)
	return labels.NewSelector().Add(*requirement)
}

// clientOptions makes the client read Secrets and ConfigMaps from the API server, so that it never
// acts on a stale one.
func clientOptions() client.Options {
	return client.Options{Cache: &client.CacheOptions{
		DisableFor:   []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}},
		Unstructured: true,
	}}
}

// CachedSecretClient returns a client that reads the Secrets of Clusters, such as their
// kubeconfigs, from its own cache. It finds no other Secrets.
func CachedSecretClient(mgr ctrl.Manager, opts *Options) (client.Client, error) {
	secrets, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		DefaultTransform: cache.TransformStripManagedFields(), DefaultNamespaces: namespaces(opts),
		ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {Label: having(clusterv1.ClusterNameLabel)}},
	})
	if err != nil {
		return nil, fmt.Errorf("cache of Secrets: %w", err)
	}
	if err := mgr.Add(secrets); err != nil {
		return nil, fmt.Errorf("cache of Secrets: %w", err)
	}
	reading, err := client.New(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		Cache: &client.CacheOptions{Reader: secrets},
	})
	if err != nil {
		return nil, fmt.Errorf("client for Secrets: %w", err)
	}
	return reading, nil
}
