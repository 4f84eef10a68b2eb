// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
)

// liveMachine returns a control plane Machine for the API server.
func liveMachine(name, owner string) *clusterv1.Machine {
	return &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, ResourceVersion: "1",
		Labels:      map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachineControlPlaneLabel: ""},
		Annotations: map[string]string{controlplanev1.PreTerminateHookCleanupAnnotation: ""},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: controlplanev1.GroupVersion.String(), Kind: "FooControlPlane", Name: owner, UID: "u",
		}},
	}}
}

// behind returns a reconciler and a scope that see only the cached Machines, while the API server
// has the live ones.
func behind(g Gomega, cached []*clusterv1.Machine, live ...client.Object) (*Reconciler, *scope) {
	scheme := runtime.NewScheme()
	g.Expect(clusterv1.AddToScheme(scheme)).To(Succeed())
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(live...).Build()
	s := observed()
	s.machines = cached
	s.cluster.Namespace, s.cluster.Name = "default", "c1"
	s.controlPlane.ObjectMeta = metav1.ObjectMeta{
		Namespace: "default", Name: "c1-cp", UID: "u", Finalizers: []string{controlplanev1.FooControlPlaneFinalizer},
	}
	return &Reconciler{client: server, apiReader: server, workload: newFakeWorkload()}, s
}

func TestFinishLeavesNoMachineBehind(t *testing.T) {
	finish := plan.Decision{Action: plan.ActionFinish}
	t.Run("a Machine that the cache does not show", func(t *testing.T) {
		g := NewWithT(t)
		r, s := behind(g, nil, liveMachine("a", "c1-cp"))
		g.Expect(r.apply(t.Context(), s, finish)).To(MatchError(errStale))
		g.Expect(s.controlPlane.Finalizers).To(ConsistOf(controlplanev1.FooControlPlaneFinalizer))
	})
	t.Run("a Machine of another owner", func(t *testing.T) {
		g := NewWithT(t)
		r, s := behind(g, nil, liveMachine("a", "another"))
		g.Expect(r.apply(t.Context(), s, finish)).To(Succeed())
		g.Expect(s.controlPlane.Finalizers).To(BeEmpty())
	})
}

func TestEtcdIsNotChangedByACacheThatIsBehind(t *testing.T) {
	known, unknown := liveMachine("a", "c1-cp"), liveMachine("b", "c1-cp")
	leaving := plan.EtcdChange{Leaving: plan.Member{ID: 2}, Via: plan.Member{ID: 1, Name: "a"}}
	for _, next := range []plan.Decision{
		{Action: plan.ActionRemoveMember, Etcd: leaving},
		{Action: plan.ActionRelease, Machine: "a", Etcd: leaving},
		{Action: plan.ActionRelease, Machine: "a"},
	} {
		t.Run(string(next.Action), func(t *testing.T) {
			g := NewWithT(t)
			r, s := behind(g, []*clusterv1.Machine{known}, known.DeepCopy(), unknown)
			g.Expect(r.apply(t.Context(), s, next)).To(MatchError(errStale))
			g.Expect(r.workload.(*fakeWorkload).calls(s.key())).To(BeEmpty())

			r, s = behind(g, []*clusterv1.Machine{known}, known.DeepCopy())
			g.Expect(r.apply(t.Context(), s, next)).To(Succeed())
			g.Expect(r.workload.(*fakeWorkload).calls(s.key())).To(HaveLen(min(1, int(next.Etcd.Leaving.ID))))
		})
	}
}

func TestTheLeadershipIsTakenFromAMachineOnlyOnceItIsGone(t *testing.T) {
	g := NewWithT(t)
	going := liveMachine("going", "c1-cp")
	going.Status.NodeRef.Name = "node"
	r, s := behind(g, []*clusterv1.Machine{going}, going.DeepCopy())
	calls := func() []string {
		g.Expect(r.takeLeadership(t.Context(), s)).To(Succeed())
		return r.workload.(*fakeWorkload).calls(s.key())
	}
	g.Expect(calls()).To(BeEmpty())
	g.Expect(r.apply(t.Context(), s, plan.Decision{Action: plan.ActionRelease, Machine: "going"})).To(Succeed())
	g.Expect(calls()).To(BeEmpty(), "its controller manager may still run")
	s.machines = nil
	g.Expect(calls()).To(ConsistOf("lead instead of node"))
	g.Expect(calls()).To(HaveLen(1), "it is taken only once")
}

func TestAHookThatIsLostComesBack(t *testing.T) {
	g := NewWithT(t)
	kept, going := liveMachine("kept", "c1-cp"), liveMachine("going", "c1-cp")
	kept.UID, kept.Annotations = "1", nil
	going.UID, going.Annotations = "2", nil
	going.DeletionTimestamp, going.Finalizers = &metav1.Time{Time: time.Now()}, []string{clusterv1.MachineFinalizer}
	r, s := behind(g, []*clusterv1.Machine{kept, going}, kept.DeepCopy(), going.DeepCopy())
	r.applied = lru.New(10)
	g.Expect(r.propagate(t.Context(), s)).To(Succeed())

	live := &clusterv1.Machine{}
	g.Expect(r.client.Get(t.Context(), client.ObjectKeyFromObject(kept), live)).To(Succeed())
	g.Expect(hooked(live)).To(BeTrue())
	g.Expect(hooked(kept)).To(BeTrue(), "the rest of the reconcile sees it")
	g.Expect(hooked(going)).To(BeFalse(), "it was released before")

	// The same holds for a new Machine that has no Node yet, to which nothing is applied.
	settings, err := s.settings()
	g.Expect(err).NotTo(HaveOccurred())
	going.Status.NodeRef = clusterv1.MachineNodeReference{}
	s.memory.made = &made{machine: going.Name, settings: settings, metadata: s.metadata()}
	g.Expect(r.propagate(t.Context(), s)).To(Succeed())
	g.Expect(hooked(going)).To(BeFalse())
}
