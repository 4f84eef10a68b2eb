// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
)

// Nobody could stop the instances of a tenant that has no token, so a removal must not lift its quota.
func TestATenantThatWasRemovedGetsNoInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.limits = cloud.Resources{Instances: 3}
		h.start()
		for name, size := range map[string]int32{"whole": 1, "waits": 0} {
			spec := cloud.PoolSpec{Name: name, HostnamePrefix: name, Size: size, Revision: "r", Template: template()}
			_, err := h.tenant.EnsurePool(ctx, spec, "")
			h.Expect(err).NotTo(HaveOccurred())
		}
		waits, err := h.tenant.GetPool(ctx, "waits")
		h.Expect(err).NotTo(HaveOccurred())
		_, err = h.tenant.ScalePool(ctx, "waits", 10, waits.Version)
		h.Expect(err).NotTo(HaveOccurred())
		has := func(pool string, instances int) cloud.Pool {
			t.Helper()
			synctest.Wait()
			now, err := h.tenant.GetPool(ctx, pool)
			h.Expect(err).NotTo(HaveOccurred())
			h.Expect(now.Instances).To(BeEquivalentTo(instances), pool)
			return now
		}
		h.Expect(has("waits", 2).Problem.Reason).To(Equal(cloud.ReasonQuotaExceeded))

		h.removed = true
		h.start()
		has("waits", 2)
		h.fault(fault.Spec{Kind: fault.LostInstance, Pool: "whole", Count: 1})
		h.Expect(has("whole", 0).Problem.Message).To(ContainSubstring(`"a"`))
		has("waits", 2)
		h.Expect(h.machines.Running()).To(Equal(2), "what it has keeps running")

		h.removed, h.limits = false, cloud.Resources{}
		h.start()
		h.Expect(has("waits", 10).Problem).To(BeNil())
		h.Expect(has("whole", 1).Problem).To(BeNil(), "it is filled although it did not wait before the removal")
	})
}
