// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

func TestCheckQuota(t *testing.T) {
	full := cloud.Resources{Instances: 2, CPUs: 4, MemoryBytes: 8, LoadBalancers: 1}
	one := cloud.Resources{Instances: 1, CPUs: 2, MemoryBytes: 4}
	for _, test := range []struct {
		name         string
		limits, used cloud.Resources
		want         cloud.Resources
		resource     string
	}{
		{"no limits", cloud.Resources{}, full, one, ""},
		{"exactly fits", full, one, one, ""},
		{"instances", cloud.Resources{Instances: 2}, full, one, resourceInstances},
		{"cpus", cloud.Resources{CPUs: 5}, full, one, resourceCPUs},
		{"memory", cloud.Resources{MemoryBytes: 11}, full, one, resourceMemory},
		{"load balancers", full, full, cloud.Resources{LoadBalancers: 1}, resourceLoadBalancers},
		{"what is not asked for may be over its limit", cloud.Resources{CPUs: 1}, full, cloud.Resources{LoadBalancers: 1}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			err := CheckQuota(cloud.Quota{Limits: test.limits, Used: test.used}, test.want)
			if test.resource == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(cloud.IsQuotaExceeded(err)).To(BeTrue())
			g.Expect(err.Error()).To(ContainSubstring(test.resource))
		})
	}
}
