// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// Whoever repeats a deletion after each event would never stop if the repetition sent one.
func TestRepeatedDeletionsOfAPoolSendNoEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		spec := cloud.PoolSpec{Name: "p", HostnamePrefix: "p", Size: 2, Revision: "r", Template: template()}
		_, err := h.tenant.EnsurePool(ctx, spec, "")
		h.Expect(err).NotTo(HaveOccurred())
		synctest.Wait()
		events, err := h.tenant.Watch(t.Context())
		h.Expect(err).NotTo(HaveOccurred())
		ofPools := func() (count int) {
			synctest.Wait()
			for {
				select {
				case event := <-events:
					if event.Kind == cloud.EventPool {
						count++
					}
					synctest.Wait()
				default:
					return count
				}
			}
		}
		h.Expect(ofPools()).To(BeZero())
		release := h.machines.HoldRemovals()
		h.Expect(h.tenant.DeletePool(ctx, "p")).To(Succeed())
		h.Expect(ofPools()).To(BeNumerically(">", 0), "it has changed")
		h.Expect(h.tenant.DeletePool(ctx, "p")).To(Succeed(), "the deletion goes on")
		h.Expect(ofPools()).To(BeZero())
		release()
		h.Expect(ofPools()).To(BeNumerically(">", 0), "it is gone")
		h.Expect(h.tenant.DeletePool(ctx, "p")).To(MatchError(cloud.IsNotFound, "a NotFoundError"))
	})
}
