// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// orphanGrace is how long an etcd member without a Machine may still belong to a Machine whose Node
// or member is unknown. It is also how long a Machine may take to join after its infrastructure is
// up. Both count from the first observation, since a machine may take long to boot.
const orphanGrace = 10 * time.Minute

// EtcdProblem says why etcd is not exactly one voting member without alarms per Machine, except for
// the given Machine; empty if it is.
func (s State) EtcdProblem(except Machine) string {
	if problem := s.EtcdUnknown(); problem != "" {
		return problem
	}
	var problems []string
	for _, member := range s.Etcd.Members {
		if s.mayBelong(member, except) {
			continue
		}
		if problem := member.Trouble(); problem != "" {
			problems = append(problems, problem)
		} else if !s.machineOf(member).Joined() {
			problems = append(problems, fmt.Sprintf("etcd member %s belongs to no Machine", member.Name))
		}
	}
	for _, machine := range s.Machines {
		if _, ok := s.Etcd.Member(machine.Node); !ok && machine.Name != except.Name {
			problems = append(problems, fmt.Sprintf("Machine %s has no etcd member", machine.Name))
		}
	}
	return strings.Join(problems, "; ")
}

// EtcdUnknown says why nothing is known about etcd; empty if something is.
func (s State) EtcdUnknown() string {
	if s.Etcd.Problem != "" {
		return "etcd could not be queried: " + s.Etcd.Problem
	}
	if len(s.Etcd.Members) == 0 {
		return "etcd could not be queried"
	}
	return ""
}

// mayBelong reports whether a member is the Machine's, or may be because no other Machine has it.
func (s State) mayBelong(member Member, machine Machine) bool {
	switch {
	case machine.Name == "":
		return false
	case machine.Joined() && member.Name != "":
		return machine.Node == member.Name
	}
	isStray := slices.ContainsFunc(s.Strays(), func(stray Member) bool { return stray.ID == member.ID })
	_, has := s.Etcd.Member(machine.Node)
	return isStray && !has
}

// Trouble says what is wrong with the member; empty if nothing is.
func (m Member) Trouble() string {
	switch {
	case m.Name == "":
		return "an etcd member has not started yet"
	case m.Learner:
		return fmt.Sprintf("etcd member %s is a learner and does not vote yet", m.Name)
	case len(m.Alarms) > 0:
		return fmt.Sprintf("etcd member %s raises %s", m.Name, strings.Join(m.Alarms, ", "))
	case m.Problem != "":
		return fmt.Sprintf("etcd member %s: %s", m.Name, m.Problem)
	}
	return ""
}

// removeOrphan removes members from etcd whose Machine is gone without having been released.
func removeOrphan(s State) (Decision, bool) {
	if !s.EtcdManaged || !s.Initialized || s.WorkloadProblem != "" || s.EtcdUnknown() != "" {
		return Decision{}, false
	}
	var kept Decision
	for _, member := range s.Strays() {
		if s.mayBeOwned(member) {
			continue
		}
		change, problem := s.withdrawal(member)
		if problem == "" {
			return Decision{
				Action: ActionRemoveMember, Reason: reasonRemovingOrphan, Etcd: change,
				Message: fmt.Sprintf("removing %s, which belongs to no Machine", member),
			}, true
		}
		kept = wait(ReasonQuorumAtRisk, "%s belongs to no Machine and is kept: %s", member, problem)
	}
	return kept, false
}

// String names the member.
func (m Member) String() string {
	if m.Name == "" {
		return fmt.Sprintf("etcd member %x, which never started", m.ID)
	}
	return "etcd member " + m.Name
}

// mayBeOwned reports whether a stray member may belong to a Machine whose Node is not known yet. A
// member without a name may belong to any Machine that has no member. If a member answers and
// votes, its machine still runs.
func (s State) mayBeOwned(member Member) bool {
	return slices.ContainsFunc(s.Machines, func(m Machine) bool {
		recent := s.recent(member) || m.Deleting || m.Name == member.Name || member.Trouble() == ""
		return recent && s.mayBelong(member, m)
	})
}

// recent reports whether a stray member is new enough to belong to a Machine that is joining.
func (s State) recent(stray Member) bool {
	since, seen := s.StraySince[stray.ID]
	return !seen || s.Now.Sub(since) < orphanGrace
}

// finishDeletion finishes what has begun: while a Machine is being deleted nothing else changes,
// unless the deletion is stuck.
func finishDeletion(s State) (Decision, bool) {
	deleting := s.deletingMachines()
	if len(deleting) == 0 {
		return Decision{}, false
	}
	// Wait for a released Machine before releasing the next, so that etcd loses one member at a time.
	for _, machine := range deleting {
		if !machine.Hooked {
			return waitForDeletion(machine), true
		}
	}
	drained := Filter(deleting, func(m Machine) bool { return m.AtHook })
	if len(drained) == 0 {
		return waitForDeletion(deleting[0]), true
	}
	// Broken Machines first: without them, it is safer to delete the others.
	slices.SortStableFunc(drained, func(a, b Machine) int { return len(b.Unhealthy) - len(a.Unhealthy) })
	var stuck Decision
	for _, machine := range drained {
		next := planRelease(s, machine)
		if next.Acts() {
			return next, true
		}
		stuck = next
	}
	if len(drained) < len(deleting) {
		return waitForDeletion(deleting[0]), true
	}
	return stuck, false
}

func waitForDeletion(machine Machine) Decision {
	next := wait(ReasonWaitingForMachineDeletion, "waiting for the deletion of Machine %s", machine.Name)
	next.Machine = machine.Name
	return next
}

// planRelease releases a Machine after its member has left etcd, and only if another Machine
// serves. That one may be waiting for its own release: a user who deletes all Machines ends the
// control plane. The last Machine is released at once. A Machine that never joined takes no part of
// the control plane with it.
func planRelease(s State, machine Machine) Decision {
	release := Decision{
		Action: ActionRelease, Reason: reasonReleasingMachine, Machine: machine.Name,
		Message: fmt.Sprintf("releasing Machine %s", machine.Name),
	}
	if len(s.Machines) == 1 || !s.Initialized {
		return release
	}
	if kept := s.keptToServe(machine); kept.Exists() {
		return wait(kept.Reason, "Machine %s is kept: %s", machine.Name, kept.Message)
	}
	if s.mayBeJoining(machine) {
		return wait(ReasonQuorumAtRisk, "Machine %s is kept until it has joined, or until %s have passed since its infrastructure came up: "+
			"etcd would lose its quorum if the machine were deleted just as it joins", machine.Name, orphanGrace)
	}
	if member, ok := s.contested(machine); ok {
		return wait(ReasonEtcdNotHealthy, "Machine %s is kept until it is known which Machine has %s", machine.Name, member)
	}
	change, problem := s.departure(machine)
	if problem != "" {
		return wait(ReasonQuorumAtRisk, "Machine %s is kept: %s", machine.Name, problem)
	}
	if len(s.membersOf(machine)) > 1 {
		// It is unknown which one is the Machine's, so all of them leave before it is released.
		return Decision{
			Action: ActionRemoveMember, Reason: reasonRemovingOrphan, Machine: machine.Name, Etcd: change,
			Message: fmt.Sprintf("removing %s, which belongs to no Machine, or to Machine %s, which is being deleted", change.Leaving, machine.Name),
		}
	}
	if change.Leaving.ID != 0 {
		release.Etcd = change
		release.Message = fmt.Sprintf("removing %s, then releasing Machine %s", change.Leaving, machine.Name)
	}
	return release
}

// mayBeJoining reports whether a Machine may become an etcd member at any moment. If the machine
// were deleted just then, the new member would stay behind and etcd would lose its quorum. A
// Machine that has not joined orphanGrace after its infrastructure was first seen to be up has
// failed to join. The infrastructure itself may take longer than that.
func (s State) mayBeJoining(machine Machine) bool {
	if !s.EtcdManaged || machine.Joined() || !machine.provisioned() || s.Now.Sub(machine.ProvisionedSince) >= orphanGrace || len(s.membersOf(machine)) > 0 {
		return false
	}
	withIt := s.Votes()
	withIt.Voters++
	return withIt.Healthy < withIt.Quorum()
}

// contested returns a member that may belong to the Machine, or to another one that stays and is joining.
// Such a member must not leave with the Machine. The wait ends when the member has a name
// and its Machine a Node, or orphanGrace after the member was first seen.
func (s State) contested(machine Machine) (Member, bool) {
	for _, member := range s.membersOf(machine) {
		if s.recent(member) && slices.ContainsFunc(s.Machines, func(m Machine) bool {
			return m.Name != machine.Name && !m.Deleting && s.mayBelong(member, m)
		}) {
			return member, true
		}
	}
	return Member{}, false
}

// keptToServe says why the control plane might not survive without a Machine; empty if it would.
func (s State) keptToServe(machine Machine) Problem {
	others := func(m Machine) bool { return m.Name != machine.Name && m.works() }
	switch {
	case s.WorkloadProblem != "":
		return Problem{ReasonWorkloadUnknown, s.WorkloadProblem}
	case machine.Joined() && !slices.ContainsFunc(s.Machines, others):
		return Problem{ReasonMachinesNotHealthy, "no other Machine has only healthy components"}
	case s.EtcdManaged && s.EtcdUnknown() != "":
		return Problem{ReasonEtcdNotHealthy, s.EtcdUnknown()}
	}
	return Problem{}
}

// departure returns the etcd change that must precede a Machine's release, or why the Machine must
// stay. A stray member counts as the member of a Machine whose Node is unknown: otherwise the
// Machine might take a vote with it.
func (s State) departure(machine Machine) (EtcdChange, string) {
	if members := s.membersOf(machine); s.EtcdManaged && len(members) > 0 {
		return s.withdrawal(members[0])
	}
	return EtcdChange{}, ""
}

// membersOf returns the members that belong to the Machine, or may.
func (s State) membersOf(machine Machine) []Member {
	return slices.DeleteFunc(slices.Clone(s.Etcd.Members), func(member Member) bool { return !s.mayBelong(member, machine) })
}

// withdrawal says how a member leaves etcd, or why the rest would have no quorum without it.
func (s State) withdrawal(leaving Member) (EtcdChange, string) {
	rest := s.votes(func(member Member) bool { return member.ID != leaving.ID })
	if rest.Healthy < rest.Quorum() {
		return EtcdChange{}, fmt.Sprintf("without %s, only %d of %d voting members would be healthy, but quorum needs %d",
			leaving, rest.Healthy, rest.Voters, rest.Quorum())
	}
	return EtcdChange{Leaving: leaving, Via: rest.best, MoveLeader: s.Etcd.Leader == leaving.ID}, ""
}

// Votes counts the members of etcd.
type Votes struct {
	// Voters and Learners are all members. Healthy counts the voters that are known to be healthy.
	Voters, Learners, Healthy int
	// best is the healthy voter that should lead.
	best Member
}

// Quorum is how many healthy voters etcd needs.
func (v Votes) Quorum() int { return v.Voters/2 + 1 }

// Votes counts all members of etcd.
func (s State) Votes() Votes { return s.votes(func(Member) bool { return true }) }

// votes counts the members that the filter accepts. A member whose health is unknown counts as
// unhealthy.
func (s State) votes(counts func(Member) bool) Votes {
	var result Votes
	for _, member := range s.Etcd.Members {
		if !counts(member) {
			continue
		}
		if member.Learner {
			result.Learners++
			continue
		}
		result.Voters++
		if !s.memberHealthy(member) {
			continue
		}
		result.Healthy++
		if result.best.ID == 0 || s.leadsBetter(member, result.best) {
			result.best = member
		}
	}
	return result
}

// leadsBetter reports whether the first of two healthy members should lead etcd. It prefers members
// that keep leading for long: whose Machine is not being deleted, is up to date and healthy. Among
// equals it prefers the current leader, then the newest member.
func (s State) leadsBetter(a, b Member) bool {
	rank := func(member Member) int {
		machine, result := s.machineOf(member), 0
		for _, good := range []bool{!machine.Deleting, !s.Replaceable(machine), machine.Healthy(), member.ID == s.Etcd.Leader} {
			result *= 2
			if good {
				result++
			}
		}
		return result
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), s.machineOf(a).Created.Compare(s.machineOf(b).Created)) > 0
}

// machineOf returns the Machine of a member's Node; the zero Machine if there is none.
func (s State) machineOf(member Member) Machine {
	for _, machine := range s.Machines {
		if machine.Joined() && machine.Node == member.Name {
			return machine
		}
	}
	return Machine{}
}

// memberHealthy reports whether a Machine's member has answered and votes. Other components of the
// Machine do not matter to etcd.
func (s State) memberHealthy(member Member) bool {
	return member.Trouble() == "" && s.machineOf(member).Joined()
}

// QuorumProblem says why etcd is not known to have quorum; empty if it is.
func (s State) QuorumProblem() string {
	if !s.EtcdManaged {
		return ""
	}
	if problem := s.EtcdUnknown(); problem != "" {
		return problem
	}
	if all := s.Votes(); all.Healthy < all.Quorum() {
		return fmt.Sprintf("only %d of %d voting etcd members are healthy, but quorum needs %d", all.Healthy, all.Voters, all.Quorum())
	}
	return ""
}

// Unhealthy reports whether any Machine, or etcd, is not known to be healthy.
func (s State) Unhealthy() bool {
	broken := func(m Machine) bool { return !m.Healthy() }
	return slices.ContainsFunc(s.Machines, broken) || s.EtcdManaged && s.EtcdProblem(Machine{}) != ""
}
