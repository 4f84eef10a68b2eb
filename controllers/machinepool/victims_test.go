/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package machinepool

import (
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// working is a member that works, made so many minutes after the first.
func working(name, zone string, minutes int) member {
	return member{
		name: name,
		instance: &cloud.Instance{
			ID: name, Hostname: name, Zone: zone, ProviderID: cloud.ProviderID(zone, name), State: cloud.InstanceRunning,
			Bootstrap: cloud.Bootstrap{State: cloud.BootstrapSucceeded}, CreatedAt: epoch.Add(time.Duration(minutes) * time.Minute),
		},
		fooMachine: &infrav1.FooMachine{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       infrav1.FooMachineSpec{ProviderID: cloud.ProviderID(zone, name)},
		},
	}
}

func with(m member, change func(m *member)) member {
	change(&m)
	return m
}

func marked(m *member) {
	m.machine = &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{
		Name: m.name, Annotations: map[string]string{clusterv1.DeleteMachineAnnotation: ""},
	}}
}

func stopped(m *member) { m.instance.State = cloud.InstanceStopped }

func booting(m *member) { m.instance.Bootstrap.State = cloud.BootstrapRunning }

func bootstrapFailed(m *member) { m.instance.Bootstrap.State = cloud.BootstrapFailed }

func deleted(m *member) { now := metav1.Now(); m.fooMachine.DeletionTimestamp = &now }

func gone(m *member) { m.instance = nil }

func namesOf(members []member) []string {
	names := []string{}
	for _, m := range members {
		names = append(names, m.name)
	}
	return names
}

func TestVictims(t *testing.T) {
	for name, test := range map[string]struct {
		members []member
		count   int
		want    []string
	}{
		"none too many":          {[]member{working("a", "z1", 0)}, 0, []string{}},
		"fewer than wanted":      {[]member{working("a", "z1", 0)}, -2, []string{}},
		"the oldest":             {[]member{working("a", "z1", 2), working("b", "z1", 1)}, 1, []string{"b"}},
		"by name when equal":     {[]member{working("b", "z1", 1), working("a", "z1", 1)}, 1, []string{"a"}},
		"from the fullest zone":  {[]member{working("a", "z1", 0), working("b", "z2", 1), working("c", "z2", 2)}, 1, []string{"b"}},
		"zones stay even":        {[]member{working("a", "z1", 0), working("b", "z1", 1), working("c", "z2", 2), working("d", "z2", 3)}, 2, []string{"a", "c"}},
		"the marked one first":   {[]member{working("a", "z1", 0), with(working("b", "z1", 9), marked)}, 1, []string{"b"}},
		"the stopped one before": {[]member{working("a", "z1", 0), with(working("b", "z2", 9), stopped)}, 1, []string{"b"}},
		"the failed one before":  {[]member{working("a", "z1", 0), with(working("b", "z2", 9), bootstrapFailed)}, 1, []string{"b"}},
		"broken before booting":  {[]member{with(working("a", "z1", 0), booting), with(working("b", "z1", 9), stopped)}, 1, []string{"b"}},
		"booting before working": {[]member{working("a", "z1", 0), with(working("b", "z1", 9), booting)}, 1, []string{"b"}},
		"not one that is leaving": {
			[]member{with(working("a", "z1", 0), deleted), working("b", "z1", 9)}, 1, []string{"b"},
		},
		"not one that is lost": {[]member{with(working("a", "z1", 0), gone), working("b", "z1", 9)}, 1, []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(namesOf(victims(test.members, test.count))).To(Equal(test.want))
		})
	}
}

// anyMembers draws pools of all kinds of members.
func anyMembers(t *rapid.T) []member {
	count := rapid.IntRange(0, 12).Draw(t, "count")
	members := make([]member, 0, count)
	for i := range count {
		m := working(fmt.Sprintf("m%02d", i), rapid.SampledFrom([]string{"z1", "z2", "z3"}).Draw(t, "zone"), rapid.IntRange(0, 3).Draw(t, "age"))
		if change := rapid.SampledFrom([]func(*member){nil, nil, marked, stopped, booting, bootstrapFailed, deleted, gone}).Draw(t, "change"); change != nil {
			change(&m)
		}
		members = append(members, m)
	}
	return members
}

// Victims are exactly as many as asked for, all of them live, and the same whatever the order in which members come.
func TestVictimsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		members := anyMembers(t)
		count := rapid.IntRange(0, 14).Draw(t, "victims")
		live := 0
		for _, m := range members {
			if m.live() {
				live++
			}
		}
		chosen := victims(members, count)
		g.Expect(chosen).To(HaveLen(min(count, live)))
		lowestLeft := rankWorking
		for _, m := range members {
			isChosen := slices.ContainsFunc(chosen, func(c member) bool { return c.name == m.name })
			g.Expect(isChosen && !m.live()).To(BeFalse(), "%s is not live", m.name)
			if m.live() && !isChosen {
				lowestLeft = min(lowestLeft, rankOf(m))
			}
		}
		for _, m := range chosen {
			g.Expect(rankOf(m)).To(BeNumerically("<=", lowestLeft), "%s went before one of a lower rank", m.name)
		}
		g.Expect(namesOf(victims(rapid.Permutation(members).Draw(t, "order"), count))).To(Equal(namesOf(chosen)))
	})
}

// The cost per member must not grow with the pool.
func BenchmarkVictims(b *testing.B) {
	for _, size := range []int{100, 1000, 10000} {
		members := make([]member, 0, size)
		for i := range size {
			members = append(members, working(fmt.Sprintf("m%05d", i), fmt.Sprintf("z%d", i%3), i))
		}
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			for b.Loop() {
				victims(members, size/2)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/member")
		})
	}
}
