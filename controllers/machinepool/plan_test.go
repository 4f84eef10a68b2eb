// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/cloudfault"
)

// newScope returns a scope with these members in which the cloud's pool needs no order.
func newScope(replicas int32, members ...member) *scope {
	s := &scope{
		pool:    &infrav1.FooMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "workers"}},
		cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "one"}},
		machinePool: &clusterv1.MachinePool{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "workers"},
			Spec: clusterv1.MachinePoolSpec{
				ClusterName: "one", Replicas: &replicas,
				Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
					Version: "v1.36.3", Bootstrap: clusterv1.Bootstrap{DataSecretName: ptr.To("data")},
					InfrastructureRef: clusterv1.ContractVersionedObjectReference{
						APIGroup: infrav1.GroupVersion.Group, Kind: poolKind, Name: "workers",
					},
				}},
			},
		},
		bootstrap: bootstrapData{version: "7", digest: "digest"}, revision: current, members: members, membersKnown: true,
		now: epoch.Add(time.Hour),
	}
	s.cluster.Status.Initialization.InfrastructureProvisioned = ptr.To(true)
	s.cloudPool = &cloud.Pool{PoolSpec: poolSpec(s, 0)}
	for _, m := range members {
		if m.instance != nil && m.instance.State != cloud.InstanceDeleting {
			s.cloudPool.Instances++
		}
	}
	s.cloudPool.Size = s.cloudPool.Instances
	return s
}

// decided assesses what was observed and decides.
func decided(s *scope) plan {
	s.assess()
	return decide(s)
}

func deletePool(s *scope) *scope {
	now := metav1.NewTime(time.Now())
	s.pool.DeletionTimestamp = &now
	return s
}

// mayMissOne allows one unavailable member.
func mayMissOne(s *scope) *scope {
	s.pool.Spec.Strategy.MaxUnavailable = ptr.To(intstr.FromInt32(1))
	return s
}

func TestPoolOrder(t *testing.T) {
	two := []member{working("a", "z1", 0), working("b", "z2", 1)}
	for name, test := range map[string]struct {
		scope    *scope
		change   func(s *scope)
		wantSize *int32
	}{
		"none for a settled pool":               {newScope(2, two...), func(*scope) {}, nil},
		"to create the pool":                    {newScope(2), func(s *scope) { s.cloudPool = nil }, ptr.To[int32](2)},
		"to scale up":                           {newScope(3, two...), func(*scope) {}, ptr.To[int32](3)},
		"none to scale down, deletions do that": {newScope(1, two...), func(*scope) {}, nil},
		"down to the current size, to cancel a scale up": {
			newScope(1, two...), func(s *scope) { s.cloudPool.Size = 9 }, ptr.To[int32](2),
		},
		"down to the desired size": {newScope(4, two...), func(s *scope) { s.cloudPool.Size = 9 }, ptr.To[int32](4)},
		"for a renewed token":      {newScope(2, two...), func(s *scope) { s.bootstrap.version = "8" }, ptr.To[int32](2)},
		"for another version": {newScope(2, two...), func(s *scope) {
			s.machinePool.Spec.Template.Spec.Version = "v1.37.0"
		}, ptr.To[int32](2)},
		"for another revision": {newScope(2, two...), func(s *scope) { s.revision = "next" }, ptr.To[int32](2)},
		"for the cluster's failure domains": {newScope(2, two...), func(s *scope) {
			s.cluster.Status.FailureDomains = []clusterv1.FailureDomain{{Name: "z2"}, {Name: "z1"}}
		}, ptr.To[int32](2)},
		"for another type": {newScope(2, two...), func(s *scope) {
			s.pool.Spec.Template.InstanceType = "large"
		}, ptr.To[int32](2)},
		"for another image":             {newScope(2, two...), func(s *scope) { s.pool.Spec.Template.Image = "gpu" }, ptr.To[int32](2)},
		"for another disk":              {newScope(2, two...), func(s *scope) { s.pool.Spec.Template.RootDisk.SizeGiB = 40 }, ptr.To[int32](2)},
		"for other tags":                {newScope(2, two...), func(s *scope) { s.pool.Spec.Template.AdditionalTags = map[string]string{"a": "b"} }, ptr.To[int32](2)},
		"for other tags of the cluster": {newScope(2, two...), func(s *scope) { s.clusterTags = map[string]string{"a": "b"} }, ptr.To[int32](2)},
		"for interruptible instances": {newScope(2, two...), func(s *scope) {
			s.pool.Spec.Template.Interruptible = ptr.To(true)
		}, ptr.To[int32](2)},
		"for other zones":          {newScope(2, two...), func(s *scope) { s.machinePool.Spec.FailureDomains = []string{"z3"} }, ptr.To[int32](2)},
		"none while it is deleted": {newScope(3, two...), func(s *scope) { s.cloudPool.Deleting = true }, nil},
		"none while others scale": {newScope(9, two...), func(s *scope) {
			s.machinePool.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "x"}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			test.change(test.scope)
			order := poolOrder(test.scope, int32(disrupt(policyOf(test.scope).assess(test.scope.members), policyOf(test.scope)).size))
			if test.wantSize == nil {
				g.Expect(order).To(BeNil())
				return
			}
			g.Expect(order).NotTo(BeNil())
			g.Expect(order.Size).To(Equal(*test.wantSize))
		})
	}
}

func TestRevision(t *testing.T) {
	for name, test := range map[string]struct {
		change func(s *scope)
		same   bool
	}{
		"a renewed token":      {func(s *scope) { s.bootstrap.version = "8" }, true},
		"the default, named":   {func(s *scope) { s.pool.Spec.Template.InstanceType = infrav1.DefaultInstanceType }, true},
		"another size":         {func(s *scope) { s.machinePool.Spec.Replicas = ptr.To[int32](9) }, true},
		"another strategy":     {func(s *scope) { s.pool.Spec.Strategy.DeletePolicy = infrav1.NewestDeletePolicy }, true},
		"another label":        {func(s *scope) { s.machinePool.Spec.Template.Labels = map[string]string{"a": "b"} }, true},
		"another version":      {func(s *scope) { s.machinePool.Spec.Template.Spec.Version = "v1.37.0" }, false},
		"another type":         {func(s *scope) { s.pool.Spec.Template.InstanceType = "large" }, false},
		"interruptible":        {func(s *scope) { s.pool.Spec.Template.Interruptible = ptr.To(true) }, false},
		"another image":        {func(s *scope) { s.pool.Spec.Template.Image = "gpu" }, false},
		"another disk":         {func(s *scope) { s.pool.Spec.Template.RootDisk.SizeGiB = 40 }, false},
		"other tags":           {func(s *scope) { s.pool.Spec.Template.AdditionalTags = map[string]string{"a": "b"} }, false},
		"another config":       {func(s *scope) { s.machinePool.Spec.Template.Spec.Bootstrap.ConfigRef.Name = "next" }, false},
		"other bootstrap data": {func(s *scope) { s.bootstrap.digest = "other" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := newScope(1)
			before := revisionOf(s)
			test.change(s)
			if test.same {
				g.Expect(revisionOf(s)).To(Equal(before))
			} else {
				g.Expect(revisionOf(s)).NotTo(Equal(before))
			}
		})
	}
}

// An upgrade of the manager must not roll out the pools that use none of its new fields.
func TestTheRevisionOfAnEarlierVersionStays(t *testing.T) {
	NewWithT(t).Expect(revisionOf(newScope(1))).To(Equal("76dde60c1c"))
}

func TestDecide(t *testing.T) {
	noFooMachine := with(working("c", "z1", 0), func(m *member) { m.fooMachine = nil })
	noMachine := with(working("c", "z1", 0), func(m *member) { m.machine = nil })
	neither := with(noMachine, func(m *member) { m.fooMachine = nil })
	for name, test := range map[string]struct {
		scope      *scope
		wait       string
		create     int
		delete     []string
		deletePool bool
	}{
		"nothing":                               {scope: newScope(1, working("a", "z1", 0))},
		"a FooMachine":                          {scope: newScope(2, working("a", "z1", 0), noFooMachine), create: 1},
		"a FooMachine before a scale down":      {scope: newScope(1, working("a", "z1", 0), noFooMachine), create: 1},
		"a Machine before a scale down":         {scope: mayMissOne(newScope(1, working("a", "z1", 0), noMachine))},
		"a scale down":                          {scope: newScope(1, working("a", "z1", 0), working("b", "z1", 1)), delete: []string{"a"}},
		"a scale down in progress":              {scope: newScope(1, with(working("a", "z1", 0), deleted), working("b", "z1", 1))},
		"a lost instance":                       {scope: newScope(1, with(working("a", "z1", 0), gone), working("b", "z1", 1)), delete: []string{"a"}},
		"an instance that the cloud deletes":    {scope: newScope(1, with(working("a", "z1", 0), taken), working("b", "z1", 1)), delete: []string{"a"}},
		"no FooMachine for such an instance":    {scope: newScope(1, working("a", "z1", 0), with(neither, taken))},
		"a scale down while one has no Machine": {scope: newScope(1, working("a", "z1", 0), working("b", "z1", 1), with(noMachine, taken)), delete: []string{"a"}},
		"a deletion while the cloud deletes":    {scope: deletePool(newScope(1, with(working("a", "z1", 0), taken))), delete: []string{"a"}},
		"a deletion":                            {scope: deletePool(newScope(2, working("a", "z1", 0), with(working("b", "z1", 0), deleted))), delete: []string{"a"}},
		"a deletion of a Machine alone":         {scope: deletePool(newScope(1, noFooMachine)), delete: []string{"c"}},
		"the end of a deletion":                 {scope: deletePool(newScope(2, neither)), deletePool: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p := decided(test.scope)
			g.Expect(p.wait.reason).To(Equal(test.wait))
			g.Expect(p.create).To(HaveLen(test.create))
			g.Expect(namesOf(p.victims)).To(ConsistOf(test.delete))
			g.Expect(p.deletePool).To(Equal(test.deletePool))
		})
	}
}

// A FooMachine that lost its reference belongs to the pool that named its instance. Other pools of
// the same MachinePool have FooMachines with the same labels.
func TestOwns(t *testing.T) {
	ref := func(kind string, uid types.UID) metav1.OwnerReference {
		return metav1.OwnerReference{Kind: kind, UID: uid}
	}
	for name, test := range map[string]struct {
		fooMachine string
		owners     []metav1.OwnerReference
		want       bool
	}{
		"its own":                               {"workers-abcde", []metav1.OwnerReference{ref("Machine", "m"), ref(poolKind, "pool")}, true},
		"another pool's":                        {"workers-abcde", []metav1.OwnerReference{ref(poolKind, "other")}, false},
		"one that lost its reference":           {"workers-abcde", []metav1.OwnerReference{ref("Machine", "m")}, true},
		"one that lost all references":          {"workers-abcde", nil, true},
		"another pool's that lost it":           {"others-abcde", nil, false},
		"another pool's with a longer name":     {"workers-b-abcde", nil, false},
		"its own whatever it is called":         {"others-abcde", []metav1.OwnerReference{ref(poolKind, "pool")}, true},
		"one whose name is that of the pool":    {"workers", nil, false},
		"another pool's with the pool's suffix": {"my-workers-abcde", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScope(1)
			s.pool.UID = "pool"
			fooMachine := &infrav1.FooMachine{ObjectMeta: metav1.ObjectMeta{Name: test.fooMachine, OwnerReferences: test.owners}}
			NewWithT(t).Expect(s.owns(fooMachine)).To(Equal(test.want))
		})
	}
}

// The largest pool has no room for a surge, so its members are deleted before they are replaced.
func TestTheLargestPoolIsRepairedAndRolledOut(t *testing.T) {
	for name, test := range map[string]struct {
		change func(m *member)
		want   cause
	}{
		"repair":  {stopped, causeRepair},
		"rollout": {outdated, causeRollout},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			members := make([]member, infrav1.MaxPoolReplicas)
			for i := range members {
				members[i] = working(fmt.Sprintf("m%05d", i), "z1", 0)
			}
			test.change(&members[7])
			p := decided(newScope(infrav1.MaxPoolReplicas, members...))
			g.Expect(whys(p.victims)).To(Equal(map[string]cause{"m00007": test.want}))
			g.Expect(p.ensure).To(BeNil(), "no order exceeds the maximum size")
		})
	}
}

func TestWhoGoesThoughAnOrderIsRefused(t *testing.T) {
	growth := func(s *scope) cloud.PoolSpec { return poolSpec(s, 9) }
	other := func(s *scope) cloud.PoolSpec {
		spec := poolSpec(s, 9)
		spec.Template.Type = "huge"
		return spec
	}
	for name, test := range map[string]struct {
		err   error
		order func(s *scope) cloud.PoolSpec
		want  []string
	}{
		"accepted":                  {nil, other, []string{"repair", "remediation", "reclaim", "shrink", "rollout"}},
		"quota exceeded":            {&cloud.QuotaExceededError{Resource: "instances"}, growth, []string{"repair", "remediation", "reclaim"}},
		"maximum size exceeded":     {&cloud.InvalidError{Field: "size", Value: "9"}, growth, []string{"repair", "remediation", "reclaim"}},
		"unknown instance type":     {&cloud.InvalidError{Field: "template.type", Value: "huge"}, other, []string{"repair", "reclaim", "shrink"}},
		"the cloud does not answer": {&cloud.UnavailableError{Message: "maintenance"}, growth, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := newScope(3)
			s.fault = cloudfault.Of(test.err)
			order := test.order(s)
			p := plan{ensure: &order, victims: []victim{
				{member: working("repair", "z1", 0), why: causeRepair}, {member: working("remediation", "z1", 0), why: causeRemediation}, {member: working("reclaim", "z1", 0), why: causeReclaim},
				{member: working("shrink", "z1", 0), why: causeScaleDown}, {member: working("rollout", "z1", 0), why: causeRollout},
			}}
			g.Expect(namesOf(p.allowed(s))).To(ConsistOf(test.want))
		})
	}
}

func TestDecideNothingWhileTheCloudCanNotBeAsked(t *testing.T) {
	g := NewWithT(t)
	s := newScope(1, working("a", "z1", 0), working("b", "z1", 0))
	s.fault = cloudfault.Of(&cloud.UnavailableError{Message: "maintenance"})
	g.Expect(decided(s)).To(Equal(plan{}))
	g.Expect(decided(deletePool(s))).To(Equal(plan{}))
}

func TestMissing(t *testing.T) {
	for name, test := range map[string]struct {
		change func(s *scope)
		want   string
	}{
		"nothing":           {func(*scope) {}, ""},
		"its MachinePool":   {func(s *scope) { s.machinePool.Spec.Template.Spec.InfrastructureRef.Name = "other" }, infrav1.FooMachinePoolNotReferencedReason},
		"infrastructure":    {func(s *scope) { s.cluster.Status = clusterv1.ClusterStatus{} }, infrav1.FooMachinePoolWaitingForClusterInfrastructureReason},
		"the control plane": {func(s *scope) { s.machinePool.Spec.Template.Spec.Bootstrap.DataSecretName = nil }, infrav1.FooMachinePoolWaitingForControlPlaneReason},
		"a name": {func(s *scope) {
			s.machinePool.Spec.Template.Spec.Bootstrap.DataSecretName = nil
			conditions.Set(s.cluster, metav1.Condition{Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue})
		}, infrav1.FooMachinePoolWaitingForBootstrapDataReason},
		"the Secret": {func(s *scope) { s.bootstrap = bootstrapData{problem: "it does not exist"} }, infrav1.FooMachinePoolWaitingForBootstrapDataReason},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := newScope(1)
			test.change(s)
			g.Expect(missing(s).reason).To(Equal(test.want))
		})
	}
}

// A pool that follows its plans, in a cloud that obeys, reaches the desired number of instances and
// then stays as it is.
func TestPlansConverge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		s := newScope(int32(rapid.IntRange(0, 9).Draw(t, "wanted")), anyMembers(t)...)
		for range 100 {
			p := decided(s)
			settled := len(p.create)+len(p.victims) == 0 && p.ensure == nil
			leaving := carryOut(s, p)
			s.memory = p.memory.with(p.victims, s.revision, s.now)
			if settled && !leaving && !p.next.IsZero() {
				s.now = p.next
				continue
			}
			if settled && !leaving {
				g.Expect(s.census.count(state.stays)).To(Equal(int(wantedReplicas(s))))
				return
			}
		}
		t.Fatal("the pool does not settle")
	})
}

// carryOut carries out a plan and finishes one deletion. It reports whether there was a deletion,
// or any other change.
func carryOut(s *scope, p plan) (changed bool) {
	if p.ensure != nil {
		s.cloudPool.PoolSpec = *p.ensure
	}
	for _, m := range p.victims {
		now := metav1.Now()
		m.machine.DeletionTimestamp = &now
	}
	for i, m := range s.members {
		if !m.leaving() {
			continue
		}
		if m.counted() {
			s.cloudPool.Size--
			s.cloudPool.Instances--
		}
		s.members = append(s.members[:i:i], s.members[i+1:]...)
		return true
	}
	for i := range s.members { // instances get a host, and Nodes that joined become available in time
		m := s.members[i]
		if m.waitsForCapacity() {
			changed = true
			m.instance.State, m.instance.Problem, m.instance.CreatedAt = cloud.InstanceRunning, nil, s.now
			m.machine.Status.NodeRef.Name = m.name
		}
		if m.instance != nil && !m.leaving() && m.joined() && !m.unhealthy() && !m.available() && m.instance.State == cloud.InstanceRunning {
			changed = true
			m.machine.Status.Conditions = []metav1.Condition{{Type: clusterv1.MachineAvailableCondition, Status: metav1.ConditionTrue}}
		}
	}
	for s.cloudPool.Instances < s.cloudPool.Size {
		s.cloudPool.Instances++
		changed = true
		m := working(fmt.Sprintf("new%02d-%d", s.cloudPool.Instances, len(s.members)), "z1", 9)
		m.instance.Revision = s.cloudPool.Revision
		s.members = append(s.members, m)
	}
	return changed
}

func TestProviderIDsStayUntilTheInstanceIsGone(t *testing.T) {
	g := NewWithT(t)
	lost := with(working("d", "z1", 0), gone)
	members := []member{
		working("c", "z1", 0),
		with(working("b", "z1", 0), deleted),
		// Its instance has left the pool, but its FooMachine is still being deleted.
		with(with(working("a", "z1", 0), deleted), gone),
		lost, // its Machine and its Node are removed within the budget
	}
	g.Expect(providerIDs(members)).To(Equal([]string{"foo:///z1/a", "foo:///z1/b", "foo:///z1/c", "foo:///z1/d"}))
}

// Cluster API keeps a Machine whose FooMachine was deleted by hand.
func TestMachinesWithoutFooMachine(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		change func(m *clusterv1.Machine)
		want   []string
	}{
		"deleted":               {reason: clusterv1.MachineInfrastructureDeletedReason, want: []string{"a"}},
		"never seen":            {reason: clusterv1.MachineInfrastructureDoesNotExistReason, want: []string{"a"}},
		"already being deleted": {reason: clusterv1.MachineInfrastructureDeletedReason, change: func(m *clusterv1.Machine) { m.DeletionTimestamp = ptr.To(metav1.Now()) }},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			machine := working("a", "z1", 0).machine
			machine.Spec.InfrastructureRef.Name, machine.Finalizers = "a", []string{clusterv1.MachineFinalizer}
			conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineInfrastructureReadyCondition, Status: metav1.ConditionFalse, Reason: test.reason})
			if test.change != nil {
				test.change(machine)
			}
			s := newScope(1, membersOf(nil, nil, []clusterv1.Machine{*machine})...)
			g.Expect(namesOf(decided(s).victims)).To(ConsistOf(test.want))
			g.Expect(providerIDs(s.members)).To(BeEmpty())
		})
	}
}

func TestStalledTellsWhyTheCloudMakesNoInstance(t *testing.T) {
	g := NewWithT(t)
	s := newScope(2, working("a", "z1", 0))
	s.cloudPool.Problem = &cloud.Problem{Reason: cloud.ReasonOutOfCapacity, Message: "zone z1 is out of capacity"}
	s.assess()
	setStatus(s)
	stalled := conditions.Get(s.pool, infrav1.FooMachinePoolStalledCondition)
	g.Expect(stalled.Status).To(Equal(metav1.ConditionTrue))
	g.Expect(stalled.Reason).To(Equal(infrav1.CloudOutOfCapacityReason))
	g.Expect(stalled.Message).To(Equal("zone z1 is out of capacity"))

	s.cloudPool.Problem = nil
	s.assess()
	setStatus(s)
	g.Expect(conditions.IsFalse(s.pool, infrav1.FooMachinePoolStalledCondition)).To(BeTrue())
}

func TestProvisionedIsNeverTakenBack(t *testing.T) {
	g := NewWithT(t)
	s := newScope(1, working("a", "z1", 0))
	setSpec(s, &s.pool.Spec)
	s.assess()
	setStatus(s)
	g.Expect(s.pool.Status.Ready).To(HaveValue(BeTrue()))
	g.Expect(conditions.IsTrue(s.pool, infrav1.FooMachinePoolReadyCondition)).To(BeTrue())

	s.members, s.cloudPool = nil, nil
	setSpec(s, &s.pool.Spec)
	s.assess()
	setStatus(s)
	g.Expect(s.pool.Status.Ready).To(HaveValue(BeTrue()))
	g.Expect(s.pool.Status.Initialization.Provisioned).To(HaveValue(BeTrue()))
	g.Expect(conditions.IsTrue(s.pool, infrav1.FooMachinePoolReadyCondition)).To(BeFalse())
}

// All conditions are set, whatever happens: a reader must be able to tell an old condition from an
// unknown one.
func TestAllConditionsAreAlwaysSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		s := newScope(int32(rapid.IntRange(0, 9).Draw(t, "wanted")), anyMembers(t)...)
		rapid.SampledFrom([]func(){
			func() {},
			func() { deletePool(s) },
			func() { s.cloudPool = nil; s.members = nil; s.wait = waiting{reason: "Waiting"} },
			func() {
				s.fault = cloudfault.Of(&cloud.UnavailableError{Message: "down"})
				s.membersKnown, s.members, s.cloudPool = false, nil, nil
			},
		}).Draw(t, "change")()
		setSpec(s, &s.pool.Spec)
		s.assess()
		setStatus(s)
		for _, kind := range ownedConditions {
			c := conditions.Get(s.pool, kind)
			g.Expect(c).NotTo(BeNil(), kind)
			g.Expect(c.Reason).NotTo(BeEmpty(), kind)
		}
	})
}

func TestStalledWhileNodesDoNotJoin(t *testing.T) {
	failures := infrav1.FailedReplacements{
		Revision: current, Count: 3, LastTime: metav1.NewTime(epoch.Add(59 * time.Minute)), Message: "x has not joined",
	}
	for name, test := range map[string]struct {
		members  []member
		change   func(s *scope)
		failures infrav1.FailedReplacements
		want     string
	}{
		"one failed":               {members: []member{with(working("a", "z1", 55), bootstrapFailed)}, failures: failures, want: "a has bootstrap state Failed"},
		"too few failed":           {members: []member{with(working("a", "z1", 55), bootstrapFailed)}, failures: infrav1.FailedReplacements{Revision: current, Count: 2}},
		"a replacement is booting": {members: []member{with(working("a", "z1", 59), booting)}, failures: failures, want: "x has not joined"},
		"a replacement is missing": {failures: failures, want: "x has not joined"},
		"a rollout is in progress": {members: []member{with(working("a", "z1", 0), outdated)}, failures: failures, want: "x has not joined"},
		"the rollout is paused":    {members: []member{with(working("a", "z1", 0), outdated)}, failures: failures, change: func(s *scope) { s.pool.Spec.Strategy.RolloutPaused = ptr.To(true) }},
		"all have recovered":       {members: []member{working("a", "z1", 0)}, failures: failures},
		"the order is refused": {members: []member{working("a", "z1", 0)}, want: "instance type",
			change: func(s *scope) { s.fault = cloudfault.Of(&cloud.InvalidError{Field: "instance type", Value: "huge"}) }},
		"the cloud is unavailable for now": {members: []member{working("a", "z1", 0)},
			change: func(s *scope) { s.fault = cloudfault.Of(&cloud.UnavailableError{Message: "down"}) }},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := newScope(1, test.members...)
			if test.change != nil {
				test.change(s)
			}
			s.memory.Failures = test.failures
			want := metav1.ConditionTrue
			if test.want == "" {
				want = metav1.ConditionFalse
			}
			s.assess()
			stalled := stalledCondition(s)
			g.Expect(stalled.Status).To(Equal(want), stalled.Message)
			g.Expect(stalled.Message).To(ContainSubstring(test.want))
		})
	}
}
