// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"net/netip"
	"path/filepath"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine/fake"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

// The cost of a pool must grow linearly with its size, not quadratically. The test measures cost by
// counting allocations, which do not depend on how busy the machine is.
func TestTheCostOfAPoolGrowsWithItsSize(t *testing.T) {
	g := NewWithT(t)
	cost := func(size int32) map[string]uint64 {
		state, err := store.Open(filepath.Join(t.TempDir(), "state.db"))
		g.Expect(err).NotTo(HaveOccurred())
		defer func() { _ = state.Close() }()
		// The engine is not started, so only the calls themselves are measured.
		tenant := engine.New(engine.Options{
			Store: state, Machines: fake.NewMachines(), Balancers: fake.NewBalancers(), Network: netip.MustParsePrefix("10.64.0.0/12"),
			Zones:         []cloud.Zone{{Name: "zone-a"}, {Name: "zone-b"}},
			InstanceTypes: []cloud.InstanceType{{Name: "small", CPUs: 2, MemoryBytes: 1 << 31}},
			Images:        func() ([]cloud.Image, error) { return []cloud.Image{{KubernetesVersion: "v1.36.3"}}, nil },
		}).Tenant("a")
		costs := map[string]uint64{}
		measure := func(what string, do func() error) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			g.Expect(do()).To(Succeed())
			runtime.ReadMemStats(&after)
			costs[what] = after.Mallocs - before.Mallocs
		}
		pool := cloud.PoolSpec{Name: "p", HostnamePrefix: "p", Revision: "r", Template: template()}
		made, err := tenant.EnsurePool(ctx, pool, "")
		g.Expect(err).NotTo(HaveOccurred())
		measure("to fill", func() error {
			_, err := tenant.ScalePool(ctx, "p", size, made.Version)
			return err
		})
		measure("to list", func() error {
			list, err := tenant.ListInstances(ctx, cloud.InstanceFilter{Pool: "p"})
			g.Expect(list).To(HaveLen(int(size)))
			return err
		})
		measure("to delete", func() error { return tenant.DeletePool(ctx, "p") })
		return costs
	}
	small, large := cost(250), cost(1000)
	for what := range small {
		g.Expect(float64(large[what])/float64(small[what])).To(BeNumerically("<", 8), "four times the size costs about four times as much %s, and not sixteen times", what)
	}
}
