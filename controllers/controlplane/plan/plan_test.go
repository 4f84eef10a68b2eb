// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

const testVersion = "v1.36.3"

// settled returns a healthy control plane with the given Machines, which wants no more and no
// fewer.
func settled(names ...string) State {
	s := State{
		Desired:            len(names),
		MaxSurge:           1,
		Version:            testVersion,
		EtcdManaged:        true,
		PlacementKnown:     true,
		Initialized:        true,
		ClusterInitialized: true,
	}
	for index, name := range names {
		s.Machines = append(s.Machines, Machine{Name: name, Node: name, Hooked: true, Version: testVersion})
		s.Etcd.Members = append(s.Etcd.Members, Member{ID: uint64(index + 1), Name: name})
	}
	if len(names) > 0 {
		s.Etcd.Leader = 1
	}
	return s
}

func with(s State, changes ...func(*State)) State {
	for _, change := range changes {
		change(&s)
	}
	return s
}

func desired(replicas int) func(*State) { return func(s *State) { s.Desired = replicas } }

func fresh(s *State) {
	s.Initialized, s.ClusterInitialized = false, false
	s.WorkloadProblem = "the workload cluster does not exist yet"
}

func unjoined(s *State) { s.Machines[0].Node, s.Etcd = "", Etcd{} }

func outdated(s *State) {
	s.Machines[0].Version = "v1.36.30"
	s.Machines[0].Outdated = []Difference{{Field: "spec.version", Text: "Version v1.36.30, v1.36.3 required", Asked: true}}
}

func TestPlan(t *testing.T) {
	tests := map[string]struct {
		state   State
		action  Action
		reason  string
		message string
	}{
		"nothing to do": {state: settled("a"), action: ActionNone, reason: ReasonSettled},
		"first Machine": {state: with(settled(), fresh, desired(3)), action: ActionInitialize, reason: reasonInitializing},
		"first Machine waits for the failure domains": {
			state:  with(settled(), fresh, desired(1), func(s *State) { s.PlacementKnown = false }),
			action: ActionWait, reason: ReasonWaitingForInfrastructure,
		},
		"first Machine waits for the prerequisites": {
			state:  with(settled(), fresh, desired(1), func(s *State) { s.PrerequisiteProblem = Problem{"Missing", "no endpoint"} }),
			action: ActionWait, reason: "Missing", message: "no endpoint",
		},
		"first Machine needs a template": {
			state:  with(settled(), fresh, desired(1), func(s *State) { s.TemplateProblem = "no such template" }),
			action: ActionWait, reason: reasonTemplateUnusable, message: "no such template",
		},
		"no second Machine before the first has initialized": {
			state: with(settled("a"), fresh, desired(3)), action: ActionWait, reason: reasonWaitingForInitialization,
		},
		"a first Machine whose infrastructure is not up is given up": {
			state:  with(settled("a"), fresh, unjoined, outdated),
			action: ActionDelete, reason: reasonAbandoningMachine,
			message: "deleting Machine a, which has not joined and is out of date: Version v1.36.30, v1.36.3 required",
		},
		"only the user gives up a first Machine whose infrastructure is up": {
			state:  with(settled("a"), fresh, unjoined, outdated, func(s *State) { s.Machines[0].ProvisionedSince = time.Now() }),
			action: ActionWait, reason: reasonWaitingForInitialization,
			message: "waiting for Machine a to initialize the control plane, although it is out of date: Version v1.36.30, v1.36.3 required; " +
				"if you do not need its cluster, delete the Machine, and another one is created",
		},
		"a first Machine is not given up while no other can be created": {
			state:  with(settled("a"), fresh, unjoined, outdated, func(s *State) { s.TemplateProblem = "no such template" }),
			action: ActionWait, reason: reasonTemplateUnusable, message: "no such template",
		},
		"a first Machine is not given up for a change that nobody asked for": {
			state:  with(settled("a"), fresh, unjoined, outdated, func(s *State) { s.Machines[0].Outdated[0].Asked = false }),
			action: ActionWait, reason: reasonWaitingForInitialization,
		},
		"no second Machine before the Cluster knows": {
			state:  with(settled("a"), desired(3), func(s *State) { s.ClusterInitialized = false }),
			action: ActionWait, reason: reasonWaitingForInitialization,
		},
		"scale up": {state: with(settled("a"), desired(3)), action: ActionCreate, reason: ReasonScalingUp},
		"no scale up while unhealthy": {
			state:  with(settled("a"), desired(3), func(s *State) { s.Machines[0].Unhealthy = []string{"kube-scheduler: failed"} }),
			action: ActionWait, reason: ReasonMachinesNotHealthy, message: "Machine a: kube-scheduler: failed",
		},
		"scale up without a network": {
			state:  with(settled("a"), desired(3), func(s *State) { s.Machines[0].NodeNotReady = true }),
			action: ActionCreate, reason: ReasonScalingUp,
		},
		"no scale up with a learner": {
			state:  with(settled("a", "b"), desired(3), func(s *State) { s.Etcd.Members[1].Learner = true }),
			action: ActionWait, reason: ReasonEtcdNotHealthy, message: "etcd member b is a learner and does not vote yet",
		},
		"an orphaned member is removed first": {
			state: with(settled("a"), desired(3), func(s *State) {
				s.Etcd.Members = append(s.Etcd.Members, Member{ID: 9, Name: "gone"})
			}),
			action: ActionRemoveMember, reason: reasonRemovingOrphan, message: "removing etcd member gone, which belongs to no Machine",
		},
		"no scale up with an alarm": {
			state:  with(settled("a"), desired(3), func(s *State) { s.Etcd.Members[0].Alarms = []string{"NOSPACE"} }),
			action: ActionWait, reason: ReasonEtcdNotHealthy, message: "etcd member a raises NOSPACE",
		},
		"no scale up while health is unknown": {
			state:  with(settled("a"), desired(3), func(s *State) { s.WorkloadProblem = "no answer" }),
			action: ActionWait, reason: ReasonWorkloadUnknown, message: "no answer",
		},
		"scale up with external etcd": {
			state:  with(settled("a"), desired(2), func(s *State) { s.EtcdManaged, s.Etcd = false, Etcd{} }),
			action: ActionCreate, reason: ReasonScalingUp,
		},
		"scale down": {state: with(settled("a", "b", "c"), desired(1)), action: ActionDelete, reason: reasonScalingDown},
		"scale down prefers the Node that is not ready": {
			state:  with(settled("a", "b", "c"), desired(1), func(s *State) { s.Machines[1].NodeNotReady = true }),
			action: ActionDelete, reason: reasonScalingDown, message: "deleting Machine b; 2 of 3 Machines remain",
		},
		"no scale down while two are unhealthy": {
			state: with(settled("a", "b", "c"), desired(1), func(s *State) {
				s.Machines[1].Unhealthy, s.Machines[2].Unhealthy = []string{"etcd: failed"}, []string{"etcd: failed"}
			}),
			action: ActionWait, reason: ReasonMachinesNotHealthy,
		},
		"even replicas":     {state: with(settled("a"), desired(2)), action: ActionWait, reason: reasonReplicasRefused},
		"no replicas":       {state: with(settled("a"), desired(0)), action: ActionWait, reason: reasonReplicasRefused},
		"all Machines lost": {state: with(settled(), desired(1)), action: ActionWait, reason: reasonMachinesLost},
		"foreign Machines": {
			state:  with(settled("a"), func(s *State) { s.Foreign = []string{"x"} }),
			action: ActionWait, reason: reasonForeignMachines,
		},
		"deletion waits for workers": {
			state:  with(settled("a"), func(s *State) { s.Deleting, s.Workers = true, []string{"MachinePool p"} }),
			action: ActionWait, reason: controlplanev1.DeletingWaitingForWorkersDeletionReason, message: "waiting for the deletion of MachinePool p",
		},
		"deletion ends while another control plane has workers": {
			state: with(settled(), func(s *State) {
				s.Deleting, s.Workers, s.Foreign = true, []string{"Machine w"}, []string{"x"}
			}),
			action: ActionFinish, reason: controlplanev1.DeletingDeletionCompletedReason,
		},
		"deletion of Machines": {
			state:  with(settled("a"), func(s *State) { s.Deleting = true }),
			action: ActionDeleteMachines, reason: controlplanev1.DeletingWaitingForMachineDeletionReason,
		},
		"deletion waits for Machines": {
			state:  with(settled("a"), func(s *State) { s.Deleting, s.Machines[0].Deleting, s.Machines[0].Hooked = true, true, false }),
			action: ActionWait, reason: controlplanev1.DeletingWaitingForMachineDeletionReason,
		},
		"deletion ends": {
			state:  with(settled(), func(s *State) { s.Deleting = true }),
			action: ActionFinish, reason: controlplanev1.DeletingDeletionCompletedReason,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			next := Decide(test.state)
			g.Expect(next.Action).To(Equal(test.action))
			g.Expect(next.Reason).To(Equal(test.reason))
			if test.message != "" {
				g.Expect(next.Message).To(Equal(test.message))
			}
		})
	}
}

func TestStrayMembers(t *testing.T) {
	joining := func(name string, change func(*State)) State {
		return with(settled("a", "b", "c"), change, func(s *State) {
			s.Now = time.Now()
			s.StraySince = map[uint64]time.Time{9: s.Now.Add(-time.Minute)}
			s.Etcd.Members = append(s.Etcd.Members, Member{ID: 9, Name: name, Learner: name == ""})
			s.Machines[2].Unhealthy = []string{"it has no Node yet"}
		})
	}
	noNode := func(s *State) { s.Machines[2].Node = ""; s.Etcd.Members = s.Etcd.Members[:2:2] }
	noMember := func(s *State) { s.Etcd.Members = s.Etcd.Members[:2:2] }
	old := func(s *State) { s.StraySince[9] = s.Now.Add(-time.Hour) }
	broken := func(s *State) { s.Etcd.Members[len(s.Etcd.Members)-1].Problem = "it could not be queried: no answer" }
	tests := map[string]struct {
		state  State
		action Action
	}{
		"may belong to a Machine without a Node":            {joining("x", noNode), ActionWait},
		"no name, may belong to a Machine without a Node":   {joining("", noNode), ActionWait},
		"no name, may belong to a Machine without a member": {joining("", noMember), ActionWait},
		"not the name of the Node without a member":         {joining("x", noMember), ActionRemoveMember},
		"a stray for too long to belong to a Machine":       {with(joining("", noNode), old), ActionRemoveMember},
		"the name of the Machine":                           {with(joining("c", noNode), old, broken), ActionWait},
		"healthy, however long it is a stray":               {with(joining("x", noNode), old), ActionWait},
		"a stray for too long that does not answer":         {with(joining("x", noNode), old, broken), ActionRemoveMember},
		"every Machine has a Node and a member":             {joining("", func(*State) {}), ActionRemoveMember},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			next := Decide(test.state)
			NewWithT(t).Expect(next.Action).To(Equal(test.action), next.Message)
		})
	}
}

// A Machine that may be joining etcd must not be deleted if etcd has only one other member, whoever
// deletes it: etcd would wait for it forever.
func TestAMachineThatMayBeJoiningEtcdIsKept(t *testing.T) {
	joining := func(s *State) {
		s.Now = time.Now()
		newest := &s.Machines[len(s.Machines)-1]
		newest.Node, newest.Created, newest.ProvisionedSince = "", s.Now.Add(-time.Hour), s.Now.Add(-time.Minute)
		newest.Unhealthy = []string{"it has no Node yet"}
		newest.Deleting, newest.Hooked, newest.AtHook = true, true, true
		s.Etcd.Members = s.Etcd.Members[:len(s.Machines)-1]
	}
	learner := func(s *State) { s.Etcd.Members = append(s.Etcd.Members, Member{ID: 9, Learner: true}) }
	for name, test := range map[string]struct {
		state  State
		action Action
	}{
		"one other member":                    {with(settled("a", "b"), joining), ActionWait},
		"two other members":                   {with(settled("a", "b", "c"), joining), ActionRelease},
		"two other members, one of them down": {with(settled("a", "b", "c"), joining, func(s *State) { s.Etcd.Members[1].Problem = "it could not be queried: no answer" }), ActionWait},
		"its infrastructure is not up":        {with(settled("a", "b"), joining, func(s *State) { s.Machines[1].ProvisionedSince = time.Time{} }), ActionRelease},
		"it is a learner already":             {with(settled("a", "b"), joining, learner), ActionRelease},
		"it has not joined in time":           {with(settled("a", "b"), joining, func(s *State) { s.Machines[1].ProvisionedSince = s.Now.Add(-orphanGrace) }), ActionRelease},
		"external etcd":                       {with(settled("a", "b"), joining, func(s *State) { s.EtcdManaged = false }), ActionRelease},
	} {
		t.Run(name, func(t *testing.T) {
			next := Decide(test.state)
			NewWithT(t).Expect(next.Action).To(Equal(test.action), next.Message)
		})
	}
}

func TestPlanRelease(t *testing.T) {
	atHook := func(name string) func(*State) {
		return func(s *State) {
			for i := range s.Machines {
				if s.Machines[i].Name == name {
					s.Machines[i].Deleting, s.Machines[i].AtHook = true, true
				}
			}
		}
	}
	unhealthy := func(index int) func(*State) {
		return func(s *State) {
			s.Machines[index].Unhealthy, s.Etcd.Members[index].Problem = []string{"etcd: failed"}, "no answer"
		}
	}
	crippled := func(indexes ...int) func(*State) {
		return func(s *State) {
			for _, index := range indexes {
				s.Machines[index].Unhealthy = []string{"kube-apiserver: failed"}
			}
		}
	}
	external := func(s *State) { s.EtcdManaged, s.Etcd = false, Etcd{} }
	blind := func(s *State) { s.WorkloadProblem = "no answer" }
	newcomer := func(s *State) { s.Machines[0].Node = "" }
	learnerSince := func(ago time.Duration) func(*State) {
		return func(s *State) {
			s.Now = time.Now()
			s.StraySince = map[uint64]time.Time{9: s.Now.Add(-ago)}
			s.Etcd.Members = []Member{{ID: 2, Name: "b"}, {ID: 9, Learner: true}}
		}
	}
	learns := func(s *State) { s.Machines[2].Node = "" }
	tests := map[string]struct {
		state  State
		action Action
		reason string
		etcd   EtcdChange
	}{
		"member leaves first": {
			state: with(settled("a", "b", "c"), desired(1), atHook("b")), action: ActionRelease, reason: reasonReleasingMachine,
			etcd: EtcdChange{Leaving: Member{ID: 2, Name: "b"}, Via: Member{ID: 1, Name: "a"}},
		},
		"leader hands over": {
			state: with(settled("a", "b", "c"), desired(1), atHook("a")), action: ActionRelease, reason: reasonReleasingMachine,
			etcd: EtcdChange{Leaving: Member{ID: 1, Name: "a"}, Via: Member{ID: 2, Name: "b"}, MoveLeader: true},
		},
		"an unhealthy member may leave": {
			state: with(settled("a", "b", "c"), atHook("c"), unhealthy(2)), action: ActionRelease, reason: reasonReleasingMachine,
			etcd: EtcdChange{Leaving: Member{ID: 3, Name: "c", Problem: "no answer"}, Via: Member{ID: 1, Name: "a"}},
		},
		"quorum is kept": {
			state: with(settled("a", "b", "c"), atHook("c"), unhealthy(1)), action: ActionWait, reason: ReasonQuorumAtRisk,
		},
		"no other Machine serves": {
			state: with(settled("a", "b", "c"), atHook("a"), crippled(1, 2)), action: ActionWait, reason: ReasonMachinesNotHealthy,
		},
		"no other Machine serves, external etcd": {
			state: with(settled("a", "b", "c"), external, atHook("a"), crippled(1, 2)), action: ActionWait, reason: ReasonMachinesNotHealthy,
		},
		"another Machine serves, external etcd": {
			state: with(settled("a", "b", "c"), external, atHook("a"), crippled(0, 1)), action: ActionRelease, reason: reasonReleasingMachine,
		},
		"unknown health, external etcd": {
			state: with(settled("a", "b", "c"), external, atHook("a"), blind), action: ActionWait, reason: ReasonWorkloadUnknown,
		},
		"a Machine that never joined": {
			state:  with(settled("a", "b", "c"), external, newcomer, atHook("a"), crippled(1, 2)),
			action: ActionRelease, reason: reasonReleasingMachine,
		},
		"all are being deleted": {
			state:  with(settled("a", "b", "c"), external, atHook("a"), atHook("b"), atHook("c"), crippled(0)),
			action: ActionRelease, reason: reasonReleasingMachine,
		},
		"unknown health of the last Machine, external etcd": {
			state: with(settled("a"), external, atHook("a"), blind), action: ActionRelease, reason: reasonReleasingMachine,
		},
		"unknown health of etcd": {
			state:  with(settled("a", "b", "c"), atHook("c"), func(s *State) { s.Etcd = Etcd{Problem: "no answer"} }),
			action: ActionWait, reason: ReasonEtcdNotHealthy,
		},
		"one at a time": {
			state:  with(settled("a", "b", "c"), atHook("c"), func(s *State) { s.Machines[0].Deleting, s.Machines[0].Hooked = true, false }),
			action: ActionWait, reason: ReasonWaitingForMachineDeletion,
		},
		"drained first": {
			state:  with(settled("a", "b", "c"), func(s *State) { s.Machines[2].Deleting = true }),
			action: ActionWait, reason: ReasonWaitingForMachineDeletion,
		},
		"the last Machine": {
			state: with(settled("a"), atHook("a")), action: ActionRelease, reason: reasonReleasingMachine,
		},
		"without a member": {
			state:  with(settled("a", "b"), atHook("b"), func(s *State) { s.Etcd.Members = s.Etcd.Members[:1] }),
			action: ActionRelease, reason: reasonReleasingMachine,
		},
		"a learner may belong to a Machine that is joining": {
			state: with(settled("a", "b", "c"), atHook("a"), learns, learnerSince(time.Minute)), action: ActionWait, reason: ReasonEtcdNotHealthy,
		},
		"a learner may belong to a Machine that has just joined": {
			state: with(settled("a", "b", "c"), atHook("a"), learnerSince(time.Minute)), action: ActionWait, reason: ReasonEtcdNotHealthy,
		},
		"a learner that never starts": {
			state: with(settled("a", "b", "c"), atHook("a"), learns, learnerSince(orphanGrace)), action: ActionRelease, reason: reasonReleasingMachine,
			etcd: EtcdChange{Leaving: Member{ID: 9, Learner: true}, Via: Member{ID: 2, Name: "b"}},
		},
		"the learner's Machine is being deleted as well": {
			state: with(settled("a", "b", "c"), atHook("a"), atHook("c"), learns, learnerSince(time.Minute)), action: ActionRelease, reason: reasonReleasingMachine,
			etcd: EtcdChange{Leaving: Member{ID: 9, Learner: true}, Via: Member{ID: 2, Name: "b"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			next := Decide(test.state)
			g.Expect(next.Action).To(Equal(test.action), next.Message)
			g.Expect(next.Reason).To(Equal(test.reason), next.Message)
			g.Expect(next.Etcd).To(Equal(test.etcd))
		})
	}
}

func TestStable(t *testing.T) {
	held := func(s *State) {
		s.Machines[0].Outdated = []Difference{{Field: "spec.kubeadmConfigSpec", Text: "release"}}
	}
	asked := func(s *State) {
		s.Machines[0].Outdated = []Difference{{Field: "spec.kubeadmConfigSpec", Text: "config", Asked: true}}
	}
	tests := map[string]struct {
		state  State
		action Action
		want   bool
	}{
		"nothing to do": {state: settled("a"), action: ActionNone, want: true},
		"held":          {state: with(settled("a", "b", "c"), held), action: ActionWait, want: true},
		"refused":       {state: with(settled("a"), asked, func(s *State) { s.MaxSurge = 0 }), action: ActionWait, want: true},
		"held, one Machine unhealthy": {
			state: with(settled("a", "b", "c"), held, func(s *State) { s.Machines[1].Unhealthy = []string{"broken"} }), action: ActionWait,
		},
		"held, health unknown":      {state: with(settled("a"), held, func(s *State) { s.WorkloadProblem = "no answer" }), action: ActionWait},
		"held, one Machine missing": {state: with(settled("a"), held, desired(3)), action: ActionCreate},
		"rolling out":               {state: with(settled("a", "b", "c"), asked), action: ActionCreate},
		"waiting":                   {state: with(settled("a"), func(s *State) { s.Etcd.Members[0].Alarms = []string{"NOSPACE"} }), action: ActionWait},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			next := Decide(test.state)
			g.Expect(next.Action).To(Equal(test.action), next.Message)
			g.Expect(next.Stable).To(Equal(test.want), next.Message)
		})
	}
}

func TestLeadershipGoesToAMemberThatStays(t *testing.T) {
	created := func(index, minutes int) func(*State) {
		return func(s *State) { s.Machines[index].Created = time.Unix(0, 0).Add(time.Duration(minutes) * time.Minute) }
	}
	// The first of five Machines is the leader and is being deleted.
	going := func(s *State) { s.Machines[0].Deleting, s.Machines[0].AtHook = true, true }
	old := func(indexes ...int) func(*State) {
		return func(s *State) {
			for _, index := range indexes {
				s.Machines[index].Outdated = []Difference{{Field: "spec.version", Text: "version", Asked: true}}
			}
		}
	}
	ages := func(s *State) {
		for index := range s.Machines {
			created(index, index)(s)
		}
	}
	tests := map[string]struct {
		state State
		want  string
	}{
		"the newest":        {with(settled("a", "b", "c", "d", "e"), going, ages), "e"},
		"up to date":        {with(settled("a", "b", "c", "d", "e"), going, ages, old(1, 3, 4)), "c"},
		"not being deleted": {with(settled("a", "b", "c", "d", "e"), going, ages, func(s *State) { s.Machines[4].Deleting = true }), "d"},
		"healthy":           {with(settled("a", "b", "c", "d", "e"), going, ages, func(s *State) { s.Machines[4].Unhealthy = []string{"broken"} }), "d"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			next := Decide(test.state)
			g.Expect(next.Action).To(Equal(ActionRelease), next.Message)
			g.Expect(next.Etcd.MoveLeader).To(BeTrue())
			g.Expect(next.Etcd.Via.Name).To(Equal(test.want))
		})
	}
}

func TestWhatTheUserWantsRemediatedGoesFirst(t *testing.T) {
	g := NewWithT(t)
	s := settled("a", "b", "c", "d", "e")
	s.Machines[1].Remediate, s.Machines[1].Unhealthy, s.Etcd.Members[1].Problem = true, []string{"etcd: failed"}, "no answer"
	s.Machines[3].Remediate = true
	g.Expect(Decide(s).Machine).To(Equal("b"), "it is in the worst state")
	s.Machines[3].RemediationAsked = true
	next := Decide(s)
	g.Expect(next).To(And(HaveField("Action", ActionRemediate), HaveField("Machine", "d")))
	g.Expect(next.Unhealthy).To(HaveKeyWithValue("d", HaveField("Reason", controlplanev1.MachineRemediationMachineDeletingReason)))
	g.Expect(next.Unhealthy).To(HaveKeyWithValue("b", HaveField("Message", ContainSubstring("waits for something else first"))))
}

func TestAdoption(t *testing.T) {
	g := NewWithT(t)
	s := with(settled(), func(s *State) { s.Adoptable = []string{"x", "y"} })
	g.Expect(Decide(s)).To(And(HaveField("Action", ActionAdopt), HaveField("Message", "adopting Machines x, y")))
	s.Foreign = []string{"z"}
	g.Expect(Decide(s)).To(And(HaveField("Action", ActionWait), HaveField("Reason", reasonForeignMachines)), "all or none")
	s.Deleting = true
	g.Expect(Decide(s).Action).To(Equal(ActionFinish))
}

func TestEvidence(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Evidence{}.Initialized()).To(BeFalse())
	g.Expect(Evidence{Machines: 1}.Initialized()).To(BeFalse())
	for _, evidence := range []Evidence{{Status: true}, {Cluster: true}, {Machines: 2}, {Marked: true}, {Joining: true}, {Node: true}} {
		g.Expect(evidence.Initialized()).To(BeTrue(), "%+v", evidence)
	}
}

func TestRemediationWaitsForTheLinkToTheNode(t *testing.T) {
	g := NewWithT(t)
	s := settled("a", "b", "c")
	s.Machines[0].Remediate, s.Machines[0].Unlinked = true, true
	next := Decide(s)
	g.Expect(next.Action).To(Equal(ActionWait), next.Message)
	g.Expect(next.Message).To(Equal("Machine a is kept until Cluster API has linked it to its Node a, which is healthy"))

	s.Machines[0].Unhealthy = []string{"its etcd pod does not run"}
	g.Expect(Decide(s)).To(And(HaveField("Action", ActionRemediate), HaveField("Machine", "a")), "a broken Machine need not be linked")

	s.Machines[0].Unhealthy, s.Machines[0].Unlinked = nil, false
	g.Expect(Decide(s)).To(And(HaveField("Action", ActionRemediate), HaveField("Machine", "a")), "it is linked and still marked as unhealthy")
}

// A new Machine's Node does not prove that the control plane is initialized, but it may be a
// restored one, whose etcd has the state of the cluster.
func TestAFirstMachineWithANodeIsNotRemediated(t *testing.T) {
	g := NewWithT(t)
	s := with(settled("a"), fresh)
	s.Machines[0].Remediate = true
	g.Expect(Decide(s)).To(And(HaveField("Action", ActionWait), HaveField("Message", ContainSubstring("it is the only one"))))
	g.Expect(Decide(with(s, unjoined)).Action).To(Equal(ActionRemediate))
}
