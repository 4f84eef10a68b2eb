// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

func TestPaceGrowsWithThePool(t *testing.T) {
	g := NewWithT(t)
	p, key := &pace{}, types.NamespacedName{Namespace: "ns", Name: "workers"}
	g.Expect(p.rest(key, epoch)).To(BeZero())
	p.reconciled(key, 2000, epoch)
	g.Expect(p.rest(key, epoch)).To(Equal(time.Second))
	g.Expect(p.rest(key, epoch.Add(time.Second))).To(BeZero())
	p.reconciled(key, 1_000_000, epoch)
	g.Expect(p.rest(key, epoch)).To(Equal(paceMax))
	p.forget(key)
	g.Expect(p.rest(key, epoch)).To(BeZero())
}

func withUID(uid types.UID) func(m *member) {
	return func(m *member) { m.fooMachine.UID, m.machine.UID = "foo-"+uid, uid }
}

// A member whose deletion was requested counts as leaving until the cache shows the deletion, and
// is forgotten then.
func TestDeletionsAreExpectedUntilTheCacheShowsThem(t *testing.T) {
	g := NewWithT(t)
	memories := newMemories()
	a, b := with(working("a", "z1", 0), withUID("1")), with(working("b", "z1", 1), withUID("2"))
	s := newScope(1, a, b)
	g.Expect(memories.known(s.pool)).To(BeFalse())
	memories.expectDeletion(s.pool, "1")
	g.Expect(memories.known(s.pool)).To(BeTrue())

	memories.mark(s.pool, s.members)
	g.Expect(s.members[0].leaving()).To(BeTrue())
	g.Expect(disrupt(policyOf(s).assess(s.members), policyOf(s)).victims).To(BeEmpty(), "one is being deleted already")

	memories.mark(s.pool, []member{with(a, deleted), b})
	g.Expect(memories.of(s.pool).deleted).To(BeEmpty())
}

// A Machine that vanished immediately and was created again for the same FooMachine is no longer
// leaving.
func TestADeletionIsExpectedOfOneMachineOnly(t *testing.T) {
	g := NewWithT(t)
	memories := newMemories()
	a := with(working("a", "z1", 0), withUID("1"))
	s := newScope(1, a)
	memories.expectDeletion(s.pool, "1")
	again := []member{with(a, func(m *member) { m.machine.UID = "2" })}
	memories.mark(s.pool, again)
	g.Expect(again[0].leaving()).To(BeFalse())
	g.Expect(memories.of(s.pool).deleted).To(BeEmpty())
}

// A member that a live read showed as leaving counts as leaving even if the cache does not show it
// yet, whoever requested its deletion.
func TestALiveReadIsNotForgotten(t *testing.T) {
	g := NewWithT(t)
	memories := newMemories()
	a, b := with(working("a", "z1", 0), withUID("1")), with(working("b", "z1", 1), withUID("2"))
	s := newScope(2, a, b)
	memories.sawLeaving(s.pool, []member{a, with(b, deleted)})
	memories.mark(s.pool, s.members)
	g.Expect(s.members[0].leaving()).To(BeFalse())
	g.Expect(s.members[1].leaving()).To(BeTrue())
}

// A live read may show that an instance or a FooMachine is being deleted. Its Machine is not, and has
// to be deleted later.
func TestALiveReadExpectsOnlyWhatItShows(t *testing.T) {
	g := NewWithT(t)
	memories := newMemories()
	a, b := with(working("a", "z1", 0), withUID("1")), with(working("b", "z1", 1), withUID("2"))
	s := newScope(2, with(a, gone), with(b, orphaned))
	memories.sawLeaving(s.pool, []member{with(a, taken), with(b, deleted)})
	memories.mark(s.pool, s.members)
	g.Expect(namesOf(decided(s).victims)).To(ConsistOf("a", "b"))
}

// A process that has not written the memory yet uses the annotation, which its cache may show late.
func TestAMemoryIsKnownOnceItIsWritten(t *testing.T) {
	g := NewWithT(t)
	memories := newMemories()
	s := newScope(1)
	memories.expectDeletion(s.pool, "1")
	setMemory(s.pool, `{"replicas":3}`)
	g.Expect(memories.recall(s.pool).Replicas).To(HaveValue(BeEquivalentTo(3)))
	memories.store(s.pool, memory{})
	g.Expect(memories.recall(s.pool).Replicas).To(BeNil(), "the cache does not show the write yet")
}

// A Machine without its finalizer vanishes as soon as it is deleted, without a drain of its Node.
// Cluster API adds the finalizer shortly after it creates the Machine.
func TestAMachineWithoutItsFinalizerIsNotThereYet(t *testing.T) {
	g := NewWithT(t)
	a := working("a", "z1", 0)
	bare := a.machine.DeepCopy()
	bare.Spec.InfrastructureRef.Name, bare.Finalizers = "a", nil
	members := membersOf([]cloud.Instance{*a.instance}, []infrav1.FooMachine{*a.fooMachine}, []clusterv1.Machine{*bare})
	g.Expect(members).To(HaveLen(1))
	g.Expect(members[0].machine).To(BeNil())
	bare.Finalizers = []string{clusterv1.MachineFinalizer}
	members = membersOf([]cloud.Instance{*a.instance}, []infrav1.FooMachine{*a.fooMachine}, []clusterv1.Machine{*bare})
	g.Expect(members[0].machine).NotTo(BeNil())
}

// A failure counts once, even if the process ended between counting it and deleting its Machine.
func TestAFailureCountsOnce(t *testing.T) {
	g := NewWithT(t)
	victims := []victim{{member: working("a", "z1", 0), why: causeRepair, failure: "has not joined"}, {member: working("b", "z1", 0), why: causeRepair}}
	once := memory{}.with(victims, current, epoch)
	g.Expect(once.Failures.Count).To(BeEquivalentTo(1))
	g.Expect(once.Failures.Message).To(Equal("a has not joined"))
	g.Expect(once.with(victims, current, epoch.Add(time.Hour))).To(Equal(once))
	g.Expect(once.stillCounted([]member{with(working("a", "z1", 0), deleted)})).To(BeEmpty())
}

// While somebody else shrinks the pool in the cloud, its size is not remembered: the Machine of an
// instance that is being deleted leaves without changing it.
func TestTheSizeIsNotRememberedForDeletedInstances(t *testing.T) {
	for name, change := range map[string]func(m *member){"being deleted": taken, "deleted": gone} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := newScope(2, with(working("a", "z1", 0), change), working("b", "z1", 0))
			s.machinePool.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "x"}
			p := decided(s)
			g.Expect(namesOf(p.victims)).To(ConsistOf("a"))
			g.Expect(p.memory.Replicas).To(BeNil())
			g.Expect(p.replicas).To(HaveValue(BeEquivalentTo(1)))
		})
	}
}

// While somebody else scales the pool, nothing replaces a Machine that a user deletes.
func TestAPoolScaledElsewhereShrinksWithADeletedMachine(t *testing.T) {
	g := NewWithT(t)
	s := newScope(2, with(working("a", "z1", 0), deleted), working("b", "z1", 0))
	s.machinePool.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "x"}
	p := decided(s)
	g.Expect(p.ensure).To(BeNil())
	g.Expect(p.replicas).To(HaveValue(BeEquivalentTo(1)))
}

// While somebody else scales the pool, its size is remembered before a replacement changes it.
func TestReplacementRemembersTheSize(t *testing.T) {
	g := NewWithT(t)
	s := newScope(9, with(working("a", "z1", 0), outdated), with(working("b", "z1", 0), outdated))
	s.machinePool.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "x"}
	p := decided(s)
	g.Expect(p.memory.Replicas).To(HaveValue(BeEquivalentTo(2)))
	g.Expect(p.replicas).To(HaveValue(BeEquivalentTo(2)))
	g.Expect(p.ensure.Size).To(BeEquivalentTo(3))

	s.memory, s.cloudPool.Size = p.memory, 3
	g.Expect(decided(s).desired).To(HaveValue(BeEquivalentTo(2)), "the surge does not count as the autoscaler's size")
}

// scaledBy returns the scope of a pool that somebody else scales, with the size that was remembered
// before a replacement.
func scaledBy(s *scope, remembered *int32) *scope {
	s.machinePool.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "x"}
	s.memory.Replicas = remembered
	return s
}

// A cloud that took an instance back before its drain ended has refilled its pool meanwhile. Nobody
// else asked for that instance, so nobody else removes it.
func TestTheSurplusOfAReplacementIsRemoved(t *testing.T) {
	old := func(name string) member { return with(working(name, "z1", 0), outdated) }
	for name, test := range map[string]struct {
		members []member
		paused  bool
		want    map[string]cause
	}{
		"after a repair": {
			members: []member{working("a", "z1", 0), working("b", "z1", 1), working("c", "z1", 2), working("d", "z1", 3)},
			want:    map[string]cause{"a": causeScaleDown},
		},
		"while the drain goes on": {
			members: []member{with(with(working("a", "z1", 0), deleted), gone), working("b", "z1", 1), working("c", "z1", 2), working("d", "z1", 3), working("e", "z1", 4)},
			want:    map[string]cause{"b": causeScaleDown},
		},
		"while the rollout is paused": {
			members: []member{old("a"), old("b"), old("c"), working("d", "z1", 9)}, paused: true,
			want: map[string]cause{"a": causeScaleDown},
		},
		"not while the rollout may use it": {
			members: []member{old("a"), old("b"), old("c"), with(working("d", "z1", 59), booting), with(working("e", "z1", 59), booting)},
		},
		"not before all have a Machine": {
			members: []member{working("a", "z1", 0), working("b", "z1", 1), working("c", "z1", 2), with(working("d", "z1", 3), func(m *member) { m.machine = nil })},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := scaledBy(newScope(9, test.members...), ptr.To[int32](3))
			s.pool.Spec.Strategy.RolloutPaused = &test.paused
			p := decided(s)
			if test.want == nil {
				test.want = map[string]cause{}
			}
			g.Expect(whys(p.victims)).To(Equal(test.want))
			g.Expect(p.memory.Replicas).To(HaveValue(BeEquivalentTo(3)))
			g.Expect(p.replicas).To(HaveValue(BeEquivalentTo(3)))

			left := slices.DeleteFunc(test.members, func(m member) bool { return m.leaving() || test.want[m.name] != "" })
			s = scaledBy(newScope(9, left[:3]...), p.memory.Replicas)
			s.pool.Spec.Strategy.RolloutPaused = &test.paused
			if p = decided(s); s.rules.rollout == rolloutRuns && s.census.count(state.outdated) > 0 {
				return
			}
			g.Expect(p.memory.Replicas).To(BeNil(), "whoever scales the pool is heard again")
			g.Expect(p.desired).To(HaveValue(BeEquivalentTo(3)))
		})
	}
}

// The size of the pool includes an instance that the cloud took back and has not refilled yet.
// Nobody else asked for it.
func TestAReplacementTakesBackItsSurge(t *testing.T) {
	g := NewWithT(t)
	s := scaledBy(newScope(9, with(with(working("a", "z1", 0), deleted), gone), working("b", "z1", 1), working("c", "z1", 2), working("d", "z1", 3)), ptr.To[int32](3))
	s.cloudPool.Size = 4
	p := decided(s)
	g.Expect(p.ensure).To(HaveValue(HaveField("Size", BeEquivalentTo(3))))
	g.Expect(p.memory.Replicas).To(HaveValue(BeEquivalentTo(3)))
}

// The order for another template comes before the one that restores the size, and may fail.
func TestTheSizeIsRememberedUntilTheCloudHasIt(t *testing.T) {
	g := NewWithT(t)
	s := scaledBy(newScope(9, working("a", "z1", 1), working("b", "z1", 2), working("c", "z1", 3)), ptr.To[int32](3))
	s.cloudPool.Size, s.cloudPool.Revision = 4, "other"
	p := decided(s)
	g.Expect(p.ensure).To(HaveValue(HaveField("Size", BeEquivalentTo(3))))
	g.Expect(p.memory.Replicas).To(HaveValue(BeEquivalentTo(3)))
}

// A drain may never end, for example because of a disruption budget. Whoever scales the pool must not
// have to wait for it.
func TestAStuckDrainDoesNotKeepTheSize(t *testing.T) {
	g := NewWithT(t)
	stuck := with(working("a", "z1", 0), deletedLongAgo)
	members := []member{stuck, working("b", "z1", 1), working("c", "z1", 2), working("d", "z1", 3)}
	s := scaledBy(newScope(9, members...), ptr.To[int32](3))
	s.cloudPool.Size = 4
	p := decided(s)
	g.Expect(p.memory.Replicas).To(BeNil())
	g.Expect(p.desired).To(HaveValue(BeEquivalentTo(3)))

	s = scaledBy(newScope(9, append(members, working("e", "z1", 4), working("f", "z1", 5))...), nil)
	s.cloudPool.Size = 6
	p = decided(s)
	g.Expect(p.victims).To(BeEmpty())
	g.Expect(p.ensure).To(BeNil())
	g.Expect(p.desired).To(HaveValue(BeEquivalentTo(5)), "without the one that drains")
}
