// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// current and earlier are revisions.
const current, earlier = "current", "earlier"

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// working returns a working member, created this many minutes after epoch.
func working(name, zone string, minutes int) member {
	return member{
		name: name,
		instance: &cloud.Instance{
			ID: name, Hostname: name, Zone: zone, ProviderID: cloud.ProviderID(zone, name), State: cloud.InstanceRunning,
			Bootstrap: cloud.Bootstrap{State: cloud.BootstrapSucceeded}, CreatedAt: epoch.Add(time.Duration(minutes) * time.Minute),
			Revision: current,
		},
		machine: &clusterv1.Machine{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Status: clusterv1.MachineStatus{
				NodeRef:    clusterv1.MachineNodeReference{Name: name},
				Conditions: []metav1.Condition{{Type: clusterv1.MachineAvailableCondition, Status: metav1.ConditionTrue}},
			},
		},
		fooMachine: &infrav1.FooMachine{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       infrav1.FooMachineSpec{ProviderID: cloud.ProviderID(zone, name)},
		},
	}
}

// with returns a changed copy.
func with(m member, change func(m *member)) member {
	if m.instance != nil {
		m.instance = ptr.To(*m.instance)
	}
	m.fooMachine, m.machine = m.fooMachine.DeepCopy(), m.machine.DeepCopy()
	change(&m)
	return m
}

func marked(m *member) {
	m.machine.Annotations = map[string]string{clusterv1.DeleteMachineAnnotation: ""}
}

func outdated(m *member) { m.instance.Revision = earlier }

func notAvailable(m *member) { m.machine.Status.Conditions = nil }

func stopped(m *member) { m.instance.State = cloud.InstanceStopped }

// booting makes a member one that has not joined; whether it still may depends on the time.
func booting(m *member) {
	m.instance.Bootstrap.State = cloud.BootstrapRunning
	m.machine.Status = clusterv1.MachineStatus{}
}

// withoutCapacity makes a member wait for a host.
func withoutCapacity(m *member) {
	booting(m)
	m.instance.State = cloud.InstancePending
	m.instance.Problem = &cloud.Problem{Reason: cloud.ReasonOutOfCapacity, Message: "zone z1 is out of capacity"}
}

func bootstrapFailed(m *member) {
	booting(m)
	m.instance.Bootstrap = cloud.Bootstrap{State: cloud.BootstrapFailed, Message: "kubeadm join: exit code 1"}
}

// moved makes a member one of a pool that was just moved from another management cluster: its
// Machine was created again and has no status.
func moved(m *member) {
	m.machine.CreationTimestamp = metav1.NewTime(epoch.Add(time.Hour))
	m.machine.Status = clusterv1.MachineStatus{}
}

func unhealthy(m *member) {
	m.machine.Status.Conditions = []metav1.Condition{
		{Type: clusterv1.MachineHealthCheckSucceededCondition, Status: metav1.ConditionFalse},
		{Type: clusterv1.MachineOwnerRemediatedCondition, Status: metav1.ConditionFalse},
	}
}

func deleted(m *member) {
	now := metav1.NewTime(epoch.Add(59 * time.Minute))
	m.fooMachine.DeletionTimestamp = &now
}

func deletedLongAgo(m *member) { m.machine.DeletionTimestamp = ptr.To(metav1.NewTime(epoch)) }

func noticed(m *member) { at := epoch.Add(61 * time.Minute); m.instance.ReclaimAt = &at }

func gone(m *member) { m.instance = nil }

// taken makes a member one whose instance the cloud deletes by itself.
func taken(m *member) { m.instance.State = cloud.InstanceDeleting }

// orphaned makes a member one whose FooMachine was deleted by hand, which also deleted the
// instance.
func orphaned(m *member) { m.instance, m.fooMachine = nil, nil }

func namesOf(victims []victim) []string {
	names := []string{}
	for _, m := range victims {
		names = append(names, m.name)
	}
	return names
}

// policyFor returns the policy of a pool with the default strategy, an hour after the epoch.
func policyFor(replicas int) policy {
	return policy{
		replicas: replicas, maxSurge: 1, deletePolicy: infrav1.OldestDeletePolicy, revision: current, rollout: rolloutRuns,
		scaling: scalingHere, joinTimeout: 10 * time.Minute, maxFailed: 3, now: epoch.Add(time.Hour),
	}
}

func TestScaleDown(t *testing.T) {
	for name, test := range map[string]struct {
		members []member
		policy  infrav1.DeletePolicy
		left    int
		change  func(p *policy)
		want    []string
	}{
		"no surplus":              {members: []member{working("a", "z1", 0)}, left: 1, want: []string{}},
		"fewer than wanted":       {members: []member{working("a", "z1", 0)}, left: 3, want: []string{}},
		"the oldest":              {members: []member{working("a", "z1", 2), working("b", "z1", 1)}, left: 1, want: []string{"b"}},
		"the newest":              {members: []member{working("a", "z1", 2), working("b", "z1", 1)}, policy: infrav1.NewestDeletePolicy, left: 1, want: []string{"a"}},
		"by name when equal":      {members: []member{working("b", "z1", 1), working("a", "z1", 1)}, left: 1, want: []string{"a"}},
		"the fullest zone":        {members: []member{working("a", "z1", 0), working("b", "z2", 1), working("c", "z2", 2)}, left: 2, want: []string{"b"}},
		"zones stay even":         {members: []member{working("a", "z1", 0), working("b", "z1", 1), working("c", "z2", 2), working("d", "z2", 3)}, left: 2, want: []string{"a", "c"}},
		"the marked one first":    {members: []member{working("a", "z1", 0), with(working("b", "z1", 9), marked)}, left: 1, want: []string{"b"}},
		"unavailable first":       {members: []member{working("a", "z1", 0), with(working("b", "z1", 9), notAvailable)}, left: 1, want: []string{"b"}},
		"outdated first":          {members: []member{working("a", "z1", 0), with(working("b", "z1", 9), outdated), with(working("c", "z1", 9), outdated)}, left: 1, want: []string{"b", "c"}},
		"not one that is leaving": {members: []member{with(working("a", "z1", 0), deleted), working("b", "z1", 9), working("c", "z1", 9)}, left: 1, want: []string{"b"}},
		"one that failed to join and is not replaced yet": {
			members: []member{working("a", "z1", 0), working("b", "z1", 0), working("c", "z1", 0), with(with(working("d", "z1", 55), bootstrapFailed), marked)},
			left:    3, want: []string{"d"},
			change: func(p *policy) {
				p.maxUnavailable = 1
				p.failures = infrav1.FailedReplacements{Revision: current, Count: 3, LastTime: metav1.NewTime(p.now)}
			},
		},
		"all that failed, whatever the repair limit": {
			members: []member{
				working("a", "z1", 0), working("b", "z1", 0), working("c", "z1", 0),
				with(working("d", "z1", 55), bootstrapFailed), with(working("e", "z1", 55), bootstrapFailed), with(working("f", "z1", 55), bootstrapFailed),
			},
			left: 3, want: []string{"d", "e", "f"},
		},
		"lost ones do not count as surplus": {
			members: []member{with(working("a", "z1", 0), gone), with(working("b", "z1", 0), gone), working("c", "z1", 0), working("d", "z1", 1)},
			left:    1, want: []string{"a", "b", "c"},
		},
		"all": {members: []member{working("a", "z1", 0), working("b", "z2", 9)}, left: 0, want: []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p := policyFor(test.left)
			if test.policy != "" {
				p.deletePolicy = test.policy
			}
			if test.change != nil {
				test.change(&p)
			}
			g.Expect(namesOf(disrupt(p.assess(test.members), p).victims)).To(Equal(test.want))
		})
	}
}

func TestRandomIsTheSameAtEveryLook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		p := policyFor(3)
		p.deletePolicy = infrav1.RandomDeletePolicy
		members := anyMembers(t)
		chosen := namesOf(disrupt(p.assess(members), p).victims)
		g.Expect(namesOf(disrupt(p.assess(rapid.Permutation(members).Draw(t, "order")), p).victims)).To(Equal(chosen))
	})
}

// anyMembers draws a random pool with all kinds of members.
func anyMembers(t *rapid.T) []member {
	count := rapid.IntRange(0, 12).Draw(t, "count")
	members := make([]member, 0, count)
	for i := range count {
		m := working(fmt.Sprintf("m%02d", i), rapid.SampledFrom([]string{"z1", "z2", "z3"}).Draw(t, "zone"), rapid.IntRange(0, 59).Draw(t, "age"))
		changes := []func(*member){nil, nil, nil, marked, stopped, booting, bootstrapFailed, deleted, gone, taken, outdated, unhealthy, notAvailable, noticed, moved, orphaned, withoutCapacity}
		for range 2 {
			if change := rapid.SampledFrom(changes).Draw(t, "change"); change != nil && m.instance != nil {
				change(&m)
			}
		}
		members = append(members, m)
	}
	return members
}

// The cost per member must not grow with the pool.
func BenchmarkDisrupt(b *testing.B) {
	for _, size := range []int{100, 1000, 10000} {
		members := make([]member, 0, size)
		for i := range size {
			members = append(members, working(fmt.Sprintf("m%05d", i), fmt.Sprintf("z%d", i%3), i))
		}
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			for b.Loop() {
				disrupt(policyFor(size/2).assess(members), policyFor(size/2))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/member")
		})
	}
}
