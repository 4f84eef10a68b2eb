// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

const testVersion = "v1.36.3"

// settled returns a healthy control plane of the given Machines that wants as many as it has.
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
	s.WorkloadProblem = "the workload cluster is not there yet"
}

func unjoined(s *State) { s.Machines[0].Node, s.Etcd = "", Etcd{} }

func outdated(s *State) {
	s.Machines[0].Version = "v1.36.30"
	s.Machines[0].Outdated = []Difference{{Field: "spec.version", Text: "spec.version is v1.36.30 and should be v1.36.3", Asked: true}}
}

func TestPlan(t *testing.T) {
	tests := map[string]struct {
		state   State
		action  Action
		reason  string
		message string
	}{
		"nothing to do": {state: settled("a"), action: ActionNone, reason: ReasonSettled},
		"first Machine": {state: with(settled(), fresh, desired(3)), action: ActionInitialize, reason: ReasonInitializing},
		"first Machine waits for its place": {
			state:  with(settled(), fresh, desired(1), func(s *State) { s.PlacementKnown = false }),
			action: ActionWait, reason: ReasonWaitingForInfrastructure,
		},
		"first Machine waits for the foundation": {
			state:  with(settled(), fresh, desired(1), func(s *State) { s.FoundationProblem = Problem{"Missing", "no endpoint"} }),
			action: ActionWait, reason: "Missing", message: "no endpoint",
		},
		"first Machine needs a template": {
			state:  with(settled(), fresh, desired(1), func(s *State) { s.TemplateProblem = "no such template" }),
			action: ActionWait, reason: ReasonTemplateUnusable, message: "no such template",
		},
		"no second Machine before the first has initialized": {
			state: with(settled("a"), fresh, desired(3)), action: ActionWait, reason: ReasonWaitingForInitialization,
		},
		"a first Machine that never came up is given up": {
			state:  with(settled("a"), fresh, unjoined, outdated),
			action: ActionDelete, reason: ReasonAbandoningMachine,
			message: "deleting Machine a, which has not joined and is out of date: spec.version is v1.36.30 and should be v1.36.3",
		},
		"a first Machine that came up is the user's to give up": {
			state:  with(settled("a"), fresh, unjoined, outdated, func(s *State) { s.Machines[0].ProvisionedSince = time.Now() }),
			action: ActionWait, reason: ReasonWaitingForInitialization,
			message: "waiting for Machine a to initialize the control plane, though it is out of date: spec.version is v1.36.30 and should be v1.36.3; " +
				"if nothing of its cluster is needed, delete the Machine, and another one is made",
		},
		"a first Machine is not given up before another one can be made": {
			state:  with(settled("a"), fresh, unjoined, outdated, func(s *State) { s.TemplateProblem = "no such template" }),
			action: ActionWait, reason: ReasonTemplateUnusable, message: "no such template",
		},
		"a first Machine is not given up for what nobody asked for": {
			state:  with(settled("a"), fresh, unjoined, outdated, func(s *State) { s.Machines[0].Outdated[0].Asked = false }),
			action: ActionWait, reason: ReasonWaitingForInitialization,
		},
		"no second Machine before the Cluster knows": {
			state:  with(settled("a"), desired(3), func(s *State) { s.ClusterInitialized = false }),
			action: ActionWait, reason: ReasonWaitingForInitialization,
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
		"an orphaned member goes first": {
			state: with(settled("a"), desired(3), func(s *State) {
				s.Etcd.Members = append(s.Etcd.Members, Member{ID: 9, Name: "gone"})
			}),
			action: ActionRemoveMember, reason: ReasonRemovingOrphan, message: "removing etcd member gone, which belongs to no Machine",
		},
		"no scale up with an alarm": {
			state:  with(settled("a"), desired(3), func(s *State) { s.Etcd.Members[0].Alarms = []string{"NOSPACE"} }),
			action: ActionWait, reason: ReasonEtcdNotHealthy, message: "etcd member a raises NOSPACE",
		},
		"no scale up blindly": {
			state:  with(settled("a"), desired(3), func(s *State) { s.WorkloadProblem = "no answer" }),
			action: ActionWait, reason: ReasonWorkloadUnknown, message: "no answer",
		},
		"scale up with external etcd": {
			state:  with(settled("a"), desired(2), func(s *State) { s.EtcdManaged, s.Etcd = false, Etcd{} }),
			action: ActionCreate, reason: ReasonScalingUp,
		},
		"scale down": {state: with(settled("a", "b", "c"), desired(1)), action: ActionDelete, reason: ReasonScalingDown},
		"scale down takes the Node that is not ready": {
			state:  with(settled("a", "b", "c"), desired(1), func(s *State) { s.Machines[1].NodeNotReady = true }),
			action: ActionDelete, reason: ReasonScalingDown, message: "deleting Machine b, 2 of 3 stay",
		},
		"no scale down while two are unhealthy": {
			state: with(settled("a", "b", "c"), desired(1), func(s *State) {
				s.Machines[1].Unhealthy, s.Machines[2].Unhealthy = []string{"etcd: failed"}, []string{"etcd: failed"}
			}),
			action: ActionWait, reason: ReasonMachinesNotHealthy,
		},
		"even replicas":     {state: with(settled("a"), desired(2)), action: ActionWait, reason: ReasonReplicasRefused},
		"no replicas":       {state: with(settled("a"), desired(0)), action: ActionWait, reason: ReasonReplicasRefused},
		"all Machines lost": {state: with(settled(), desired(1)), action: ActionWait, reason: ReasonMachinesLost},
		"foreign Machines": {
			state:  with(settled("a"), func(s *State) { s.Foreign = []string{"x"} }),
			action: ActionWait, reason: ReasonForeignMachines,
		},
		"deletion waits for workers": {
			state:  with(settled("a"), func(s *State) { s.Deleting, s.Workers = true, []string{"MachinePool p"} }),
			action: ActionWait, reason: controlplanev1.DeletingWaitingForWorkersDeletionReason, message: "waiting for the deletion of MachinePool p",
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
	broken := func(s *State) { s.Etcd.Members[len(s.Etcd.Members)-1].Problem = "it cannot be asked" }
	tests := map[string]struct {
		state  State
		action Action
	}{
		"of a Machine without a Node":                 {joining("x", noNode), ActionWait},
		"without a name, of a Machine without a Node": {joining("", noNode), ActionWait},
		"without a name, of a Machine with a Node":    {joining("", noMember), ActionWait},
		"with another name than the Node's":           {joining("x", noMember), ActionRemoveMember},
		"for too long to be of a Machine":             {with(joining("", noNode), old), ActionRemoveMember},
		"of the Machine's own name":                   {with(joining("c", noNode), old, broken), ActionWait},
		"that votes, for however long":                {with(joining("x", noNode), old), ActionWait},
		"that does not answer, for too long":          {with(joining("x", noNode), old, broken), ActionRemoveMember},
		"of nobody":                                   {joining("", func(*State) {}), ActionRemoveMember},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			next := Decide(test.state)
			NewWithT(t).Expect(next.Action).To(Equal(test.action), next.Message)
		})
	}
}

// A Machine that may be joining etcd just now is not taken away from the only other member, whoever deletes it: etcd would wait
// for it without end.
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
		"by one member":                      {with(settled("a", "b"), joining), ActionWait},
		"by two members":                     {with(settled("a", "b", "c"), joining), ActionRelease},
		"by two members, of which one fails": {with(settled("a", "b", "c"), joining, func(s *State) { s.Etcd.Members[1].Problem = "it cannot be asked" }), ActionWait},
		"its infrastructure is not there":    {with(settled("a", "b"), joining, func(s *State) { s.Machines[1].ProvisionedSince = time.Time{} }), ActionRelease},
		"it is a learner, which leaves":      {with(settled("a", "b"), joining, learner), ActionRelease},
		"for too long":                       {with(settled("a", "b"), joining, func(s *State) { s.Machines[1].ProvisionedSince = s.Now.Add(-orphanGrace) }), ActionRelease},
		"etcd is the user's":                 {with(settled("a", "b"), joining, func(s *State) { s.EtcdManaged = false }), ActionRelease},
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
	tests := map[string]struct {
		state  State
		action Action
		reason string
		etcd   EtcdChange
	}{
		"member leaves first": {
			state: with(settled("a", "b", "c"), desired(1), atHook("b")), action: ActionRelease, reason: ReasonReleasingMachine,
			etcd: EtcdChange{Leaving: Member{ID: 2, Name: "b"}, Via: Member{ID: 1, Name: "a"}},
		},
		"leader hands over": {
			state: with(settled("a", "b", "c"), desired(1), atHook("a")), action: ActionRelease, reason: ReasonReleasingMachine,
			etcd: EtcdChange{Leaving: Member{ID: 1, Name: "a"}, Via: Member{ID: 2, Name: "b"}, MoveLeader: true},
		},
		"an unhealthy member may leave": {
			state: with(settled("a", "b", "c"), atHook("c"), unhealthy(2)), action: ActionRelease, reason: ReasonReleasingMachine,
			etcd: EtcdChange{Leaving: Member{ID: 3, Name: "c", Problem: "no answer"}, Via: Member{ID: 1, Name: "a"}},
		},
		"quorum is kept": {
			state: with(settled("a", "b", "c"), atHook("c"), unhealthy(1)), action: ActionWait, reason: ReasonQuorumAtRisk,
		},
		"no other one serves": {
			state: with(settled("a", "b", "c"), atHook("a"), crippled(1, 2)), action: ActionWait, reason: ReasonMachinesNotHealthy,
		},
		"no other one serves, external etcd": {
			state: with(settled("a", "b", "c"), external, atHook("a"), crippled(1, 2)), action: ActionWait, reason: ReasonMachinesNotHealthy,
		},
		"another one serves, external etcd": {
			state: with(settled("a", "b", "c"), external, atHook("a"), crippled(0, 1)), action: ActionRelease, reason: ReasonReleasingMachine,
		},
		"blind, external etcd": {
			state: with(settled("a", "b", "c"), external, atHook("a"), blind), action: ActionWait, reason: ReasonWorkloadUnknown,
		},
		"one that never joined takes nothing with it": {
			state:  with(settled("a", "b", "c"), external, newcomer, atHook("a"), crippled(1, 2)),
			action: ActionRelease, reason: ReasonReleasingMachine,
		},
		"all go": {
			state:  with(settled("a", "b", "c"), external, atHook("a"), atHook("b"), atHook("c"), crippled(0)),
			action: ActionRelease, reason: ReasonReleasingMachine,
		},
		"the last one of external etcd goes blindly": {
			state: with(settled("a"), external, atHook("a"), blind), action: ActionRelease, reason: ReasonReleasingMachine,
		},
		"unknown etcd is kept": {
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
		"the last one goes": {
			state: with(settled("a"), atHook("a")), action: ActionRelease, reason: ReasonReleasingMachine,
		},
		"without a member": {
			state:  with(settled("a", "b"), atHook("b"), func(s *State) { s.Etcd.Members = s.Etcd.Members[:1] }),
			action: ActionRelease, reason: ReasonReleasingMachine,
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
		"held, and one is unhealthy": {
			state: with(settled("a", "b", "c"), held, func(s *State) { s.Machines[1].Unhealthy = []string{"broken"} }), action: ActionWait,
		},
		"held, and not seen":       {state: with(settled("a"), held, func(s *State) { s.WorkloadProblem = "no answer" }), action: ActionWait},
		"held, and one is missing": {state: with(settled("a"), held, desired(3)), action: ActionCreate},
		"rolling out":              {state: with(settled("a", "b", "c"), asked), action: ActionCreate},
		"waiting":                  {state: with(settled("a"), func(s *State) { s.Etcd.Members[0].Alarms = []string{"NOSPACE"} }), action: ActionWait},
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
	// The first of five is being deleted, and leads.
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
		"the newest":                    {with(settled("a", "b", "c", "d", "e"), going, ages), "e"},
		"one that is up to date":        {with(settled("a", "b", "c", "d", "e"), going, ages, old(1, 3, 4)), "c"},
		"one that is not being deleted": {with(settled("a", "b", "c", "d", "e"), going, ages, func(s *State) { s.Machines[4].Deleting = true }), "d"},
		"one that is healthy":           {with(settled("a", "b", "c", "d", "e"), going, ages, func(s *State) { s.Machines[4].Unhealthy = []string{"broken"} }), "d"},
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
	g.Expect(Decide(s).Machine).To(Equal("b"), "it lacks most")
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
	g.Expect(Decide(s)).To(And(HaveField("Action", ActionWait), HaveField("Reason", ReasonForeignMachines)), "all or none")
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
	g.Expect(Decide(s)).To(And(HaveField("Action", ActionRemediate), HaveField("Machine", "a")), "a Machine that does not work need not be linked")

	s.Machines[0].Unhealthy, s.Machines[0].Unlinked = nil, false
	g.Expect(Decide(s)).To(And(HaveField("Action", ActionRemediate), HaveField("Machine", "a")), "it is linked and still found unhealthy")
}
