// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// whys returns the cause of each victim's removal.
func whys(victims []victim) map[string]cause {
	found := map[string]cause{}
	for _, v := range victims {
		found[v.name] = v.why
	}
	return found
}

func TestRollout(t *testing.T) {
	old := func(name string) member { return with(working(name, "z1", 0), outdated) }
	starting := func(name string) member { return with(working(name, "z1", 59), booting) }
	for name, test := range map[string]struct {
		members            []member
		surge, unavailable int
		change             func(p *policy)
		want               map[string]cause
		size               int
	}{
		"1/0 surges first":                             {members: []member{old("a"), old("b"), old("c")}, surge: 1, size: 4},
		"1/0 waits for the new one":                    {members: []member{old("a"), old("b"), old("c"), starting("d")}, surge: 1, size: 4},
		"1/0 then deletes an old one":                  {members: []member{old("a"), old("b"), old("c"), working("d", "z1", 9)}, surge: 1, want: map[string]cause{"a": causeRollout}, size: 4},
		"1/0 waits for the deletion":                   {members: []member{with(old("a"), deleted), old("b"), old("c"), working("d", "z1", 9)}, surge: 1, size: 4},
		"1/0 surges again":                             {members: []member{old("b"), old("c"), working("d", "z1", 9)}, surge: 1, size: 4},
		"0/1 deletes an old one first":                 {members: []member{old("a"), old("b"), old("c")}, unavailable: 1, want: map[string]cause{"a": causeRollout}, size: 3},
		"0/1 waits for the deletion":                   {members: []member{with(old("a"), deleted), old("b"), old("c")}, unavailable: 1, size: 3},
		"0/1 creates a replacement":                    {members: []member{old("b"), old("c")}, unavailable: 1, size: 3},
		"0/1 waits for the replacement":                {members: []member{old("b"), old("c"), starting("d")}, unavailable: 1, size: 3},
		"2/1 surges and deletes at once":               {members: []member{old("a"), old("b"), old("c")}, surge: 2, unavailable: 1, want: map[string]cause{"a": causeRollout}, size: 5},
		"deletes the unavailable one":                  {members: []member{old("a"), with(old("b"), notAvailable), old("c"), working("d", "z1", 9)}, surge: 1, want: map[string]cause{"b": causeRollout}, size: 4},
		"surges before it deletes the unavailable one": {members: []member{old("a"), with(old("b"), notAvailable), old("c")}, surge: 1, size: 4},
		"deletes the marked one first":                 {members: []member{old("a"), with(old("b"), marked), old("c"), working("d", "z1", 9)}, surge: 1, want: map[string]cause{"b": causeRollout}, size: 4},
		"scales down a marked new one": {
			members: []member{old("a"), old("b"), with(working("c", "z1", 9), marked)}, surge: 1,
			change: func(p *policy) { p.replicas = 2 }, want: map[string]cause{"c": causeScaleDown}, size: 3,
		},
		"scales down a marked old one": {
			members: []member{old("a"), with(old("b"), marked), working("c", "z1", 9)}, surge: 1,
			change: func(p *policy) { p.replicas = 2 }, want: map[string]cause{"b": causeRollout}, size: 3,
		},
		"keeps a marked one while none is surplus": {
			members: []member{old("a"), old("b"), with(working("c", "z1", 9), marked)}, surge: 1, size: 4,
		},
		"keeps a marked one that is needed": {
			members: []member{old("a"), with(old("b"), notAvailable), with(working("c", "z1", 9), marked)}, surge: 1,
			change: func(p *policy) { p.replicas = 2 }, want: map[string]cause{"b": causeRollout}, size: 3,
		},
		"deletes none while paused":   {members: []member{old("a"), old("b"), old("c")}, surge: 1, change: func(p *policy) { p.rollout = rolloutPaused }, size: 3},
		"scales up while paused":      {members: []member{old("a"), old("b")}, surge: 1, change: func(p *policy) { p.rollout = rolloutPaused }, size: 3},
		"keeps one without a Machine": {members: []member{old("a"), with(old("b"), func(m *member) { m.machine = nil })}, unavailable: 3, want: map[string]cause{"a": causeRollout}, size: 4 - 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p := policyFor(3)
			p.maxSurge, p.maxUnavailable = test.surge, test.unavailable
			if test.change != nil {
				test.change(&p)
			}
			d := disrupt(p.assess(test.members), p)
			if test.want == nil {
				test.want = map[string]cause{}
			}
			g.Expect(whys(d.victims)).To(Equal(test.want))
			g.Expect(d.size).To(Equal(test.size))
		})
	}
}

func TestRepair(t *testing.T) {
	now := epoch.Add(time.Hour)
	for name, test := range map[string]struct {
		members     []member
		unavailable int
		failures    infrav1.FailedReplacements
		want        map[string]cause
		failed      int32
	}{
		"stopped":                    {members: []member{with(working("a", "z1", 0), stopped)}, want: map[string]cause{"a": causeRepair}},
		"lost":                       {members: []member{with(working("a", "z1", 0), gone)}, want: map[string]cause{"a": causeRepair}},
		"FooMachine deleted by hand": {members: []member{with(working("a", "z1", 0), orphaned)}, want: map[string]cause{"a": causeRepair}},
		"taken away by the cloud":    {members: []member{with(working("a", "z1", 0), taken)}, want: map[string]cause{"a": causeRepair}},
		"remediation":                {members: []member{with(working("a", "z1", 0), unhealthy)}, want: map[string]cause{"a": causeRemediation}},
		"boot failed":                {members: []member{with(working("a", "z1", 59), bootstrapFailed)}, want: map[string]cause{"a": causeRepair}, failed: 1},
		"reclaim":                    {members: []member{with(working("a", "z1", 0), noticed)}, want: map[string]cause{"a": causeReclaim}},
		"reclaim of an unhealthy one": {
			members: []member{with(with(working("a", "z1", 0), unhealthy), noticed), with(working("b", "z1", 0), deleted)},
			want:    map[string]cause{"a": causeReclaim},
		},
		"a reclaim does not count as a failure": {
			members: []member{with(with(working("a", "z1", 55), booting), noticed)}, want: map[string]cause{"a": causeReclaim},
		},
		"all reclaimed ones, but no others": {
			members: []member{with(working("a", "z1", 0), noticed), with(working("b", "z1", 0), noticed), with(working("c", "z1", 0), stopped)},
			want:    map[string]cause{"a": causeReclaim, "b": causeReclaim},
		},
		"did not join":                           {members: []member{with(working("a", "z1", 0), booting)}, want: map[string]cause{"a": causeRepair}, failed: 1},
		"may join":                               {members: []member{with(working("a", "z1", 55), booting)}},
		"waits for capacity as long as it takes": {members: []member{with(working("a", "z1", 0), withoutCapacity)}},
		"a broken one while another waits for capacity": {
			members: []member{with(working("a", "z1", 0), withoutCapacity), with(working("b", "z1", 0), stopped)},
			want:    map[string]cause{"b": causeRepair},
		},
		"one that a MachineHealthCheck marked while another waits for capacity": {
			members: []member{with(working("a", "z1", 0), withoutCapacity), with(working("b", "z1", 0), unhealthy)},
		},
		"its image cannot be pulled": {
			members: []member{with(with(working("a", "z1", 0), withoutCapacity), func(m *member) { m.instance.Problem.Reason = cloud.ReasonUnavailable })},
			want:    map[string]cause{"a": causeRepair}, failed: 1,
		},
		"moved to another management cluster": {members: []member{
			with(working("a", "z1", 0), moved), with(with(working("b", "z1", 0), bootstrapFailed), moved), with(working("c", "z1", 0), moved),
		}},
		"moved, but did not join in time": {
			members: []member{with(with(working("a", "z1", 0), moved), func(m *member) { m.machine.CreationTimestamp = metav1.NewTime(now.Add(-11 * time.Minute)) })},
			want:    map[string]cause{"a": causeRepair}, failed: 1,
		},
		"boot failed, its Machine was created late": {
			members: []member{with(with(working("a", "z1", 55), bootstrapFailed), moved)}, want: map[string]cause{"a": causeRepair}, failed: 1,
		},
		"not available": {members: []member{with(working("a", "z1", 0), notAvailable)}},
		"all lost": {
			members: []member{with(working("a", "z1", 0), gone), with(working("b", "z1", 0), gone), with(working("c", "z1", 0), gone)},
			want:    map[string]cause{"a": causeRepair, "b": causeRepair, "c": causeRepair},
		},
		"all stopped, one at a time": {
			members: []member{with(working("a", "z1", 0), stopped), with(working("b", "z1", 0), stopped), with(working("c", "z1", 0), stopped)},
			want:    map[string]cause{"a": causeRepair},
		},
		"all that the cloud takes away, and others later": {
			members: []member{with(working("a", "z1", 0), taken), with(working("b", "z1", 0), taken), with(working("c", "z1", 0), stopped)},
			want:    map[string]cause{"a": causeRepair, "b": causeRepair},
		},
		"others once the cloud takes too long to delete one": {
			members: []member{with(with(working("a", "z1", 0), taken), deletedLongAgo), with(working("b", "z1", 0), stopped)},
			want:    map[string]cause{"b": causeRepair},
		},
		"two at a time if two may be unavailable": {
			members:     []member{with(working("a", "z1", 0), bootstrapFailed), with(working("b", "z1", 0), unhealthy), with(working("c", "z1", 0), stopped)},
			unavailable: 2, want: map[string]cause{"a": causeRepair, "b": causeRemediation}, failed: 1,
		},
		"not while another is leaving": {members: []member{with(working("a", "z1", 0), stopped), with(working("b", "z1", 0), deleted)}},
		"not while another is booting": {members: []member{with(working("a", "z1", 0), stopped), with(working("b", "z1", 55), booting)}},
		"not after too many failures": {
			members:  []member{with(working("a", "z1", 55), bootstrapFailed)},
			failures: infrav1.FailedReplacements{Revision: current, Count: 3, LastTime: metav1.NewTime(now.Add(-time.Minute))}, failed: 3,
		},
		"again after a pause": {
			members:  []member{with(working("a", "z1", 55), bootstrapFailed)},
			failures: infrav1.FailedReplacements{Revision: current, Count: 3, LastTime: metav1.NewTime(now.Add(-11 * time.Minute))},
			want:     map[string]cause{"a": causeRepair}, failed: 4,
		},
		"members that had joined, without limit": {
			members:  []member{with(working("a", "z1", 0), stopped)},
			failures: infrav1.FailedReplacements{Revision: current, Count: 3, LastTime: metav1.NewTime(now)},
			want:     map[string]cause{"a": causeRepair}, failed: 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p := policyFor(len(test.members))
			p.maxUnavailable, p.failures = test.unavailable, test.failures
			d := disrupt(p.assess(test.members), p)
			if test.want == nil {
				test.want = map[string]cause{}
			}
			g.Expect(whys(d.victims)).To(Equal(test.want))
			g.Expect(memory{Failures: test.failures}.with(d.victims, current, now).Failures.Count).To(Equal(test.failed))
		})
	}
}

// One decision keeps the budget, whatever the members and the strategy are.
func TestDisruptionKeepsTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		members := anyMembers(t)
		p := policyFor(rapid.IntRange(0, 12).Draw(t, "replicas"))
		p.maxSurge = rapid.IntRange(0, 4).Draw(t, "surge")
		p.maxUnavailable = rapid.IntRange(0, 4).Draw(t, "unavailable")
		p.rollout = rapid.SampledFrom([]rollout{rolloutRuns, rolloutPaused, rolloutWaits}).Draw(t, "rollout")
		p.scaling = rapid.SampledFrom([]scaling{scalingHere, scalingElsewhere, scalingRestores, scalingWaits}).Draw(t, "scaling")
		d := disrupt(p.assess(members), p)
		chosen := whys(d.victims)
		g.Expect(d.victims).To(HaveLen(len(chosen)), "no member is chosen twice")

		before, after, counted, onTheWay, repaired := 0, 0, 0, 0, 0
		brokenStays, workingIsTooMany := false, false
		for _, m := range p.assess(members) {
			why, goes := chosen[m.name]
			brokenStays = brokenStays || (!goes && m.state.stays() && m.machine != nil && m.state.broken())
			workingIsTooMany = workingIsTooMany || (why == causeScaleDown && m.rank() > rankBroken)
			if m.counted() {
				counted++
			}
			if (m.state == stateLeaving && m.instance != nil) || (m.state.starting() && !m.waitsForCapacity()) {
				onTheWay++
			}
			if m.state.available() {
				before++
			}
			if m.state.available() && !goes {
				after++
			}
			if !goes {
				continue
			}
			g.Expect(m.leaving()).To(BeFalse())
			g.Expect(m.machine).NotTo(BeNil(), "an instance without a Machine cannot be drained")
			switch why {
			case causeRepair, causeRemediation:
				if m.state != stateLost {
					repaired++
				}
				g.Expect(m.state.broken()).To(BeTrue())
			case causeReclaim:
				g.Expect(m.instance.ReclaimAt).NotTo(BeNil())
			case causeRollout:
				g.Expect(p.rollout).To(Equal(rolloutRuns))
				g.Expect(m.instance.Revision).To(Equal(earlier))
			default:
				g.Expect(p.scaling).To(Or(Equal(scalingHere), Equal(scalingRestores)))
			}
		}
		g.Expect(brokenStays && workingIsTooMany).To(BeFalse(), "scale down removes no working, unmarked member while a broken one stays")
		g.Expect(after).To(BeNumerically(">=", min(before, p.minAvailable())), "available members")
		g.Expect(d.size).To(BeNumerically("<=", max(counted, p.replicas+p.maxSurge)), "instances")
		g.Expect(d.size).To(BeNumerically(">=", counted), "the order never removes instances")
		if repaired > 0 {
			g.Expect(onTheWay+repaired).To(BeNumerically("<=", p.repairLimit()), "repaired at once")
		}
		again := disrupt(p.assess(rapid.Permutation(members).Draw(t, "order")), p)
		g.Expect(whys(again.victims)).To(Equal(chosen), "the order of the members does not matter")
	})
}

func TestPortion(t *testing.T) {
	for name, test := range map[string]struct {
		value     *intstr.IntOrString
		direction bool
		want      int
	}{
		"the default":        {nil, up, 1},
		"a number":           {ptr.To(intstr.FromInt32(3)), up, 3},
		"a percentage, up":   {ptr.To(intstr.FromString("25%")), up, 3},
		"a percentage, down": {ptr.To(intstr.FromString("25%")), down, 2},
		"everything":         {ptr.To(intstr.FromString("100%")), up, 10},
		"zero":               {ptr.To(intstr.FromString("0%")), up, 0},
		"not a percentage":   {ptr.To(intstr.FromString("many")), up, 1},
		"out of range":       {ptr.To(intstr.FromString("900%")), up, 1},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(portion(test.value, 1, 10, test.direction)).To(Equal(test.want))
		})
	}
}

func TestBothRoundedToZeroIsOneUnavailable(t *testing.T) {
	g := NewWithT(t)
	s := newScope(3)
	s.pool.Spec.Strategy.MaxSurge = ptr.To(intstr.FromInt32(0))
	s.pool.Spec.Strategy.MaxUnavailable = ptr.To(intstr.FromString("10%"))
	g.Expect(policyOf(s).maxUnavailable).To(Equal(1))
}

func TestFailuresEndWithOneThatJoins(t *testing.T) {
	g := NewWithT(t)
	failures := infrav1.FailedReplacements{Revision: current, Count: 3, LastTime: metav1.NewTime(epoch.Add(10 * time.Minute))}
	s := newScope(2, working("a", "z1", 5))
	s.memory.Failures = failures
	g.Expect(currentFailures(s)).To(Equal(failures))
	s.members = append(s.members, working("b", "z1", 20))
	g.Expect(currentFailures(s)).To(BeZero())

	s.members, s.revision = nil, "next"
	g.Expect(currentFailures(s)).To(BeZero(), "another revision starts from zero")
}
