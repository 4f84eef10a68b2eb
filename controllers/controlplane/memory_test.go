// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/internal/certs"
	"github.com/capfoo/cluster-api-provider-foo/internal/kubeconfig"
)

func TestLastSighting(t *testing.T) {
	g := NewWithT(t)
	start := time.Date(2026, time.March, 9, 9, 0, 0, 0, time.UTC)
	all := newMemories()
	lost := errors.New("no answer")
	after := func(minutes time.Duration, owner types.UID, failure error) time.Time {
		all.of(owner).noteLook(start.Add(minutes*time.Minute), failure)
		return all.of(owner).lastSeen
	}
	g.Expect(after(0, "one", lost)).To(Equal(start), "the grace of a cluster that was never seen starts with the first failure")
	g.Expect(after(1, "one", lost)).To(Equal(start))
	g.Expect(after(2, "one", nil)).To(Equal(start.Add(2*time.Minute)), "it was seen")
	g.Expect(after(4, "one", lost)).To(Equal(start.Add(2 * time.Minute)))
	g.Expect(after(4, "another", lost)).To(Equal(start.Add(4 * time.Minute)))
}

// unreadable returns a client that fails to read.
func unreadable(live client.WithWatch, failure error) client.Client {
	return interceptor.NewClient(live, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return failure
		},
	})
}

// A read that fails for a moment must neither stop observation, nor count as a loss.
func TestLookingAtTheWorkloadCluster(t *testing.T) {
	lost := errors.New("a moment's failure")
	settled := func(*scope) {}
	tests := map[string]struct {
		change func(*scope)
		// certificates and kubeconfig are the errors when reading them.
		certificates, kubeconfig error
		seen                     bool
		want                     string
	}{
		"everything exists":        {change: settled, seen: true},
		"unreadable Secrets":       {change: settled, certificates: lost, seen: true},
		"an unreadable kubeconfig": {change: settled, kubeconfig: lost, seen: true},
		"deleted, with workers left": {change: func(s *scope) {
			s.controlPlane.DeletionTimestamp, s.workers = &metav1.Time{Time: s.now}, []string{"Machine w"}
		}, seen: true},
		"deleted, with no workers left": {change: func(s *scope) { s.controlPlane.DeletionTimestamp = &metav1.Time{Time: s.now} }, want: "is being deleted"},
		"no kubeconfig, and no key to sign one": {
			change: func(s *scope) { s.cluster.Name = "another" }, want: "no kubeconfig Secret",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			live := fake.NewClientBuilder().Build()
			certificates, kubeconfigs := certs.NewStore(live, live), kubeconfig.NewStore(live, live)
			s := &scope{
				now: time.Now(), memory: &memory{}, initialized: true, cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1"}},
				machines: []*clusterv1.Machine{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}},
				infra:    infraCluster{Endpoint: clusterv1.APIEndpoint{Host: "10.9.8.7", Port: 6443}},
				controlPlane: &controlplanev1.FooControlPlane{
					ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1-cp", UID: "u"},
					Spec:       controlplanev1.FooControlPlaneSpec{Replicas: ptr.To[int32](1), Version: "v1.36.3"},
				},
			}
			r := &Reconciler{
				client: live, certificates: certificates, kubeconfigs: kubeconfigs, workload: newFakeWorkload(), recorder: events.NewFakeRecorder(10),
			}
			_, err := certificates.LookupOrGenerate(t.Context(), certs.Request{Cluster: s.key(), Now: s.now})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.ensurePrerequisites(t.Context(), s)).To(Succeed())
			if test.certificates != nil {
				r.certificates = certs.NewStore(unreadable(live, test.certificates), live)
			}
			if test.kubeconfig != nil {
				r.kubeconfigs = kubeconfig.NewStore(unreadable(live, test.kubeconfig), live)
			}
			s.prerequisites = prerequisites{kubeconfig: &plan.Problem{Reason: reasonKubeconfigUnknown}}
			test.change(s)
			err = r.ensurePrerequisites(t.Context(), s)
			healthy := observed("a")
			healthy.controlPlane.Spec.Replicas, healthy.prerequisites = ptr.To[int32](3), s.prerequisites
			next := plan.Decide(healthy.current())
			if test.certificates != nil || test.kubeconfig != nil {
				g.Expect(err).To(MatchError(lost))
				g.Expect(next.Acts()).To(BeFalse(), "no Machine is created while something is unknown")
			} else {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(next.Acts()).To(Equal(s.prerequisites.first() == plan.Problem{}), next.Message)
			}
			g.Expect(r.observeWorkload(t.Context(), s)).To(BeFalse())
			g.Expect(s.observation != nil).To(Equal(test.seen), s.workloadProblem)
			g.Expect(s.workloadProblem).To(ContainSubstring(test.want))
			g.Expect(s.memory.lastSeen).To(Equal(s.now), "the last known state is shown during the grace")
		})
	}
}

func TestAClusterThatHasYetToAnswerIsNoFailure(t *testing.T) {
	g := NewWithT(t)
	world := newFakeWorkload()
	r := &Reconciler{workload: world}
	before := time.Date(2026, time.March, 9, 9, 0, 0, 0, time.UTC)
	s := &scope{
		now: before.Add(time.Minute), memory: &memory{}, initialized: true, cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1"}},
		machines:     []*clusterv1.Machine{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}},
		controlPlane: &controlplanev1.FooControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1-cp", UID: "u"}},
	}
	s.memory.noteLook(before, nil)
	s.memory.noteBroken(before, []string{"a"})
	world.change(s.key(), func(cluster *fakeCluster) { cluster.pending = true })

	g.Expect(r.observeWorkload(t.Context(), s)).To(BeTrue())
	g.Expect(s.workloadProblem).To(BeEmpty())
	g.Expect(s.memory.lastSeen).To(Equal(before), "when it was last seen")
	g.Expect(s.memory.broken).To(HaveKeyWithValue("a", before), "since when a Machine is broken")
}

// The conditions of a control plane whose workload cluster is unreachable for a while.
func TestConditionsOfWhatIsOutOfReach(t *testing.T) {
	now := time.Date(2026, time.March, 9, 9, 0, 0, 0, time.UTC)
	ofControlPlane := []string{
		controlplanev1.AvailableCondition, controlplanev1.EtcdClusterHealthyCondition, controlplanev1.ControlPlaneComponentsHealthyCondition,
	}
	ofMachine := []string{
		controlplanev1.MachineAPIServerPodHealthyCondition, controlplanev1.MachineControllerManagerPodHealthyCondition,
		controlplanev1.MachineSchedulerPodHealthyCondition, controlplanev1.MachineEtcdPodHealthyCondition,
		controlplanev1.MachineEtcdMemberHealthyCondition,
	}
	healthy := func(types []string) []metav1.Condition {
		list := make([]metav1.Condition, 0, len(types))
		for _, conditionType := range types {
			list = append(list, metav1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: "Healthy", LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))})
		}
		return list
	}
	tests := map[string]struct {
		since time.Duration
		want  metav1.ConditionStatus
	}{
		"not long":     {since: 4*time.Minute + 59*time.Second, want: metav1.ConditionTrue},
		"five minutes": {since: 5 * time.Minute, want: metav1.ConditionUnknown},
		"an hour":      {since: time.Hour, want: metav1.ConditionUnknown},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: clusterv1.MachineStatus{Conditions: healthy(ofMachine)}}
			s := &scope{
				now: now, memory: &memory{lastSeen: now.Add(-test.since)}, initialized: true, workloadProblem: "the workload cluster cannot be observed: no answer",
				cluster:  &clusterv1.Cluster{},
				machines: []*clusterv1.Machine{machine},
				controlPlane: &controlplanev1.FooControlPlane{
					Spec:   controlplanev1.FooControlPlaneSpec{Replicas: ptr.To[int32](1), Version: "v1.36.3"},
					Status: controlplanev1.FooControlPlaneStatus{Conditions: healthy(ofControlPlane)},
				},
			}
			seen := s.current()
			next := plan.Decide(seen)
			g.Expect(next.Action).To(Equal(plan.ActionWait), "health is unknown")
			s.setStatus(outcome{state: seen, next: next})
			for _, conditionType := range ofControlPlane {
				g.Expect(conditions.Get(s.controlPlane, conditionType)).To(HaveField("Status", test.want), conditionType)
			}
			for _, conditionType := range ofMachine {
				shown, blind := s.blind(machine, metav1.Condition{Type: conditionType})
				g.Expect(blind).To(BeTrue())
				g.Expect(shown.Status).To(Equal(test.want), conditionType)
			}
			if test.want == metav1.ConditionUnknown {
				g.Expect(conditions.Get(s.controlPlane, controlplanev1.EtcdClusterHealthyCondition).Message).To(ContainSubstring("no answer"))
			}
		})
	}
}
