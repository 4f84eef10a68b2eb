// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

const gib = 1 << 30

func small(n int) cloud.Resources {
	return cloud.Resources{Instances: n, CPUs: 2 * n, MemoryBytes: int64(n) * 4 * gib}
}

func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "ns", Name: name}
}

func TestDecide(t *testing.T) {
	limits := cloud.Resources{Instances: 10, CPUs: 16, MemoryBytes: 40 * gib, LoadBalancers: 1}
	for name, test := range map[string]struct {
		now    account
		claims map[types.NamespacedName]cloud.Resources
		wanted cloud.Resources
		short  []string
	}{
		"an empty account": {now: account{limits: limits}, wanted: small(8)},
		"no limits":        {now: account{used: small(100)}, wanted: small(100)},
		"exactly full":     {now: account{limits: limits, used: small(3)}, wanted: small(5)},
		"one of a kind":    {account{limits: limits, used: small(3)}, nil, small(6), []string{"CPUs: 12 needed, 6 of 16 used, 0 reserved for other Clusters"}},
		"more than there is": {account{limits: limits}, nil, small(11), []string{
			"instances: 11 needed, 0 of 10 used, 0 reserved for other Clusters", "CPUs: 22 needed, 0 of 16 used, 0 reserved for other Clusters",
			"memory: 44Gi needed, 0 of 40Gi used, 0 reserved for other Clusters"}},
		"load balancers": {account{limits: limits, used: cloud.Resources{LoadBalancers: 1}}, nil, cloud.Resources{LoadBalancers: 1},
			[]string{"load balancers: 1 needed, 1 of 1 used, 0 reserved for other Clusters"}},
		"a claim of which nothing is there": {account{limits: limits}, map[types.NamespacedName]cloud.Resources{named("a"): small(6)}, small(3),
			[]string{"CPUs: 6 needed, 0 of 16 used, 12 reserved for other Clusters"}},
		"a claim of which some is there": {now: account{limits: limits, used: small(5), clusters: map[types.NamespacedName]cloud.Resources{named("a"): small(5)}},
			claims: map[types.NamespacedName]cloud.Resources{named("a"): small(6)}, wanted: small(2)},
		"a claim that is met and more": {now: account{limits: limits, used: small(7), clusters: map[types.NamespacedName]cloud.Resources{named("a"): small(7)}},
			claims: map[types.NamespacedName]cloud.Resources{named("a"): small(6)}, wanted: small(1)},
		"more used than allowed, of another kind": {now: account{limits: limits, used: small(20)}, wanted: cloud.Resources{LoadBalancers: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(decide(test.now, test.claims, test.wanted).short).To(HaveExactElements(test.short))
		})
	}
}

func TestCount(t *testing.T) {
	g := NewWithT(t)
	sizes := newSizes([]cloud.InstanceType{{Name: "small", CPUs: 2, MemoryBytes: 4 * gib}, {Name: "wide", CPUs: 8, MemoryBytes: gib}})
	of := func(name, instanceType string) cloud.Instance {
		return cloud.Instance{Type: instanceType, Tags: cloud.Tags{ownertags.ClusterKey: "ns/" + name}}
	}
	now := count([]cloud.Instance{of("a", "small"), of("a", "wide"), of("b", "small"), of("b", "gone"), {Type: "small"}},
		[]cloud.LoadBalancer{{LoadBalancerSpec: cloud.LoadBalancerSpec{Tags: cloud.Tags{ownertags.ClusterKey: "ns/a"}}}},
		cloud.Quota{Limits: cloud.Resources{Instances: 9}, Used: cloud.Resources{Instances: 4, CPUs: 30}}, sizes)
	g.Expect(now.limits).To(Equal(cloud.Resources{Instances: 9}))
	g.Expect(now.used).To(Equal(cloud.Resources{Instances: 5, CPUs: 30, MemoryBytes: 13 * gib, LoadBalancers: 1}), "the larger of what is listed and what the cloud says")
	g.Expect(now.clusters).To(Equal(map[types.NamespacedName]cloud.Resources{
		named("a"): {Instances: 2, CPUs: 10, MemoryBytes: 5 * gib, LoadBalancers: 1},
		named("b"): {Instances: 2, CPUs: 2, MemoryBytes: 4 * gib},
	}))
}

func TestAmounts(t *testing.T) {
	sizes := newSizes([]cloud.InstanceType{{Name: "small", CPUs: 2, MemoryBytes: 4 * gib}, {Name: "wide", CPUs: 8, MemoryBytes: gib}})
	for name, test := range map[string]struct {
		asked  demand
		want   cloud.Resources
		absent string
	}{
		"known":     {demand{machines: map[string]int{"small": 2, "wide": 1}}, cloud.Resources{Instances: 3, CPUs: 12, MemoryBytes: 9 * gib, LoadBalancers: 1}, ""},
		"uncertain": {demand{machines: map[string]int{"small": 2}, uncertain: true}, cloud.Resources{Instances: 2, CPUs: 16, MemoryBytes: 8 * gib, LoadBalancers: 1}, ""},
		"absent": {demand{machines: map[string]int{"huge": 1, "big": 0}}, cloud.Resources{Instances: 1, CPUs: 8, MemoryBytes: 4 * gib, LoadBalancers: 1},
			"the cloud has no instance type big, huge, it has: small, wide"},
		"nothing": {demand{}, cloud.Resources{LoadBalancers: 1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(sizes.amounts(test.asked)).To(Equal(test.want))
			g.Expect(sizes.absent(test.asked)).To(Equal(test.absent))
		})
	}
}

// life is a cluster in the property test below.
type life struct {
	name    string
	wanted  int
	granted bool
	made    int
	gone    bool
}

// TestNeverMoreThanTheQuota requests, creates and deletes clusters in any order. Whatever happens,
// the clusters that were let through fit into the quota together once everything exists, and no
// cluster that would fit is held back.
func TestNeverMoreThanTheQuota(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 20).Draw(t, "limit")
		others := rapid.IntRange(0, 5).Draw(t, "others")
		var lives []*life
		for i, wanted := range rapid.SliceOfN(rapid.IntRange(1, 12), 1, 8).Draw(t, "wanted") {
			lives = append(lives, &life{name: fmt.Sprint("c", i), wanted: wanted})
		}
		limits := small(limit)
		step := func(t *rapid.T) {
			one := rapid.SampledFrom(lives).Draw(t, "cluster")
			switch rapid.SampledFrom([]string{"ask", "ask", "make", "make", "lose", "delete"}).Draw(t, "what") {
			case "ask":
				ask(t, lives, one, account{limits: limits, used: small(others)})
			case "make":
				if one.granted && one.made < one.wanted {
					one.made++
				}
			case "lose":
				one.made = max(0, one.made-1)
			case "delete":
				one.gone, one.granted, one.made = true, false, 0
			}
		}
		t.Repeat(map[string]func(*rapid.T){"step": step, "": func(t *rapid.T) {
			total := 0
			for _, one := range lives {
				if one.granted {
					total += one.wanted
				}
			}
			if total > 0 && total+others > max(limit, others) {
				t.Fatalf("%d were promised and %d are of others, of %d", total, others, limit)
			}
		}})
	})
}

// ask decides about a cluster, given what is visible of the others.
func ask(t *rapid.T, lives []*life, one *life, now account) {
	if one.granted || one.gone {
		return
	}
	now.clusters = map[types.NamespacedName]cloud.Resources{}
	claims := map[types.NamespacedName]cloud.Resources{}
	promised := one.wanted + now.used.Instances
	for _, other := range lives {
		now.used = sum(now.used, small(other.made))
		now.clusters[named(other.name)] = small(other.made)
		if other.granted {
			claims[named(other.name)] = small(other.wanted)
			promised += other.wanted
		}
	}
	one.granted = len(decide(now, claims, small(one.wanted)).short) == 0
	if one.granted != (promised <= now.limits.Instances) {
		t.Fatalf("%d instances would be promised, of %d: let go %t", promised, now.limits.Instances, one.granted)
	}
}
