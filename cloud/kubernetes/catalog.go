// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
)

// Zones implements cloud.Catalog.
func (c *Cloud) Zones(ctx context.Context) ([]cloud.Zone, error) {
	found, err := c.catalog(ctx)
	if err != nil {
		return nil, err
	}
	return found.Catalog.Zones, nil
}

// InstanceTypes implements cloud.Catalog.
func (c *Cloud) InstanceTypes(ctx context.Context) ([]cloud.InstanceType, error) {
	config, err := c.config(ctx)
	if err != nil {
		return nil, err
	}
	return config.types(), nil
}

// types returns the instance types, sorted by name.
func (c *Config) types() []cloud.InstanceType {
	types := make([]cloud.InstanceType, 0, len(c.InstanceTypes))
	for _, size := range c.InstanceTypes {
		types = append(types, cloud.InstanceType{
			Name: size.Name, CPUs: size.CPUs, MemoryBytes: size.Memory.Value(), DiskBytes: size.Disk.Value(), Architecture: size.Architecture,
		})
	}
	return sortedBy(types, func(t cloud.InstanceType) string { return t.Name })
}

// Images implements cloud.Catalog.
func (c *Cloud) Images(ctx context.Context) ([]cloud.Image, error) {
	config, err := c.config(ctx)
	if err != nil {
		return nil, err
	}
	return config.images(), nil
}

// images returns the images, the oldest Kubernetes version first.
func (c *Config) images() []cloud.Image {
	images := make([]cloud.Image, 0, len(c.Images))
	for _, image := range c.Images {
		images = append(images, cloud.Image{Name: image.Name, KubernetesVersion: image.KubernetesVersion})
	}
	rules.SortImages(images)
	return images
}

// Quota implements cloud.Catalog. The namespace's ResourceQuotas set the limits, and everything that
// they count is used, even if it is not Foo's. What they do not limit is counted by types.
func (c *Cloud) Quota(ctx context.Context) (cloud.Quota, error) {
	config, err := c.config(ctx)
	if err != nil {
		return cloud.Quota{}, err
	}
	used, err := c.used(ctx, config)
	if err != nil {
		return cloud.Quota{}, err
	}
	quotas, err := c.api.ResourceQuotas(c.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return cloud.Quota{}, c.translate(err)
	}
	result := cloud.Quota{Used: used}
	for i := range quotas.Items {
		if spec := quotas.Items[i].Spec; len(spec.Scopes) == 0 && spec.ScopeSelector == nil {
			tighten(&result, quotas.Items[i].Status, config)
		}
	}
	return result, nil
}

// used counts what the instances and load balancers of the namespace use.
func (c *Cloud) used(ctx context.Context, config *Config) (cloud.Resources, error) {
	instances, err := c.ListInstances(ctx, cloud.InstanceFilter{})
	if err != nil {
		return cloud.Resources{}, err
	}
	services, err := c.services().List(ctx, metav1.ListOptions{LabelSelector: selector(kindLoadBalancer, nil, nil)})
	if err != nil {
		return cloud.Resources{}, c.translate(err)
	}
	used := cloud.Resources{Instances: len(instances), LoadBalancers: len(services.Items)}
	for _, instance := range instances {
		size := config.size(instance.Type)
		used.CPUs += size.CPUs
		used.MemoryBytes += size.Memory.Value()
	}
	return used, nil
}

// tighten applies a ResourceQuota, if it is tighter than those before.
func tighten(quota *cloud.Quota, status corev1.ResourceQuotaStatus, config *Config) {
	for name, hard := range status.Hard {
		limit, used := hard.Value(), status.Used[name]
		if name == corev1.ResourceServicesNodePorts || name == corev1.ResourceServicesLoadBalancers && config.serviceType() != corev1.ServiceTypeLoadBalancer {
			continue
		}
		if config.requestsLess(name) { // what instances need is counted by types
			continue
		}
		switch resourceName(string(name)) {
		case "instances":
			smallest(&quota.Limits.Instances, &quota.Used.Instances, int(limit), int(used.Value()))
		case "cpus":
			smallest(&quota.Limits.CPUs, &quota.Used.CPUs, int(hard.MilliValue()/1000), int(used.Value()))
		case "memoryBytes":
			smallest(&quota.Limits.MemoryBytes, &quota.Used.MemoryBytes, limit, used.Value())
		case "loadBalancers":
			smallest(&quota.Limits.LoadBalancers, &quota.Used.LoadBalancers, int(limit), int(used.Value()))
		}
	}
}

// requestsLess reports whether Pods may request less of a resource than their type has.
func (c *Config) requestsLess(limited corev1.ResourceName) bool {
	requested := corev1.ResourceName(strings.TrimPrefix(string(limited), "requests."))
	return slices.ContainsFunc(c.InstanceTypes, func(size InstanceType) bool {
		_, less := size.Requests[requested]
		return less
	})
}

// smallest replaces a limit and what is used of it by another one that leaves less room. Zero would
// mean no limit, so nothing is left if the limit is zero.
func smallest[N int | int64](limit, used *N, otherLimit, otherUsed N) {
	if otherLimit < 1 {
		otherLimit, otherUsed = 1, max(otherUsed, 1)
	}
	if *limit == 0 || otherLimit-otherUsed < *limit-*used {
		*limit, *used = otherLimit, otherUsed
	}
}
