//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
)

var _ = Describe("Faults of the cloud", func() {
	AfterEach(func() {
		suite.Cloud.RefuseInstances(nil)
		suite.Cloud.GrowPools()
		for _, call := range []fake.Call{fake.CallEnsurePool, fake.CallScalePool, fake.CallGetPool, fake.CallListInstances} {
			suite.Cloud.Heal(call)
		}
	})

	It("drains reclaimed instances before the cloud takes them back", func() {
		s := newStory(3, strategy(1, 0))
		s.settles(3)
		for _, i := range s.instances(Default) {
			Expect(suite.Cloud.ReclaimInstance(i.Name, time.Now())).To(BeFalse(), "it is not interruptible")
		}
		s.changePool(func(p *infrav1.FooMachinePool) { p.Spec.Template.Interruptible = ptr.To(true) })
		s.shows(infrav1.FooMachinePoolRollingOutCondition, metav1.ConditionTrue, infrav1.FooMachinePoolRollingOutReason)
		s.settles(3)
		s.watch()
		before := s.instances(Default)
		for _, fooMachine := range s.fooMachines(Default) {
			Expect(fooMachine.Spec.Interruptible).To(HaveValue(BeTrue()))
		}
		for _, i := range before[:2] {
			Expect(suite.Cloud.ReclaimInstance(i.Name, time.Now().Add(time.Hour))).To(BeTrue())
		}
		Eventually(func(g Gomega) {
			deleted := 0
			for _, machine := range s.machines(g) {
				if !machine.DeletionTimestamp.IsZero() {
					deleted++
				}
			}
			g.Expect(deleted).To(Equal(2))
		}).Should(Succeed(), "the notice is an event, and all reclaimed instances are drained at once")
		s.settles(3)
		Expect(s.drained).To(ConsistOf(before[0].Hostname, before[1].Hostname))
		Expect(s.most).To(BeNumerically("<=", 4))
	})

	It("stalls a rollout while the cloud has no capacity, reports it, and then continues", func() {
		s := newStory(2, strategy(1, 0))
		s.settles(2)
		s.watch()
		suite.Cloud.RefuseInstances(&cloud.CapacityError{Zone: "zone-a"})
		s.change(version("v1.35.4"))
		message := s.has(infrav1.FooMachinePoolStalledCondition, metav1.ConditionTrue, infrav1.CloudOutOfCapacityReason)
		Expect(message).To(Equal("zone zone-a is out of capacity"))
		s.has(infrav1.FooMachinePoolReadyCondition, metav1.ConditionFalse, infrav1.CloudOutOfCapacityReason)
		s.has(infrav1.FooMachinePoolRollingOutCondition, metav1.ConditionTrue, infrav1.FooMachinePoolRollingOutReason)
		s.stays()
		suite.Cloud.RefuseInstances(nil)
		suite.Cloud.GrowPools()
		s.settles(2)
		s.has(infrav1.FooMachinePoolStalledCondition, metav1.ConditionFalse, infrav1.FooMachinePoolNotStalledReason)
		Expect(s.fewest).To(Equal(2), "working instances stay until they are replaced")
		Expect(s.drained).To(HaveLen(2))
	})

	DescribeTable("continues a rollout once the cloud answers again",
		func(fault error, reason string) {
			s := newStory(2, strategy(1, 0))
			s.settles(2)
			suite.Cloud.Fail(fake.CallGetPool, fault)
			s.change(version("v1.35.4"))
			s.has(infrav1.FooMachinePoolPoolProvisionedCondition, metav1.ConditionFalse, reason)
			s.has(infrav1.FooMachinePoolStalledCondition, metav1.ConditionUnknown, reason)
			s.stays()
			suite.Cloud.Heal(fake.CallGetPool)
			s.settles(2) // without any cloud event
			Expect(s.drained).To(HaveLen(2))
		},
		Entry("throttled", &cloud.ThrottledError{RetryAfter: 2 * time.Second}, infrav1.CloudThrottledReason),
		Entry("unavailable", &cloud.UnavailableError{Message: "maintenance"}, infrav1.CloudUnavailableReason),
	)

	It("replaces a broken instance although the quota allows no surge", func() {
		s := newStory(2, strategy(1, 0))
		s.settles(2)
		s.watch()
		stopped := s.instances(Default)[0]
		suite.Cloud.Fail(fake.CallScalePool, &cloud.QuotaExceededError{Resource: "instances", Limit: 2, Used: 2, Requested: 1})
		Expect(suite.Cloud.StopInstance(stopped.Name, "out of memory")).To(BeTrue())
		s.shows(infrav1.FooMachinePoolPoolProvisionedCondition, metav1.ConditionFalse, infrav1.CloudQuotaExceededReason)
		Eventually(func(g Gomega) {
			s.step(g)
			g.Expect(s.drained).To(Equal([]string{stopped.Hostname}))
		}).Should(Succeed(), "its deletion makes room for its replacement")
		suite.Cloud.Heal(fake.CallScalePool)
		suite.Cloud.DropWatches() // triggers a reconcile now instead of at the next retry
		s.settles(2)
		Expect(s.drained).To(HaveLen(1))
		Expect(s.most).To(Equal(2))
	})

	It("replaces an instance that is lost during a rollout", func() {
		s := newStory(3, strategy(1, 0))
		s.settles(3)
		s.watch()
		s.change(version("v1.35.4"))
		s.shows(infrav1.FooMachinePoolRollingOutCondition, metav1.ConditionTrue, infrav1.FooMachinePoolRollingOutReason)
		Expect(suite.Cloud.LoseInstance(s.instances(Default)[0].Name)).To(BeTrue())
		suite.Cloud.GrowPools() // a lost instance does not change the size, so the cloud creates another one
		s.settles(3)
		Expect(s.most).To(BeNumerically("<=", 4))
	})
})
