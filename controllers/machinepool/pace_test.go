// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"testing"

	. "github.com/onsi/gomega"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
)

// A rest after a failure would reset the queue's backoff, which would then never grow.
func TestAPoolRestsAfterALookAndNotAfterAFailure(t *testing.T) {
	w := newWorld(t, 3, infrav1.FooMachinePoolStrategy{})
	for range 6 {
		w.Expect(w.reconcileOnce()).To(Succeed())
	}
	w.Expect(w.r.pace.rest(w.key, w.clock.Now())).To(Equal(3 * pacePerMember))

	pool := w.get()
	pool.Spec.Template.InstanceType = "large"
	w.Expect(w.kube.Update(w.ctx, pool)).To(Succeed())
	w.cloud.Fail(fake.CallEnsurePool, &cloud.UnavailableError{Message: "maintenance"})
	w.Expect(w.reconcileOnce()).To(MatchError(ContainSubstring("maintenance")))
	w.Expect(w.r.pace.rest(w.key, w.clock.Now())).To(BeZero())

	w.cloud.Heal(fake.CallEnsurePool)
	w.Expect(w.reconcileOnce()).To(Succeed())
	w.Expect(w.r.pace.rest(w.key, w.clock.Now())).To(Equal(3 * pacePerMember))
}
