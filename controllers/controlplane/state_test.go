// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

const testVersion = "v1.36.3"

// observed returns the scope of a control plane whose Machines are all healthy.
func observed(names ...string) *scope {
	s := &scope{
		memory: &memory{failed: attempts{}}, initialized: true, cluster: &clusterv1.Cluster{}, observation: &workload.Observation{},
		controlPlane: &controlplanev1.FooControlPlane{Spec: controlplanev1.FooControlPlaneSpec{Version: testVersion}},
	}
	s.controlPlane.Spec.Replicas = ptr.To(int32(len(names)))
	conditions.Set(s.cluster, metav1.Condition{Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue, Reason: "Initialized"})
	for index, name := range names {
		machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: clusterv1.MachineSpec{Version: testVersion}}
		machine.Status.NodeRef.Name = name
		s.machines = append(s.machines, machine)
		pods := map[workload.Component]workload.Pod{}
		for _, component := range workload.Components(workload.EtcdStacked) {
			pods[component] = workload.Pod{State: workload.PodRunning}
		}
		s.observation.Nodes = append(s.observation.Nodes, workload.Node{Name: name, Ready: true, Pods: pods})
		s.observation.Etcd.Members = append(s.observation.Etcd.Members, workload.Member{ID: uint64(index + 1), Name: name})
	}
	s.observation.Etcd.Leader = 1
	return s
}

// No Node is ready before the cluster's network is installed.
func TestNodesThatAreNotReadyHoldNothingUp(t *testing.T) {
	g := NewWithT(t)
	s := observed("a")
	s.observation.Nodes[0].Ready = false
	s.controlPlane.Spec.Replicas = ptr.To[int32](3)
	seen := s.current()
	g.Expect(plan.Decide(seen)).To(And(HaveField("Action", plan.ActionCreate), HaveField("Reason", plan.ReasonScalingUp)))
	g.Expect(s.etcdStatus(seen).Healthy).To(HaveValue(Equal(int32(1))))
	g.Expect(s.availableCondition(seen).Status).To(Equal(metav1.ConditionTrue))
	g.Expect(s.componentsCondition(seen).Status).To(Equal(metav1.ConditionTrue))
	g.Expect(seen.Machines[0].NodeNotReady).To(BeTrue())
}

func TestAMemberThatAnswersVotes(t *testing.T) {
	g := NewWithT(t)
	s := observed("a", "b", "c")
	s.observation.Nodes[0].Ready = false
	s.observation.Nodes[1].Pods[workload.Scheduler] = workload.Pod{State: workload.PodFailed, Message: "its container exited with code 1: Error"}
	s.observation.Etcd.Members[2].Problem = "it could not be queried: no answer"
	g.Expect(s.current().Votes().Healthy).To(Equal(2))
	s.observation.Etcd.Members[1].Name = "z"
	g.Expect(s.current().Votes().Healthy).To(Equal(1), "a member that belongs to no Machine does not count")
}

func TestSinceWhenAMachineIsBroken(t *testing.T) {
	g := NewWithT(t)
	s := observed("a", "b", "c")
	access := newFakeWorkload()
	access.change(s.key(), func(cluster *fakeCluster) { cluster.observation = *s.observation })
	r := &Reconciler{workload: access}
	began := time.Date(2026, time.March, 9, 9, 0, 0, 0, time.UTC)
	sinceWhen := func(minutes time.Duration, change func(*fakeCluster)) time.Time {
		access.change(s.key(), change)
		s.workloadLooked = false
		s.now, s.observation, s.workloadProblem = began.Add(minutes*time.Minute), nil, ""
		r.observeWorkload(t.Context(), s)
		return s.state().Machines[1].BrokenSince
	}
	crash := func(cluster *fakeCluster) {
		cluster.unreachable = false
		cluster.observation.Nodes[1].Pods[workload.Scheduler] = workload.Pod{State: workload.PodFailed, Message: "its container exited with code 1: Error"}
	}
	mend := func(cluster *fakeCluster) {
		cluster.observation.Nodes[1].Pods[workload.Scheduler] = workload.Pod{State: workload.PodRunning}
	}
	g.Expect(sinceWhen(0, mend)).To(BeZero())
	g.Expect(sinceWhen(1, crash)).To(Equal(began.Add(time.Minute)))
	g.Expect(sinceWhen(2, crash)).To(Equal(began.Add(time.Minute)))
	g.Expect(sinceWhen(3, mend)).To(BeZero())
	g.Expect(sinceWhen(4, crash)).To(Equal(began.Add(4 * time.Minute)))
	sinceWhen(5, func(cluster *fakeCluster) { cluster.unreachable = true })
	g.Expect(sinceWhen(6, crash)).To(Equal(began.Add(6*time.Minute)), "it may have recovered while nothing was observed")
	g.Expect(sinceWhen(8, crash)).To(Equal(began.Add(6 * time.Minute)))
	g.Expect(sinceWhen(60, crash)).To(Equal(began.Add(time.Hour)), "it may have recovered while the control plane was paused")
}

func TestSinceWhenInfrastructureIsUp(t *testing.T) {
	g := NewWithT(t)
	s := observed("a")
	began := time.Date(2026, time.March, 9, 9, 0, 0, 0, time.UTC)
	sinceWhen := func(minutes time.Duration, up bool) time.Time {
		s.now = began.Add(minutes * time.Minute)
		s.machines[0].Status.Initialization.InfrastructureProvisioned = ptr.To(up)
		return s.state().Machines[0].ProvisionedSince
	}
	g.Expect(sinceWhen(0, false)).To(BeZero())
	g.Expect(sinceWhen(20, true)).To(Equal(began.Add(20 * time.Minute)))
	s.observation, s.workloadProblem = nil, "no answer"
	g.Expect(sinceWhen(21, true)).To(Equal(began.Add(20*time.Minute)), "the management cluster shows it")
}

// The cache may show the deletion of a Machine later than the record of its remediation.
func TestWhenTheRecordOfARemediationIsDropped(t *testing.T) {
	mark := func(status metav1.ConditionStatus) func(*scope) {
		return func(s *scope) {
			conditions.Set(s.machines[0], metav1.Condition{Type: clusterv1.MachineHealthCheckSucceededCondition, Status: status, Reason: "Test"})
			conditions.Set(s.machines[0], metav1.Condition{Type: clusterv1.MachineOwnerRemediatedCondition, Status: metav1.ConditionFalse, Reason: "Test"})
		}
	}
	tests := map[string]struct {
		change func(*scope)
		kept   bool
	}{
		"the Machine is still to be remediated": {change: mark(metav1.ConditionFalse), kept: true},
		"the Machine is being deleted":          {change: func(s *scope) { s.machines[0].DeletionTimestamp = ptr.To(metav1.Now()) }, kept: true},
		"the Machine is gone":                   {change: func(s *scope) { s.machines = s.machines[1:] }, kept: true},
		"the Machine has recovered":             {change: mark(metav1.ConditionTrue)},
		"the Machine has been replaced":         {change: func(s *scope) { s.machines[0].Name = "d" }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := observed("a", "b", "c")
			s.controlPlane.Annotations = map[string]string{
				controlplanev1.RemediationInProgressAnnotation: `{"machine":"a","timestamp":"2026-03-09T09:00:00Z","retryCount":1}`,
			}
			test.change(s)
			s.forgetRemediation(outcome{state: s.current(), next: plan.Decision{Action: plan.ActionWait}})
			_, kept := s.controlPlane.Annotations[controlplanev1.RemediationInProgressAnnotation]
			g.Expect(kept).To(Equal(test.kept))
		})
	}
}

// The Machines of a running cluster need the Secrets even if a FooControlPlane that could not adopt them
// is deleted.
func TestSecretsAreOwnedOnceAllMachinesAre(t *testing.T) {
	g := NewWithT(t)
	s := observed("a")
	s.controlPlane.UID = "uid"
	g.Expect(s.secretOwner().UID).To(BeEquivalentTo("uid"))
	s.adoptable = s.machines
	g.Expect(s.secretOwner()).To(BeZero())
	s.adoptable, s.foreign = nil, []string{"Machine a"}
	g.Expect(s.secretOwner()).To(BeZero())
}
