// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"runtime"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// growth measures the cost of steps at two sizes by counting allocations, which do not depend on how
// busy the machine is. The cost must grow linearly with the size, not quadratically.
func growth(t *testing.T, small, large int32, steps func(size int32, measure func(what string, do func()))) {
	t.Helper()
	cost := func(size int32) map[string]uint64 {
		costs := map[string]uint64{}
		steps(size, func(what string, do func()) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			do()
			runtime.ReadMemStats(&after)
			costs[what] = after.Mallocs - before.Mallocs
		})
		return costs
	}
	atSmall, atLarge := cost(small), cost(large)
	for what, before := range atSmall {
		NewWithT(t).Expect(float64(atLarge[what])/float64(before)).To(BeNumerically("<", 2*float64(large)/float64(small)),
			"%d instances cost about %d times as much to %s as %d, and not the square of that", large, large/small, what, small)
	}
}

// The calls that change the largest pool take seconds at most, because they stall all other changes.
func TestTheCostOfCallsGrowsWithThePool(t *testing.T) {
	growth(t, 300, 3000, func(size int32, measure func(string, func())) {
		h := newHost(t)
		tenant := h.newEngine().Tenant("a") // it is not started, so only the calls are measured
		made, err := tenant.EnsurePool(ctx, cloud.PoolSpec{Name: "p", HostnamePrefix: "p", Revision: "r", Template: template()}, "")
		h.Expect(err).NotTo(HaveOccurred())
		measure("fill", func() {
			_, err := tenant.ScalePool(ctx, "p", size, made.Version)
			h.Expect(err).NotTo(HaveOccurred())
		})
		measure("list", func() {
			list, err := tenant.ListInstances(ctx, cloud.InstanceFilter{Pool: "p"})
			h.Expect(err).NotTo(HaveOccurred())
			h.Expect(list).To(HaveLen(int(size)))
		})
		measure("delete", func() { h.Expect(tenant.DeletePool(ctx, "p")).To(Succeed()) })
	})
}

// A supervisor is done when it waits for something. Nothing polls meanwhile, so only its own work is
// measured.
func TestTheCostOfSupervisionGrowsWithThePool(t *testing.T) {
	growth(t, 40, 240, func(size int32, measure func(string, func())) {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t)
			h.start()
			_, err := h.tenant.EnsureLoadBalancer(ctx, cloud.LoadBalancerSpec{Name: "lb", Port: 6443, Selector: cloud.Tags{"role": "control-plane"}})
			h.Expect(err).NotTo(HaveOccurred())
			measure("run", func() {
				spec := cloud.PoolSpec{Name: "p", HostnamePrefix: "p", Revision: "r", Size: size, Template: template()}
				_, err := h.tenant.EnsurePool(ctx, spec, "")
				h.Expect(err).NotTo(HaveOccurred())
				synctest.Wait()
			})
			h.Expect(h.machines.Running()).To(BeEquivalentTo(size))
			measure("remove", func() {
				h.Expect(h.tenant.DeletePool(ctx, "p")).To(Succeed())
				synctest.Wait()
			})
			h.Expect(h.machines.Running()).To(BeZero())
		})
	})
}
