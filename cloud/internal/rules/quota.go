// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import "github.com/capfoo/cluster-api-provider-foo/cloud"

// Names of the limited resources, as used in a QuotaExceededError.
const (
	resourceInstances     = "instances"
	resourceCPUs          = "cpus"
	resourceMemory        = "memoryBytes"
	resourceLoadBalancers = "loadBalancers"
)

// CheckQuota returns a QuotaExceededError for the first limit that the request exceeds. A limit of
// zero means no limit.
func CheckQuota(quota cloud.Quota, want cloud.Resources) error {
	for _, line := range []struct {
		resource           string
		limit, used, wants int64
	}{
		{resourceInstances, int64(quota.Limits.Instances), int64(quota.Used.Instances), int64(want.Instances)},
		{resourceCPUs, int64(quota.Limits.CPUs), int64(quota.Used.CPUs), int64(want.CPUs)},
		{resourceMemory, quota.Limits.MemoryBytes, quota.Used.MemoryBytes, want.MemoryBytes},
		{resourceLoadBalancers, int64(quota.Limits.LoadBalancers), int64(quota.Used.LoadBalancers), int64(want.LoadBalancers)},
	} {
		if line.limit > 0 && line.wants > 0 && line.used+line.wants > line.limit {
			return &cloud.QuotaExceededError{
				Resource: line.resource, Limit: line.limit, Used: line.used, Requested: line.wants,
			}
		}
	}
	return nil
}
