// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

func TestPaceGrowsWithThePool(t *testing.T) {
	g := NewWithT(t)
	p, key := newPace(), types.NamespacedName{Namespace: "ns", Name: "workers"}
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
