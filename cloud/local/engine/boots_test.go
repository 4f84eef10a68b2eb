// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

// startWith starts an engine that boots this many instances at the same time.
func startWith(t *testing.T, boots int) *host {
	t.Helper()
	h := newHost(t)
	h.boots = boots
	h.start()
	return h
}

// order makes instances, one after the other, and returns their IDs.
func (h *host) order(count int) []string {
	var ids []string
	for i := range count {
		ids = append(ids, h.instance(fmt.Sprint("i", i)).ID)
		synctest.Wait()
	}
	return ids
}

// states returns the states of instances and the message of each that has one.
func (h *host) states(ids []string) []string {
	synctest.Wait()
	var states []string
	for _, id := range ids {
		now, err := h.tenant.GetInstance(ctx, id)
		h.Expect(err).NotTo(HaveOccurred())
		state := string(now.State)
		if now.Message != "" {
			state += ": " + now.Message
		}
		states = append(states, state)
	}
	return states
}

const (
	runs  = string(cloud.InstanceRunning)
	waits = string(cloud.InstancePending) + ": waiting for other instances to finish booting"
)

func TestOnlySomeInstancesBootAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startWith(t, 2)
		ids := h.order(7)
		h.Expect(h.states(ids)).To(Equal([]string{runs, runs, waits, waits, waits, waits, waits}))
		h.machines.Report(ids[1], cloud.Bootstrap{State: cloud.BootstrapRunning})
		h.Expect(h.states(ids)).To(Equal([]string{runs, runs, waits, waits, waits, waits, waits}), "it still boots")
		h.machines.Report(ids[1], cloud.Bootstrap{State: cloud.BootstrapSucceeded})
		h.Expect(h.states(ids)).To(Equal([]string{runs, runs, waits, waits, waits, waits, runs}), "the last to come is next")
		h.machines.Report(ids[0], cloud.Bootstrap{State: cloud.BootstrapFailed})
		h.Expect(h.states(ids)).To(Equal([]string{runs, runs, waits, waits, waits, runs, runs}))
		h.machines.Report(ids[0], cloud.Bootstrap{State: cloud.BootstrapFailed, Message: "again"})
		h.Expect(h.states(ids)).To(Equal([]string{runs, runs, waits, waits, waits, runs, runs}), "it has given its place away")

		h.Expect(h.tenant.DeleteInstance(ctx, ids[4])).To(Succeed())
		h.Expect(h.tenant.DeleteInstance(ctx, ids[6])).To(Succeed())
		ids = append(ids[:4:4], ids[5])
		h.Expect(h.states(ids)).To(Equal([]string{runs, runs, waits, runs, runs}), "deleted ones need no place")
		<-time.After(time.Minute)
		h.Expect(h.states(ids)).To(Equal([]string{runs, runs, runs, runs, runs}), "those that hang do not hold it up")
	})
}

func TestATenantCannotKeepOthersFromBooting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startWith(t, 2)
		ids := h.order(6)
		other := h.engine.Tenant("b")
		made, err := other.EnsureInstance(ctx, cloud.InstanceSpec{Name: "one", Hostname: "one", InstanceTemplate: template()})
		h.Expect(err).NotTo(HaveOccurred())
		h.Expect(h.states(ids)).To(Equal([]string{runs, runs, waits, waits, waits, waits}))
		h.machines.Report(ids[0], cloud.Bootstrap{State: cloud.BootstrapSucceeded})
		h.Expect(h.states(ids)).To(Equal([]string{runs, runs, waits, waits, waits, waits}))
		now, err := other.GetInstance(ctx, made.ID)
		h.Expect(err).NotTo(HaveOccurred())
		h.Expect(now.State).To(Equal(cloud.InstanceRunning), "it came last, but its tenant has none that boots")
	})
}

func TestAnInstanceThatStartsAgainWaitsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startWith(t, 1)
		first := h.order(1)
		h.machines.Report(first[0], cloud.Bootstrap{State: cloud.BootstrapSucceeded})
		second := h.instance("second").ID
		h.Expect(h.states([]string{first[0], second})).To(Equal([]string{runs, runs}))
		h.Expect(h.tenant.SwitchInstance(ctx, first[0], engine.PowerReboot)).To(Succeed())
		h.Expect(h.states([]string{first[0], second})).To(Equal([]string{waits, runs}))
		h.machines.Report(second, cloud.Bootstrap{State: cloud.BootstrapSucceeded})
		h.Expect(h.states([]string{first[0], second})).To(Equal([]string{runs, runs}))
	})
}
