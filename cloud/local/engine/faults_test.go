// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
)

func (h *host) fault(spec fault.Spec) fault.Rule {
	if spec.Name == "" {
		spec.Name = "rule"
	}
	rule, err := h.tenant.EnsureFault(ctx, fault.ReachOwn, spec)
	h.Expect(err).NotTo(HaveOccurred())
	return rule
}

func (h *host) heal(name string) {
	h.Expect(h.tenant.RemoveFault(ctx, fault.ReachOwn, "", name)).To(Succeed())
}

func (h *host) rule(name string) fault.Rule {
	rule, err := h.tenant.GetFault(ctx, fault.ReachOwn, "", name)
	h.Expect(err).NotTo(HaveOccurred())
	return rule
}

func (h *host) pool(size int32, change ...func(*cloud.PoolSpec)) cloud.Pool {
	spec := cloud.PoolSpec{Name: "pool", HostnamePrefix: "w", Size: size, Revision: "r1", Template: template()}
	for _, c := range change {
		c(&spec)
	}
	seen, err := h.tenant.GetPool(ctx, spec.Name)
	h.Expect(err).To(Or(Succeed(), MatchError(cloud.IsNotFound, "not found")))
	pool, err := h.tenant.EnsurePool(ctx, spec, seen.Version)
	h.Expect(err).NotTo(HaveOccurred())
	pool, err = h.tenant.ScalePool(ctx, spec.Name, size, pool.Version)
	h.Expect(err).NotTo(HaveOccurred())
	return pool
}

func (h *host) members() []cloud.Instance {
	list, err := h.tenant.ListInstances(ctx, cloud.InstanceFilter{Pool: "pool"})
	h.Expect(err).NotTo(HaveOccurred())
	return list
}

// eventually waits until the pool has count instances, all in the given state, and returns them.
func (h *host) eventually(count int, state cloud.InstanceState) []cloud.Instance {
	var list []cloud.Instance
	h.Eventually(func(g Gomega) {
		list = h.members()
		g.Expect(list).To(HaveLen(count))
		g.Expect(list).To(HaveEach(HaveField("State", state)))
	}, soon).Should(Succeed(), "the cloud acts on its own")
	return list
}

func TestBootFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		h.fault(fault.Spec{Kind: fault.BootFailure, Count: 1})
		failed := h.becomes(h.instance("one").ID, cloud.InstanceFailed)
		h.Expect(failed.Message).To(Equal("the instance did not boot (fault rule rule)"))
		h.becomes(h.instance("two").ID, cloud.InstanceRunning)
		h.Expect(h.rule("rule").Strikes).To(Equal(1))
		h.Expect(h.machines.Running()).To(Equal(1))
	})
}

func TestSlowBootIsNoReasonToWaitWithADeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		h.fault(fault.Spec{Kind: fault.SlowBoot, DelaySeconds: 3600})
		deleted, freed := h.instance("deleted"), h.instance("freed")
		h.Consistently(h.machines.Running, 100*time.Millisecond).Should(BeZero(), "they boot slowly")
		h.Expect(h.tenant.DeleteInstance(ctx, deleted.ID)).To(Succeed())
		h.goes(deleted.ID)
		h.heal("rule")
		h.becomes(freed.ID, cloud.InstanceRunning)
	})
}

func TestSlowBootEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		h.fault(fault.Spec{Kind: fault.SlowBoot, DelaySeconds: 0.2})
		began := time.Now()
		h.becomes(h.instance("one").ID, cloud.InstanceRunning)
		h.Expect(time.Since(began)).To(BeNumerically(">=", 200*time.Millisecond))
	})
}

func TestLostInstanceIsReplacedByItsPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		h.pool(2)
		before := h.eventually(2, cloud.InstanceRunning)
		h.fault(fault.Spec{Kind: fault.LostInstance, Pool: "pool", Count: 1})
		h.goes(before[0].ID)
		after := h.eventually(2, cloud.InstanceRunning)
		h.Expect(after).To(ContainElement(HaveField("ID", before[1].ID)), "the rule strikes once")
		pool, err := h.tenant.GetPool(ctx, "pool")
		h.Expect(err).NotTo(HaveOccurred())
		h.Expect(pool.Size).To(BeEquivalentTo(2), "a loss shrinks no pool")
		h.Expect(h.machines.Running()).To(Equal(2))
	})
}

func TestStoppedInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		made := h.instance("one")
		h.becomes(made.ID, cloud.InstanceRunning)
		h.fault(fault.Spec{Kind: fault.StoppedInstance})
		h.Expect(h.becomes(made.ID, cloud.InstanceStopped).Message).To(Equal("the instance was stopped (fault rule rule)"))
		h.becomes(h.instance("two").ID, cloud.InstanceStopped)
		h.heal("rule")
		h.becomes(h.instance("three").ID, cloud.InstanceRunning)
		h.becomes(made.ID, cloud.InstanceStopped)
	})
}

func TestZoneOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		h.pool(2)
		before := h.eventually(2, cloud.InstanceRunning)
		h.Expect(before).To(ConsistOf(HaveField("Zone", "zone-a"), HaveField("Zone", "zone-b")))
		h.fault(fault.Spec{Kind: fault.ZoneOutage, Zone: "zone-a"})
		h.Eventually(h.members, soon).Should(ConsistOf(
			And(HaveField("Zone", "zone-a"), HaveField("State", cloud.InstanceStopped), HaveField("Message", "zone zone-a is out (fault rule rule)")),
			And(HaveField("Zone", "zone-b"), HaveField("State", cloud.InstanceRunning)),
		), "the instances of the zone stop")

		_, err := h.tenant.EnsureInstance(ctx, cloud.InstanceSpec{Name: "x", Hostname: "x", Zone: "zone-a", InstanceTemplate: template()})
		h.Expect(err).To(MatchError(`cloud unavailable: zone zone-a is out (fault rule rule)`))
		h.Expect(h.instance("y").Zone).To(Equal("zone-b"))
		pool := h.pool(4)
		h.Expect(pool.Instances).To(BeEquivalentTo(4), "a pool makes its instances where it can")
		pinned := h.pool(5, func(s *cloud.PoolSpec) { s.Zones = []string{"zone-a"} })
		h.Expect(pinned.Problem).To(HaveField("Reason", cloud.ReasonUnavailable))

		h.heal("rule")
		h.Eventually(func() (*cloud.Problem, error) {
			pool, err := h.tenant.GetPool(ctx, "pool")
			return pool.Problem, err
		}, soon).Should(BeNil(), "the end of the outage is an event")
		h.Expect(h.members()).To(HaveLen(5))
		h.Expect(h.members()).To(ContainElement(HaveField("State", cloud.InstanceStopped)), "what has stopped stays so")
	})
}

func TestInstancesStartAgainAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		started, deleted := h.instance("started"), h.instance("deleted")
		h.becomes(started.ID, cloud.InstanceRunning)
		h.becomes(deleted.ID, cloud.InstanceRunning)
		h.machines.Report(started.ID, cloud.Bootstrap{State: cloud.BootstrapSucceeded})
		h.Eventually(func() (cloud.BootstrapState, error) {
			now, err := h.tenant.GetInstance(ctx, started.ID)
			return now.Bootstrap.State, err
		}, soon).Should(Equal(cloud.BootstrapSucceeded), "reports are events")
		for _, zone := range []string{"zone-a", "zone-b"} {
			h.fault(fault.Spec{Name: zone, Kind: fault.ZoneOutage, Zone: zone, AfterOutage: fault.StartAgain})
		}
		h.becomes(started.ID, cloud.InstanceStopped)
		h.becomes(deleted.ID, cloud.InstanceStopped)
		h.Expect(h.tenant.DeleteInstance(ctx, deleted.ID)).To(Succeed())
		h.goes(deleted.ID)
		h.start() // instances still wait for the end of the outage after a restart
		h.heal("zone-a")
		h.heal("zone-b")
		again := h.becomes(started.ID, cloud.InstanceRunning)
		h.Expect(again.Message).To(BeEmpty())
		h.Expect(again.Address).To(Equal(started.Address))
		spec := h.machines.Spec(started.ID)
		h.Expect(spec.KeepDisk).To(BeTrue())
		h.Expect(string(spec.UserData)).To(Equal("#cloud-config\n"), "its bootstrap has ended")
		h.Expect(h.machines.Running()).To(Equal(1))
		h.machines.Die(started.ID, "killed")
		h.becomes(started.ID, cloud.InstanceStopped)
	})
}

func TestStockoutEndsWithItsRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		h.fault(fault.Spec{Kind: fault.Stockout})
		_, err := h.tenant.EnsureInstance(ctx, cloud.InstanceSpec{Name: "x", Hostname: "x", InstanceTemplate: template()})
		h.Expect(cloud.IsOutOfCapacity(err)).To(BeTrue(), "%v", err)
		h.Expect(h.rule("rule").Strikes).To(Equal(1), "what was refused counts")
		pool := h.pool(2)
		h.Expect(pool.Instances).To(BeZero())
		h.Expect(pool.Problem).To(Equal(&cloud.Problem{
			Reason: cloud.ReasonOutOfCapacity, Message: "the cloud is out of capacity: fault rule rule",
		}))
		h.heal("rule")
		h.eventually(2, cloud.InstanceRunning)
	})
}

func TestStockoutOfOneZone(t *testing.T) {
	h := newHost(t)
	h.start()
	h.fault(fault.Spec{Kind: fault.Stockout, Zone: "zone-a", Pool: "pool"})
	h.Expect(h.instance("alone").Zone).To(Equal("zone-a"), "the rule is about the pool")
	h.pool(2)
	h.Expect(h.members()).To(HaveEach(HaveField("Zone", "zone-b")))
}

func TestStockoutIsUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		h.fault(fault.Spec{Kind: fault.Stockout, Count: 2})
		h.Expect(h.pool(2).Instances).To(BeZero())
		h.eventually(2, cloud.InstanceRunning)
		h.Expect(h.rule("rule").Strikes).To(Equal(2), "the pool tried again by itself")
	})
}

// notice is how long in advance a test announces a reclaim. It leaves the test enough time to
// observe the instance.
const notice = 5 * time.Second

// noticed waits until an instance gets notice that it will be reclaimed.
func (h *host) noticed(id string) cloud.Instance {
	var told cloud.Instance
	h.Eventually(func() (*time.Time, error) {
		var err error
		told, err = h.tenant.GetInstance(ctx, id)
		return told.ReclaimAt, err
	}, soon).ShouldNot(BeNil(), "a notice is given")
	return told
}

func TestSpotReclaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		h.pool(1, func(s *cloud.PoolSpec) { s.Template.Interruptible = true })
		spot, kept := h.eventually(1, cloud.InstanceRunning)[0], h.instance("kept")
		h.Expect(spot.Interruptible).To(BeTrue())
		h.becomes(kept.ID, cloud.InstanceRunning)
		events, err := h.tenant.Watch(t.Context())
		h.Expect(err).NotTo(HaveOccurred())
		began := time.Now()
		h.fault(fault.Spec{Kind: fault.SpotReclaim, NoticeSeconds: notice.Seconds(), Count: 1})
		noticed := h.noticed(spot.ID)
		h.Eventually(events, soon).Should(Receive(HaveField("ID", spot.ID)), "the notice is an event")
		h.Expect(noticed.State).To(Equal(cloud.InstanceRunning))
		h.Expect(*noticed.ReclaimAt).To(And(BeTemporally(">=", began.Add(notice)), BeTemporally("<=", time.Now().Add(notice))))
		h.heal("rule")
		h.goes(spot.ID)
		h.Expect(time.Since(began)).To(BeNumerically(">=", notice), "it has the time that it was told, whatever becomes of the rule")
		h.Expect(h.eventually(1, cloud.InstanceRunning)[0].ID).NotTo(Equal(spot.ID), "the pool makes another")
		h.Expect(h.becomes(kept.ID, cloud.InstanceRunning).ReclaimAt).To(BeNil(), "only what is interruptible is taken back")
	})
}

func TestWhatIsTakenBackGoesAlsoWhenItHasStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		spec := template()
		spec.Interruptible = true
		made, err := h.tenant.EnsureInstance(ctx, cloud.InstanceSpec{Name: "spot", Hostname: "spot", InstanceTemplate: spec})
		h.Expect(err).NotTo(HaveOccurred())
		h.becomes(made.ID, cloud.InstanceRunning)
		h.fault(fault.Spec{Kind: fault.SpotReclaim, NoticeSeconds: notice.Seconds()})
		h.noticed(made.ID)
		h.machines.Die(made.ID, "killed")
		h.becomes(made.ID, cloud.InstanceStopped)
		h.goes(made.ID)
	})
}

// A restarted daemon carries out pending faults at the announced time, and draws nothing again.
func TestRestartKeepsFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		spec := template()
		spec.Interruptible = true
		made, err := h.tenant.EnsureInstance(ctx, cloud.InstanceSpec{Name: "spot", Hostname: "spot", InstanceTemplate: spec})
		h.Expect(err).NotTo(HaveOccurred())
		h.becomes(made.ID, cloud.InstanceRunning)
		rule := h.fault(fault.Spec{Kind: fault.SpotReclaim, NoticeSeconds: notice.Seconds(), Count: 1, Seed: 3})
		h.noticed(made.ID)
		h.start()
		h.Expect(h.rule("rule").Seed).To(Equal(rule.Seed))
		h.Expect(h.rule("rule").Strikes).To(Equal(1))
		h.goes(made.ID)
	})
}

func TestDisturbedCalls(t *testing.T) {
	h := newHost(t)
	h.start()
	d, err := h.tenant.Disturbance(ctx)
	h.Expect(err).NotTo(HaveOccurred())
	h.Expect(d).To(BeZero())
	h.fault(fault.Spec{Name: "slow", Kind: fault.APILatency, DelaySeconds: 0.5})
	h.fault(fault.Spec{Name: "busy", Kind: fault.Throttling, RetryAfterSeconds: 3, Count: 1})
	d, err = h.tenant.Disturbance(ctx)
	h.Expect(err).NotTo(HaveOccurred())
	h.Expect(d).To(Equal(fault.Disturbance{Delay: 500 * time.Millisecond, Err: &cloud.ThrottledError{RetryAfter: 3 * time.Second}}))
	d, err = h.tenant.Disturbance(ctx)
	h.Expect(err).NotTo(HaveOccurred())
	h.Expect(d).To(Equal(fault.Disturbance{Delay: 500 * time.Millisecond}), "one is used up")
}

func TestRulesAreKeptApart(t *testing.T) {
	h := newHost(t)
	h.start()
	own := h.fault(fault.Spec{Kind: fault.Stockout, Probability: 0.5})
	h.Expect(own.Seed).NotTo(BeZero())
	h.Expect(h.fault(fault.Spec{Kind: fault.Stockout, Probability: 0.5})).To(Equal(own), "the same again changes nothing")
	h.Expect(h.fault(fault.Spec{Kind: fault.Stockout})).NotTo(Equal(own))
	_, err := h.tenant.EnsureFault(ctx, fault.ReachOwn, fault.Spec{Name: "all", Kind: fault.Stockout, Tenant: fault.EveryTenant})
	h.Expect(err).To(MatchError(ContainSubstring("only an administrator")))
	_, err = h.tenant.EnsureFault(ctx, fault.ReachAll, fault.Spec{Name: "all", Kind: fault.Stockout, Tenant: fault.EveryTenant})
	h.Expect(err).NotTo(HaveOccurred())
	h.Expect(h.tenant.ListFaults(ctx, fault.ReachOwn)).To(HaveLen(1))
	h.Expect(h.tenant.ListFaults(ctx, fault.ReachAll)).To(HaveLen(2))
	err = h.tenant.RemoveFault(ctx, fault.ReachOwn, fault.EveryTenant, "all")
	h.Expect(cloud.IsNotFound(err)).To(BeTrue(), "%v", err)
	h.Expect(h.tenant.RemoveFault(ctx, fault.ReachAll, fault.EveryTenant, "all")).To(Succeed())
}

// anyRule returns a random rule about instances of the pool that takes effect immediately.
func anyRule(t *rapid.T, name string) fault.Spec {
	spec := fault.Spec{
		Name: name, Kind: rapid.SampledFrom([]fault.Kind{
			fault.BootFailure, fault.LostInstance, fault.StoppedInstance, fault.SpotReclaim, fault.Stockout, fault.ZoneOutage, fault.SlowBoot,
		}).Draw(t, "kind"),
	}
	if rapid.Bool().Draw(t, "zoned") || spec.Kind == fault.ZoneOutage {
		spec.Zone = rapid.SampledFrom([]string{"zone-a", "zone-b"}).Draw(t, "zone")
	}
	if spec.Kind == fault.ZoneOutage {
		spec.AfterOutage = rapid.SampledFrom([]fault.AfterOutage{fault.StartAgain, fault.StayStopped}).Draw(t, "after")
		return spec
	}
	spec.Pool, spec.Seed = "pool", rapid.Int64Range(1, 1000).Draw(t, "seed")
	spec.Probability = rapid.SampledFrom([]float64{0.3, 1}).Draw(t, "probability")
	// Without a limit, lost instances would be replaced and lost again forever.
	spec.Count = rapid.IntRange(1, 3).Draw(t, "count")
	switch spec.Kind {
	case fault.SlowBoot:
		spec.DelaySeconds = 3600
	case fault.SpotReclaim:
		spec.NoticeSeconds = 0.001
	default:
	}
	return spec
}

// Whatever faults a pool has had, once their rules are removed it has as many instances as it
// should, and no instance waits for anything.
func TestPoolsRecoverFromAnyFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		// rapid would ask for the deadline of the test, and a bubble has none.
		rapid.Check(struct{ rapid.TB }{t}, func(t *rapid.T) {
			g := NewWithT(t)
			size := rapid.Int32Range(0, 4).Draw(t, "size")
			names := []string{"one", "two", "three"}[:rapid.IntRange(0, 3).Draw(t, "rules")]
			early := rapid.IntRange(0, len(names)).Draw(t, "early")
			for _, name := range names[:early] {
				h.fault(anyRule(t, name))
			}
			h.pool(size, func(s *cloud.PoolSpec) { s.Template.Interruptible = true })
			for _, name := range names[early:] {
				h.fault(anyRule(t, name))
			}
			if rapid.Bool().Draw(t, "restart") {
				h.start()
			}
			for _, name := range names {
				h.heal(name)
			}
			g.Eventually(func(g Gomega) {
				pool, err := h.tenant.GetPool(ctx, "pool")
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(pool.Problem).To(BeNil())
				g.Expect(pool.Size).To(Equal(size))
				members := h.members()
				g.Expect(members).To(HaveLen(int(size)))
				for _, member := range members {
					g.Expect(member.State).To(BeElementOf(cloud.InstanceRunning, cloud.InstanceStopped, cloud.InstanceFailed))
					g.Expect(member.ReclaimAt).To(BeNil())
				}
			}, soon).Should(Succeed(), "the pool comes to rest")
			g.Expect(h.tenant.DeletePool(ctx, "pool")).To(Succeed())
			g.Eventually(func() bool { return cloud.IsNotFound(h.tenant.DeletePool(ctx, "pool")) }, soon).Should(BeTrue(), "it can be deleted")
			g.Expect(h.machines.Running()).To(BeZero(), "nothing is left of it")
		})
	})
}
