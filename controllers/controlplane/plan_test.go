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

package controlplane

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

const testVersion = "v1.36.3"

// settled returns a healthy control plane of the given Machines that wants as many as it has.
func settled(names ...string) state {
	s := state{
		Desired:            len(names),
		MaxSurge:           1,
		Version:            testVersion,
		EtcdManaged:        true,
		PlacementKnown:     true,
		Initialized:        true,
		ClusterInitialized: true,
	}
	for index, name := range names {
		s.Machines = append(s.Machines, machineState{Name: name, Node: name, Hooked: true, Version: testVersion})
		s.Etcd.Members = append(s.Etcd.Members, workload.Member{ID: uint64(index + 1), Name: name})
	}
	if len(names) > 0 {
		s.Etcd.Leader = 1
	}
	return s
}

func with(s state, changes ...func(*state)) state {
	for _, change := range changes {
		change(&s)
	}
	return s
}

func desired(replicas int) func(*state) { return func(s *state) { s.Desired = replicas } }

func fresh(s *state) {
	s.Initialized, s.ClusterInitialized = false, false
	s.WorkloadProblem = "the workload cluster is not there yet"
}

func unjoined(s *state) { s.Machines[0].Node, s.Etcd = "", workload.EtcdState{} }

func outdated(s *state) {
	s.Machines[0].Version = "v1.36.30"
	s.Machines[0].Outdated = []difference{{Field: fieldVersion, Text: "spec.version is v1.36.30 and should be v1.36.3", Asked: true}}
}

func TestPlan(t *testing.T) {
	tests := map[string]struct {
		state   state
		action  action
		reason  string
		message string
	}{
		"nothing to do": {state: settled("a"), action: actionNone, reason: reasonSettled},
		"first Machine": {state: with(settled(), fresh, desired(3)), action: actionInitialize, reason: reasonInitializing},
		"first Machine waits for its place": {
			state:  with(settled(), fresh, desired(1), func(s *state) { s.PlacementKnown = false }),
			action: actionWait, reason: reasonWaitingForInfrastructure,
		},
		"first Machine waits for the foundation": {
			state:  with(settled(), fresh, desired(1), func(s *state) { s.FoundationProblem = problem{"Missing", "no endpoint"} }),
			action: actionWait, reason: "Missing", message: "no endpoint",
		},
		"first Machine needs a template": {
			state:  with(settled(), fresh, desired(1), func(s *state) { s.TemplateProblem = "no such template" }),
			action: actionWait, reason: reasonTemplateUnusable, message: "no such template",
		},
		"no second Machine before the first has initialized": {
			state: with(settled("a"), fresh, desired(3)), action: actionWait, reason: reasonWaitingForInitialization,
		},
		"a first Machine that never came up is given up": {
			state:  with(settled("a"), fresh, unjoined, outdated),
			action: actionDelete, reason: reasonAbandoningMachine,
			message: "deleting Machine a, which has not joined and is out of date: spec.version is v1.36.30 and should be v1.36.3",
		},
		"a first Machine that came up is the user's to give up": {
			state:  with(settled("a"), fresh, unjoined, outdated, func(s *state) { s.Machines[0].Provisioned = true }),
			action: actionWait, reason: reasonWaitingForInitialization,
			message: "waiting for Machine a to initialize the control plane, though it is out of date: spec.version is v1.36.30 and should be v1.36.3; " +
				"if nothing of its cluster is needed, delete the Machine, and another one is made",
		},
		"a first Machine is not given up before another one can be made": {
			state:  with(settled("a"), fresh, unjoined, outdated, func(s *state) { s.TemplateProblem = "no such template" }),
			action: actionWait, reason: reasonTemplateUnusable, message: "no such template",
		},
		"a first Machine is not given up for what nobody asked for": {
			state:  with(settled("a"), fresh, unjoined, outdated, func(s *state) { s.Machines[0].Outdated[0].Asked = false }),
			action: actionWait, reason: reasonWaitingForInitialization,
		},
		"no second Machine before the Cluster knows": {
			state:  with(settled("a"), desired(3), func(s *state) { s.ClusterInitialized = false }),
			action: actionWait, reason: reasonWaitingForInitialization,
		},
		"scale up": {state: with(settled("a"), desired(3)), action: actionCreate, reason: reasonScalingUp},
		"no scale up while unhealthy": {
			state:  with(settled("a"), desired(3), func(s *state) { s.Machines[0].Unhealthy = []string{"kube-scheduler: failed"} }),
			action: actionWait, reason: reasonMachinesNotHealthy, message: "Machine a: kube-scheduler: failed",
		},
		"scale up without a network": {
			state:  with(settled("a"), desired(3), func(s *state) { s.Machines[0].NodeNotReady = true }),
			action: actionCreate, reason: reasonScalingUp,
		},
		"no scale up with a learner": {
			state:  with(settled("a", "b"), desired(3), func(s *state) { s.Etcd.Members[1].Learner = true }),
			action: actionWait, reason: reasonEtcdNotHealthy, message: "etcd member b is a learner and does not vote yet",
		},
		"an orphaned member goes first": {
			state: with(settled("a"), desired(3), func(s *state) {
				s.Etcd.Members = append(s.Etcd.Members, workload.Member{ID: 9, Name: "gone"})
			}),
			action: actionRemoveMember, reason: reasonRemovingOrphan, message: "removing etcd member gone, which belongs to no Machine",
		},
		"no scale up with an alarm": {
			state:  with(settled("a"), desired(3), func(s *state) { s.Etcd.Members[0].Alarms = []string{"NOSPACE"} }),
			action: actionWait, reason: reasonEtcdNotHealthy, message: "etcd member a raises NOSPACE",
		},
		"no scale up blindly": {
			state:  with(settled("a"), desired(3), func(s *state) { s.WorkloadProblem = "no answer" }),
			action: actionWait, reason: reasonWorkloadUnknown, message: "no answer",
		},
		"scale up with external etcd": {
			state:  with(settled("a"), desired(2), func(s *state) { s.EtcdManaged, s.Etcd = false, workload.EtcdState{} }),
			action: actionCreate, reason: reasonScalingUp,
		},
		"scale down": {state: with(settled("a", "b", "c"), desired(1)), action: actionDelete, reason: reasonScalingDown},
		"scale down takes the Node that is not ready": {
			state:  with(settled("a", "b", "c"), desired(1), func(s *state) { s.Machines[1].NodeNotReady = true }),
			action: actionDelete, reason: reasonScalingDown, message: "deleting Machine b, 2 of 3 stay",
		},
		"no scale down while two are unhealthy": {
			state: with(settled("a", "b", "c"), desired(1), func(s *state) {
				s.Machines[1].Unhealthy, s.Machines[2].Unhealthy = []string{"etcd: failed"}, []string{"etcd: failed"}
			}),
			action: actionWait, reason: reasonMachinesNotHealthy,
		},
		"even replicas":     {state: with(settled("a"), desired(2)), action: actionWait, reason: reasonReplicasRefused},
		"no replicas":       {state: with(settled("a"), desired(0)), action: actionWait, reason: reasonReplicasRefused},
		"all Machines lost": {state: with(settled(), desired(1)), action: actionWait, reason: reasonMachinesLost},
		"foreign Machines": {
			state:  with(settled("a"), func(s *state) { s.Foreign = []string{"x"} }),
			action: actionWait, reason: reasonForeignMachines,
		},
		"deletion waits for workers": {
			state:  with(settled("a"), func(s *state) { s.Deleting, s.Workers = true, []string{"MachinePool p"} }),
			action: actionWait, reason: controlplanev1.DeletingWaitingForWorkersDeletionReason, message: "waiting for the deletion of MachinePool p",
		},
		"deletion of Machines": {
			state:  with(settled("a"), func(s *state) { s.Deleting = true }),
			action: actionDeleteMachines, reason: controlplanev1.DeletingWaitingForMachineDeletionReason,
		},
		"deletion waits for Machines": {
			state:  with(settled("a"), func(s *state) { s.Deleting, s.Machines[0].Deleting, s.Machines[0].Hooked = true, true, false }),
			action: actionWait, reason: controlplanev1.DeletingWaitingForMachineDeletionReason,
		},
		"deletion ends": {
			state:  with(settled(), func(s *state) { s.Deleting = true }),
			action: actionFinish, reason: controlplanev1.DeletingDeletionCompletedReason,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			next := plan(test.state)
			g.Expect(next.Action).To(Equal(test.action))
			g.Expect(next.Reason).To(Equal(test.reason))
			if test.message != "" {
				g.Expect(next.Message).To(Equal(test.message))
			}
		})
	}
}

func TestStrayMembers(t *testing.T) {
	joining := func(name string, change func(*state)) state {
		return with(settled("a", "b", "c"), change, func(s *state) {
			s.Now = time.Now()
			s.StraySince = map[uint64]time.Time{9: s.Now.Add(-time.Minute)}
			s.Etcd.Members = append(s.Etcd.Members, workload.Member{ID: 9, Name: name, Learner: name == ""})
			s.Machines[2].Unhealthy = []string{"it has no Node yet"}
		})
	}
	noNode := func(s *state) { s.Machines[2].Node = ""; s.Etcd.Members = s.Etcd.Members[:2:2] }
	noMember := func(s *state) { s.Etcd.Members = s.Etcd.Members[:2:2] }
	old := func(s *state) { s.StraySince[9] = s.Now.Add(-time.Hour) }
	tests := map[string]struct {
		state  state
		action action
	}{
		"of a Machine without a Node":                 {joining("x", noNode), actionWait},
		"without a name, of a Machine without a Node": {joining("", noNode), actionWait},
		"without a name, of a Machine with a Node":    {joining("", noMember), actionWait},
		"with another name than the Node's":           {joining("x", noMember), actionRemoveMember},
		"for too long to be of a Machine":             {with(joining("", noNode), old), actionRemoveMember},
		"of the Machine's own name":                   {with(joining("c", noNode), old), actionWait},
		"of nobody":                                   {joining("", func(*state) {}), actionRemoveMember},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			next := plan(test.state)
			NewWithT(t).Expect(next.Action).To(Equal(test.action), next.Message)
		})
	}
}

func TestPlanRelease(t *testing.T) {
	atHook := func(name string) func(*state) {
		return func(s *state) {
			for i := range s.Machines {
				if s.Machines[i].Name == name {
					s.Machines[i].Deleting, s.Machines[i].AtHook = true, true
				}
			}
		}
	}
	unhealthy := func(index int) func(*state) {
		return func(s *state) {
			s.Machines[index].Unhealthy, s.Etcd.Members[index].Problem = []string{"etcd: failed"}, "no answer"
		}
	}
	crippled := func(indexes ...int) func(*state) {
		return func(s *state) {
			for _, index := range indexes {
				s.Machines[index].Unhealthy = []string{"kube-apiserver: failed"}
			}
		}
	}
	external := func(s *state) { s.EtcdManaged, s.Etcd = false, workload.EtcdState{} }
	blind := func(s *state) { s.WorkloadProblem = "no answer" }
	newcomer := func(s *state) { s.Machines[0].Node = "" }
	tests := map[string]struct {
		state  state
		action action
		reason string
		etcd   etcdChange
	}{
		"member leaves first": {
			state: with(settled("a", "b", "c"), desired(1), atHook("b")), action: actionRelease, reason: reasonReleasingMachine,
			etcd: etcdChange{Leaving: workload.Member{ID: 2, Name: "b"}, Via: workload.Member{ID: 1, Name: "a"}},
		},
		"leader hands over": {
			state: with(settled("a", "b", "c"), desired(1), atHook("a")), action: actionRelease, reason: reasonReleasingMachine,
			etcd: etcdChange{Leaving: workload.Member{ID: 1, Name: "a"}, Via: workload.Member{ID: 2, Name: "b"}, MoveLeader: true},
		},
		"an unhealthy member may leave": {
			state: with(settled("a", "b", "c"), atHook("c"), unhealthy(2)), action: actionRelease, reason: reasonReleasingMachine,
			etcd: etcdChange{Leaving: workload.Member{ID: 3, Name: "c", Problem: "no answer"}, Via: workload.Member{ID: 1, Name: "a"}},
		},
		"quorum is kept": {
			state: with(settled("a", "b", "c"), atHook("c"), unhealthy(1)), action: actionWait, reason: reasonQuorumAtRisk,
		},
		"no other one serves": {
			state: with(settled("a", "b", "c"), atHook("a"), crippled(1, 2)), action: actionWait, reason: reasonMachinesNotHealthy,
		},
		"no other one serves, external etcd": {
			state: with(settled("a", "b", "c"), external, atHook("a"), crippled(1, 2)), action: actionWait, reason: reasonMachinesNotHealthy,
		},
		"another one serves, external etcd": {
			state: with(settled("a", "b", "c"), external, atHook("a"), crippled(0, 1)), action: actionRelease, reason: reasonReleasingMachine,
		},
		"blind, external etcd": {
			state: with(settled("a", "b", "c"), external, atHook("a"), blind), action: actionWait, reason: reasonWorkloadUnknown,
		},
		"one that never joined takes nothing with it": {
			state:  with(settled("a", "b", "c"), external, newcomer, atHook("a"), crippled(1, 2)),
			action: actionRelease, reason: reasonReleasingMachine,
		},
		"all go": {
			state:  with(settled("a", "b", "c"), external, atHook("a"), atHook("b"), atHook("c"), crippled(0)),
			action: actionRelease, reason: reasonReleasingMachine,
		},
		"the last one of external etcd goes blindly": {
			state: with(settled("a"), external, atHook("a"), blind), action: actionRelease, reason: reasonReleasingMachine,
		},
		"unknown etcd is kept": {
			state:  with(settled("a", "b", "c"), atHook("c"), func(s *state) { s.Etcd = workload.EtcdState{Problem: "no answer"} }),
			action: actionWait, reason: reasonEtcdNotHealthy,
		},
		"one at a time": {
			state:  with(settled("a", "b", "c"), atHook("c"), func(s *state) { s.Machines[0].Deleting, s.Machines[0].Hooked = true, false }),
			action: actionWait, reason: reasonWaitingForMachineDeletion,
		},
		"drained first": {
			state:  with(settled("a", "b", "c"), func(s *state) { s.Machines[2].Deleting = true }),
			action: actionWait, reason: reasonWaitingForMachineDeletion,
		},
		"the last one goes": {
			state: with(settled("a"), atHook("a")), action: actionRelease, reason: reasonReleasingMachine,
		},
		"without a member": {
			state:  with(settled("a", "b"), atHook("b"), func(s *state) { s.Etcd.Members = s.Etcd.Members[:1] }),
			action: actionRelease, reason: reasonReleasingMachine,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			next := plan(test.state)
			g.Expect(next.Action).To(Equal(test.action), next.Message)
			g.Expect(next.Reason).To(Equal(test.reason), next.Message)
			g.Expect(next.Etcd).To(Equal(test.etcd))
		})
	}
}
