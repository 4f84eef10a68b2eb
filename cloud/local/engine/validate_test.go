// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// A pool may be as large as a FooMachinePool: 10,000 instances.
func TestPoolsMayBeAsLargeAsFooMachinePools(t *testing.T) {
	g := NewWithT(t)
	e := New(Options{
		InstanceTypes: []cloud.InstanceType{{Name: "small"}},
		Images:        func() ([]cloud.Image, error) { return []cloud.Image{{KubernetesVersion: "v1.36.3"}}, nil },
	})
	spec := cloud.PoolSpec{
		Name: "pool", HostnamePrefix: "p", Size: 10000, Revision: "r",
		Template: cloud.InstanceTemplate{Type: "small", KubernetesVersion: "v1.36.3"},
	}
	g.Expect(e.validatePool(spec)).To(Succeed())
	spec.Size++
	g.Expect(e.validatePool(spec)).To(MatchError(cloud.IsInvalid, "an InvalidError"))
}
