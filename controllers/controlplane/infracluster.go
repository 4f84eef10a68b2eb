// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// cacheOnceSynced reads from the cache, or from the API server until the cache has synced the kind.
// Without permission to list a kind, the cache would block until the reconcile times out; the API
// server rejects the request at once.
type cacheOnceSynced struct {
	client.Reader
	cache cache.Cache
	live  client.Reader
}

func (r cacheOnceSynced) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	informer, err := r.cache.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching %T: %w", object, err)
	}
	if !informer.HasSynced() {
		return r.live.Get(ctx, key, object, options...)
	}
	return r.Reader.Get(ctx, key, object, options...)
}

// infraCluster is what an infrastructure cluster reports according to the contract, in either
// version.
type infraCluster struct {
	Endpoint       clusterv1.APIEndpoint
	FailureDomains []clusterv1.FailureDomain
	Provisioned    bool
}

// readInfraCluster reads an infrastructure cluster of any provider. It treats malformed fields as
// missing.
func readInfraCluster(object *unstructured.Unstructured) infraCluster {
	host, _, _ := unstructured.NestedString(object.Object, "spec", "controlPlaneEndpoint", "host")
	port, _, _ := unstructured.NestedInt64(object.Object, "spec", "controlPlaneEndpoint", "port")
	return infraCluster{
		Endpoint:       clusterv1.APIEndpoint{Host: host, Port: int32(port)},
		FailureDomains: readFailureDomains(object),
		Provisioned:    provisioned(object),
	}
}

// provisioned reads status.initialization.provisioned, or status.ready of the v1beta1 contract.
func provisioned(object *unstructured.Unstructured) bool {
	if done, ok, err := unstructured.NestedBool(object.Object, "status", "initialization", "provisioned"); ok && err == nil {
		return done
	}
	ready, _, _ := unstructured.NestedBool(object.Object, "status", "ready")
	return ready
}

// readFailureDomains reads a list, or the map of the v1beta1 contract.
func readFailureDomains(object *unstructured.Unstructured) []clusterv1.FailureDomain {
	if list, ok, err := unstructured.NestedSlice(object.Object, "status", "failureDomains"); ok && err == nil {
		return failureDomainsFromList(list)
	}
	byName, _, err := unstructured.NestedMap(object.Object, "status", "failureDomains")
	if err != nil {
		return nil
	}
	var domains []clusterv1.FailureDomain
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		spec, _ := byName[name].(map[string]any)
		controlPlane, _ := spec["controlPlane"].(bool)
		domains = append(domains, clusterv1.FailureDomain{Name: name, ControlPlane: ptr.To(controlPlane)})
	}
	return domains
}

func failureDomainsFromList(list []any) []clusterv1.FailureDomain {
	var domains []clusterv1.FailureDomain
	for _, item := range list {
		fields, ok := item.(map[string]any)
		if !ok {
			continue
		}
		domain := clusterv1.FailureDomain{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &domain); err == nil {
			domains = append(domains, domain)
		}
	}
	return domains
}

func forControlPlane(domains []clusterv1.FailureDomain) []clusterv1.FailureDomain {
	return slices.DeleteFunc(slices.Clone(domains), func(domain clusterv1.FailureDomain) bool {
		return !ptr.Deref(domain.ControlPlane, false)
	})
}
