// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"errors"
	"math"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

var (
	zones   = []string{"zone-a", "zone-b"}
	tenants = []string{"a", "b"}
)

func TestDefaults(t *testing.T) {
	for name, test := range map[string]struct {
		given, want Spec
	}{
		"nothing but a kind": {Spec{Kind: BootFailure}, Spec{Kind: BootFailure, Probability: 1}},
		"a notice":           {Spec{Kind: SpotReclaim}, Spec{Kind: SpotReclaim, Probability: 1, NoticeSeconds: 30}},
		"a notice given":     {Spec{Kind: SpotReclaim, NoticeSeconds: 5}, Spec{Kind: SpotReclaim, Probability: 1, NoticeSeconds: 5}},
		"a time to wait":     {Spec{Kind: Throttling}, Spec{Kind: Throttling, Probability: 1, RetryAfterSeconds: 1}},
		"a status":           {Spec{Kind: ServerError}, Spec{Kind: ServerError, Probability: 1, Status: 503}},
		"an outage":          {Spec{Kind: ZoneOutage, Zone: "zone-a"}, Spec{Kind: ZoneOutage, Zone: "zone-a", AfterOutage: StayStopped}},
		"every tenant":       {Spec{Kind: Stockout, Tenant: "*"}, Spec{Kind: Stockout, Tenant: "*", Probability: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			test.given.Name, test.want.Name = "rule", "rule"
			if test.given.Tenant == "" {
				test.given.Tenant, test.want.Tenant = "a", "a"
			}
			got, err := test.given.Complete(zones, tenants)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(test.want))
			again, err := got.Complete(zones, tenants)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(again).To(Equal(got), "what is complete stays as it is")
		})
	}
}

func TestWrongRulesSayWhatIsAllowed(t *testing.T) {
	for name, test := range map[string]struct {
		change func(s *Spec)
		field  string
		words  string
	}{
		"name":                       {func(s *Spec) { s.Name = "Not A Name" }, "name", "lower case"},
		"no kind":                    {func(s *Spec) { s.Kind = "" }, "kind", "APILatency, BootFailure"},
		"kind":                       {func(s *Spec) { s.Kind = "Earthquake" }, "kind", "ZoneOutage"},
		"tenant":                     {func(s *Spec) { s.Tenant = "c" }, "tenant", "allowed: *, a, b"},
		"zone":                       {func(s *Spec) { s.Zone = "moon" }, "zone", "allowed: zone-a, zone-b"},
		"outage of nothing":          {func(s *Spec) { s.Kind = ZoneOutage }, "zone", "allowed: zone-a, zone-b"},
		"outage by chance":           {func(s *Spec) { s.Kind, s.Zone, s.Probability = ZoneOutage, "zone-a", 0.5 }, "probability", "allowed: tenant, zone, afterOutage"},
		"outage that is counted":     {func(s *Spec) { s.Kind, s.Zone, s.Count = ZoneOutage, "zone-a", 1 }, "count", "allowed: tenant, zone"},
		"what is after an outage":    {func(s *Spec) { s.Kind, s.Zone, s.AfterOutage = ZoneOutage, "zone-a", "Party" }, "afterOutage", "StartAgain, StayStopped"},
		"no outage":                  {func(s *Spec) { s.AfterOutage = StartAgain }, "afterOutage", "is not for faults of kind BootFailure"},
		"calls of a pool":            {func(s *Spec) { s.Kind, s.Pool = Throttling, "p" }, "pool", "allowed: tenant, probability, seed, count, retryAfterSeconds"},
		"calls of a zone":            {func(s *Spec) { s.Kind, s.Zone = ServerError, "zone-a" }, "zone", "is not for faults of kind ServerError"},
		"negative probability":       {func(s *Spec) { s.Probability = -0.1 }, "probability", "more than 0, at most 1"},
		"probability above 1":        {func(s *Spec) { s.Probability = 1.1 }, "probability", "more than 0, at most 1"},
		"no number":                  {func(s *Spec) { s.Probability = math.NaN() }, "probability", "more than 0, at most 1"},
		"count":                      {func(s *Spec) { s.Count = -1 }, "count", "1 or more"},
		"slow boot without a time":   {func(s *Spec) { s.Kind = SlowBoot }, "delaySeconds", "0.001 to 3600"},
		"a call too slow":            {func(s *Spec) { s.Kind, s.DelaySeconds = APILatency, 121 }, "delaySeconds", "0.001 to 120"},
		"a delay of no number":       {func(s *Spec) { s.Kind, s.DelaySeconds = LostInstance, math.NaN() }, "delaySeconds", "0 to 3600"},
		"a delay without use":        {func(s *Spec) { s.DelaySeconds = 1 }, "delaySeconds", "is not for faults of kind BootFailure"},
		"a notice in the past":       {func(s *Spec) { s.Kind, s.NoticeSeconds = SpotReclaim, -1 }, "noticeSeconds", "0.001 to 3600"},
		"a wait too long":            {func(s *Spec) { s.Kind, s.RetryAfterSeconds = Throttling, 3600 }, "retryAfterSeconds", "0.001 to 120"},
		"a status that is no error":  {func(s *Spec) { s.Kind, s.Status = ServerError, 404 }, "status", "500, 502, 503, 504"},
		"a status of something else": {func(s *Spec) { s.Status = 503 }, "status", "is not for faults of kind BootFailure"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			spec := Spec{Name: "rule", Kind: BootFailure, Tenant: "a"}
			test.change(&spec)
			_, err := spec.Complete(zones, tenants)
			var invalid *cloud.InvalidError
			g.Expect(errors.As(err, &invalid)).To(BeTrue(), "%v", err)
			g.Expect(invalid.Field).To(Equal(test.field))
			g.Expect(err.Error()).To(ContainSubstring(test.words))
		})
	}
}

func TestMatches(t *testing.T) {
	target := Target{Tenant: "a", Pool: "p", Zone: "zone-a"}
	for name, test := range map[string]struct {
		spec Spec
		want bool
	}{
		"tenant":         {Spec{Tenant: "a"}, true},
		"every tenant":   {Spec{Tenant: "*"}, true},
		"another tenant": {Spec{Tenant: "b"}, false},
		"all of it":      {Spec{Tenant: "a", Pool: "p", Zone: "zone-a"}, true},
		"another pool":   {Spec{Tenant: "a", Pool: "q"}, false},
		"another zone":   {Spec{Tenant: "a", Zone: "zone-b"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect((&Rule{Spec: test.spec}).Matches(target)).To(Equal(test.want))
		})
	}
}

// The same seed gives the same draws, even across restarts, and no rule strikes more often than it
// should.
func TestDrawsAreRepeated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := Spec{
			Seed: rapid.Int64().Draw(t, "seed"), Count: rapid.IntRange(0, 20).Draw(t, "count"),
			Probability: rapid.Float64Range(0.001, 1).Draw(t, "probability"),
		}
		one, other := Rule{Spec: spec}, Rule{Spec: spec}
		strikes := 0
		for i := range 100 {
			restarted := Rule{Spec: spec, Draws: other.Draws, Strikes: other.Strikes}
			got, again := one.Draw(), restarted.Draw()
			other = restarted
			if got != again {
				t.Fatalf("draw %d was %t, and then %t", i, got, again)
			}
			if got {
				strikes++
			}
		}
		if one.Strikes != strikes || (spec.Count > 0 && strikes > spec.Count) {
			t.Fatalf("%d strikes were counted as %d, at most %d are allowed", strikes, one.Strikes, spec.Count)
		}
		if spec.Probability == 1 && strikes != wanted(spec.Count) {
			t.Fatalf("a certain rule struck %d times", strikes)
		}
	})
}

func wanted(count int) int {
	if count == 0 {
		return 100
	}
	return count
}

func TestProbabilityIsMet(t *testing.T) {
	g := NewWithT(t)
	rule := Rule{Spec: Spec{Seed: 7, Probability: 0.3}}
	strikes := 0
	for range 10000 {
		if rule.Draw() {
			strikes++
		}
	}
	g.Expect(strikes).To(BeNumerically("~", 3000, 200))
}

func TestStrikesOfARunningInstance(t *testing.T) {
	g := NewWithT(t)
	now := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	late := Rule{Spec: Spec{Name: "late", Tenant: "a", Kind: LostInstance, DelaySeconds: 20}}
	soon := Rule{Spec: Spec{Name: "soon", Tenant: "a", Kind: SpotReclaim, DelaySeconds: 1.5, NoticeSeconds: 5}}
	boot := Rule{Spec: Spec{Name: "boot", Tenant: "a", Kind: SlowBoot, DelaySeconds: 3}}
	strikes := []Strike{late.Strike(), boot.Strike(), soon.Strike()}
	g.Expect(Next(strikes)).To(BeNil(), "nothing has a time before the instance runs")
	g.Expect(BootDelay(strikes)).To(Equal(3 * time.Second))

	strikes = Begun(strikes, now)
	g.Expect(strikes).To(HaveLen(2), "what is about the boot is over")
	g.Expect(*Next(strikes).At).To(Equal(now.Add(1500 * time.Millisecond)))
	g.Expect(Next(strikes).Cause()).To(Equal("fault rule soon"))
	g.Expect(Begun(strikes, now.Add(time.Hour))).To(Equal(strikes), "a time does not change any more")
	strikes = Without(strikes, soon.Key())
	g.Expect(*Next(strikes).At).To(Equal(now.Add(20 * time.Second)))
	g.Expect(Next(Without(strikes, late.Key()))).To(BeNil())
}

func TestDisturbancesAddUp(t *testing.T) {
	g := NewWithT(t)
	var d Disturbance
	for _, spec := range []Spec{
		{Kind: APILatency, DelaySeconds: 0.5}, {Kind: Throttling, RetryAfterSeconds: 2}, {Kind: APILatency, DelaySeconds: 1},
		{Kind: ServerError, Status: 502},
	} {
		(&Rule{Spec: spec}).Disturb(&d)
	}
	g.Expect(d.Delay).To(Equal(1500 * time.Millisecond))
	g.Expect(d.Err).To(Equal(&cloud.ThrottledError{RetryAfter: 2 * time.Second}), "the first refusal counts")
	for status, want := range map[int]cloud.Reason{
		500: cloud.ReasonUnknown, 502: cloud.ReasonUnavailable, 503: cloud.ReasonUnavailable, 504: cloud.ReasonUnavailable,
	} {
		g.Expect(cloud.ReasonFor(&StatusError{Status: status, Rule: "r"})).To(Equal(want))
	}
}
