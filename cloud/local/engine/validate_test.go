// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// A disk whose size nothing limits must not look limited.
func TestACloudWithoutDisksHasNone(t *testing.T) {
	g := NewWithT(t)
	e := New(Options{
		InstanceTypes: []cloud.InstanceType{{Name: "small", DiskBytes: 1 << 30}}, NoDisks: "no mkfs.ext4",
		Images: func() ([]cloud.Image, error) { return []cloud.Image{{KubernetesVersion: "v1.36.3"}}, nil },
	})
	types, err := e.Tenant("a").InstanceTypes(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(types).To(ConsistOf(HaveField("DiskBytes", BeZero())))
	offered, err := e.offered()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(e.catalog.InstanceType("type", "small")).To(HaveField("DiskBytes", BeZero()), "new instances get this size")
	spec := cloud.InstanceSpec{Name: "a", Hostname: "a", InstanceTemplate: cloud.InstanceTemplate{Type: "small", KubernetesVersion: "v1.36.3"}}
	g.Expect(offered.Instance(spec)).To(Succeed())
	spec.DiskBytes = 1 << 30
	g.Expect(offered.Instance(spec)).To(MatchError(`diskBytes "1073741824": this cloud cannot limit the size of disks (no mkfs.ext4), allowed: 0`))
}

// A pool may be as large as a FooMachinePool: 10,000 instances.
func TestPoolsMayBeAsLargeAsFooMachinePools(t *testing.T) {
	g := NewWithT(t)
	e := New(Options{
		InstanceTypes: []cloud.InstanceType{{Name: "small"}},
		Images:        func() ([]cloud.Image, error) { return []cloud.Image{{KubernetesVersion: "v1.36.3"}}, nil },
	})
	offered, err := e.offered()
	g.Expect(err).NotTo(HaveOccurred())
	spec := cloud.PoolSpec{
		Name: "pool", HostnamePrefix: "p", Size: 10000, Revision: "r",
		Template: cloud.InstanceTemplate{Type: "small", KubernetesVersion: "v1.36.3"},
	}
	g.Expect(offered.Pool(spec, cloud.PoolSpec{})).To(Succeed())
	spec.Size++
	g.Expect(offered.Pool(spec, cloud.PoolSpec{})).To(MatchError(cloud.IsInvalid, "an InvalidError"))
}
