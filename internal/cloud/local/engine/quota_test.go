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

package engine

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
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
			err := checkQuota(cloud.Quota{Limits: test.limits, Used: test.used}, test.want)
			if test.resource == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(cloud.IsQuotaExceeded(err)).To(BeTrue())
			g.Expect(err.Error()).To(ContainSubstring(test.resource))
		})
	}
}
