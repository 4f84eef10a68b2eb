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
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

func TestPaceGrowsWithThePool(t *testing.T) {
	g := NewWithT(t)
	p, key := newPace(), types.NamespacedName{Namespace: "ns", Name: "workers"}
	g.Expect(p.rest(key, epoch)).To(BeZero())
	p.looked(key, 2000, epoch)
	g.Expect(p.rest(key, epoch)).To(Equal(time.Second))
	g.Expect(p.rest(key, epoch.Add(time.Second))).To(BeZero())
	p.looked(key, 1_000_000, epoch)
	g.Expect(p.rest(key, epoch)).To(Equal(paceMax))
	p.forget(key)
	g.Expect(p.rest(key, epoch)).To(BeZero())
}

func withUID(uid types.UID) func(m *member) { return func(m *member) { m.fooMachine.UID = uid } }

// A member whose deletion was asked for counts as leaving until the cache shows that, and is forgotten then.
func TestExpectedUntilTheCacheShowsIt(t *testing.T) {
	g := NewWithT(t)
	e := newExpected()
	a, b := with(working("a", "z1", 0), withUID("1")), with(working("b", "z1", 1), withUID("2"))
	s := newScope(1, a, b)
	g.Expect(e.known(s)).To(BeFalse())
	e.add(s, a)
	g.Expect(e.known(s)).To(BeTrue())

	e.mark(s)
	g.Expect(s.members[0].leaving()).To(BeTrue())
	g.Expect(disrupt(s.members, policyOf(s)).victims).To(BeEmpty(), "one has gone already")

	s.members = []member{with(a, deleted), b}
	e.mark(s)
	g.Expect(e.pools[types.NamespacedName{Namespace: "ns", Name: "workers"}]).To(BeEmpty())
}

// The status of a FooMachinePool is what a new process begins with; later it is what this process wrote last, which the cache may
// not show yet.
func TestLastDecision(t *testing.T) {
	g := NewWithT(t)
	e := newExpected()
	pool := &infrav1.FooMachinePool{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
	g.Expect(e.last(pool)).To(Equal(decision{}))
	pool.Status.DesiredReplicas = ptr.To[int32](3)
	conditions.Set(pool, metav1.Condition{Type: infrav1.FooMachinePoolRollingOutCondition, Status: metav1.ConditionTrue})
	g.Expect(e.last(pool)).To(Equal(decision{replacing: true, desired: ptr.To[int32](3)}))
	e.decided(pool)
	g.Expect(e.last(&infrav1.FooMachinePool{ObjectMeta: metav1.ObjectMeta{UID: "1"}})).To(Equal(decision{replacing: true, desired: ptr.To[int32](3)}))

	conditions.Set(pool, metav1.Condition{Type: infrav1.FooMachinePoolRollingOutCondition, Status: metav1.ConditionUnknown})
	e.decided(pool)
	g.Expect(e.last(pool).replacing).To(BeTrue(), "the cloud could not be asked, which ends nothing")
}

// While an external autoscaler manages the replicas, a replacement is announced before the size of the pool changes.
func TestReplacementIsAnnounced(t *testing.T) {
	g := NewWithT(t)
	s := newScope(9, with(working("a", "z1", 0), outdated), with(working("b", "z1", 0), outdated))
	s.machinePool.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "x"}
	p := decide(s)
	g.Expect(p.ensure).To(BeNil())
	g.Expect(p.victims).To(BeEmpty())
	g.Expect(p.wait.retry).To(Equal(announceRetry))
	g.Expect(p.replicas).To(HaveValue(BeEquivalentTo(2)))

	s.last = decision{replacing: true, desired: ptr.To[int32](2)}
	p = decide(s)
	g.Expect(p.ensure.Size).To(BeEquivalentTo(3))
	g.Expect(p.desired).To(HaveValue(BeEquivalentTo(2)), "the surge is not what the autoscaler asked for")
}
