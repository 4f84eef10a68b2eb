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
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// orphanGrace is how long a Machine without a Node, or without its member, may be the owner of a member of etcd that seems
// to belong to none. It counts from when the member was first seen so, since a machine may take long to boot.
const orphanGrace = 10 * time.Minute

// etcdProblem says why etcd is not one voting member without alarms for each Machine, the one aside; empty if it is.
func etcdProblem(s state, except machineState) string {
	if problem := s.etcdUnknown(); problem != "" {
		return problem
	}
	var problems []string
	for _, member := range s.Etcd.Members {
		if s.mayBelong(member, except) {
			continue
		}
		if problem := memberProblem(member); problem != "" {
			problems = append(problems, problem)
			continue
		}
		if !slices.ContainsFunc(s.Machines, func(machine machineState) bool { return machine.Node == member.Name }) {
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

func (s state) etcdUnknown() string {
	if s.Etcd.Problem != "" {
		return "etcd could not be asked: " + s.Etcd.Problem
	}
	if len(s.Etcd.Members) == 0 {
		return "etcd could not be asked"
	}
	return ""
}

// mayBelong says whether a member is the Machine's, or may be because it is nobody else's.
func (s state) mayBelong(member workload.Member, machine machineState) bool {
	switch {
	case machine.Name == "":
		return false
	case machine.joined() && member.Name != "":
		return machine.Node == member.Name
	}
	isStray := slices.ContainsFunc(s.strays(), func(stray workload.Member) bool { return stray.ID == member.ID })
	_, has := s.Etcd.Member(machine.Node)
	return isStray && !has
}

func memberProblem(member workload.Member) string {
	switch {
	case member.Name == "":
		return "an etcd member has not started yet"
	case member.Learner:
		return fmt.Sprintf("etcd member %s is a learner and does not vote yet", member.Name)
	case len(member.Alarms) > 0:
		return fmt.Sprintf("etcd member %s raises %s", member.Name, strings.Join(member.Alarms, ", "))
	case member.Problem != "":
		return fmt.Sprintf("etcd member %s: %s", member.Name, member.Problem)
	}
	return ""
}

// removeOrphan takes members out of etcd whose Machine is gone without having been released.
func removeOrphan(s state) (decision, bool) {
	if !s.EtcdManaged || !s.Initialized || s.WorkloadProblem != "" || s.etcdUnknown() != "" {
		return decision{}, false
	}
	var kept decision
	for _, member := range s.strays() {
		if s.mayBeOwned(member) {
			continue
		}
		via, problem := quorumWithout(s, member)
		if problem == "" {
			return decision{
				Action: actionRemoveMember, Reason: reasonRemovingOrphan,
				Message: fmt.Sprintf("removing %s, which belongs to no Machine", describe(member)),
				Etcd:    etcdChange{Leaving: member, Via: via, MoveLeader: s.Etcd.Leader == member.ID},
			}, true
		}
		kept = wait(reasonQuorumAtRisk, "%s belongs to no Machine and is kept: %s", describe(member), problem).yielding()
	}
	return kept, kept.Action != ""
}

func describe(member workload.Member) string {
	if member.Name == "" {
		return fmt.Sprintf("etcd member %x, which never started", member.ID)
	}
	return "etcd member " + member.Name
}

// mayBeOwned says whether a stray member may be that of a Machine whose Node is not known yet, or, while the member has no
// name, that of any Machine without a member.
func (s state) mayBeOwned(member workload.Member) bool {
	return slices.ContainsFunc(s.Machines, func(m machineState) bool {
		since, seen := s.StraySince[member.ID]
		recent := !seen || s.Now.Sub(since) < orphanGrace || m.Deleting || m.Name == member.Name
		return recent && s.mayBelong(member, m)
	})
}

// letGoFirst finishes what has begun: while a Machine goes, nothing else changes, unless its going is what is stuck.
func letGoFirst(s state) (decision, bool) {
	deleting := s.deletingMachines()
	if len(deleting) == 0 {
		return decision{}, false
	}
	// One that is already released is awaited before the next one, so that etcd loses one member at a time.
	for _, machine := range deleting {
		if !machine.Hooked {
			return waitForDeletion(machine), true
		}
	}
	drained := filter(deleting, func(m machineState) bool { return m.AtHook })
	if len(drained) == 0 {
		return waitForDeletion(deleting[0]), true
	}
	// Broken ones first: each of them that goes makes it safer for the others to go.
	slices.SortStableFunc(drained, func(a, b machineState) int { return len(b.Unhealthy) - len(a.Unhealthy) })
	var stuck decision
	for _, machine := range drained {
		next := planRelease(s, machine)
		if next.acts() {
			return next, true
		}
		stuck = next
	}
	if len(drained) < len(deleting) {
		return waitForDeletion(deleting[0]), true
	}
	return stuck.yielding(), true
}

func waitForDeletion(machine machineState) decision {
	next := wait(reasonWaitingForMachineDeletion, "waiting for the deletion of Machine %s", machine.Name)
	next.Machine = machine.Name
	return next
}

// planRelease lets a Machine go after its member has left etcd, and only if another one serves. That one may be waiting to
// go too: whoever deletes all Machines ends the control plane. The last Machine goes at once, and one that never joined takes
// no part of the control plane with it.
func planRelease(s state, machine machineState) decision {
	release := decision{
		Action: actionRelease, Reason: reasonReleasingMachine, Machine: machine.Name,
		Message: fmt.Sprintf("releasing Machine %s", machine.Name),
	}
	if len(s.Machines) == 1 || !s.Initialized {
		return release
	}
	if kept := s.keptToServe(machine); kept.exists() {
		return wait(kept.Reason, "Machine %s is kept: %s", machine.Name, kept.Message)
	}
	change, problem := s.departure(machine)
	if problem != "" {
		return wait(reasonQuorumAtRisk, "Machine %s is kept: %s", machine.Name, problem)
	}
	if len(s.membersOf(machine)) > 1 {
		// Nobody knows which one is the Machine's, so all of them leave before it goes.
		return decision{
			Action: actionRemoveMember, Reason: reasonRemovingOrphan, Machine: machine.Name, Etcd: change,
			Message: fmt.Sprintf("removing %s, which belongs to no Machine, or to Machine %s that goes", describe(change.Leaving), machine.Name),
		}
	}
	if change.Leaving.ID != 0 {
		release.Etcd = change
		release.Message = fmt.Sprintf("removing %s, then releasing Machine %s", describe(change.Leaving), machine.Name)
	}
	return release
}

// keptToServe says why it is not known that the control plane goes on without a Machine; empty if it is.
func (s state) keptToServe(machine machineState) problem {
	others := func(m machineState) bool { return m.Name != machine.Name && m.works() }
	switch {
	case s.WorkloadProblem != "":
		return problem{reasonWorkloadUnknown, s.WorkloadProblem}
	case machine.joined() && !slices.ContainsFunc(s.Machines, others):
		return problem{reasonMachinesNotHealthy, "on no other Machine are all components healthy"}
	case s.EtcdManaged && s.etcdUnknown() != "":
		return problem{reasonEtcdNotHealthy, s.etcdUnknown()}
	}
	return problem{}
}

// departure is what has to happen in etcd for a Machine to go, or why it may not. A member that is nobody's is taken for
// that of a Machine whose Node is not known: else the Machine would go with a vote.
func (s state) departure(machine machineState) (etcdChange, string) {
	if !s.EtcdManaged {
		return etcdChange{}, ""
	}
	members := s.membersOf(machine)
	if len(members) == 0 {
		return etcdChange{}, ""
	}
	leaving := members[0]
	via, problem := quorumWithout(s, leaving)
	if problem != "" {
		return etcdChange{}, problem
	}
	return etcdChange{Leaving: leaving, Via: via, MoveLeader: s.Etcd.Leader == leaving.ID}, ""
}

// membersOf are the members that are the Machine's, or may be.
func (s state) membersOf(machine machineState) []workload.Member {
	return slices.DeleteFunc(slices.Clone(s.Etcd.Members), func(member workload.Member) bool { return !s.mayBelong(member, machine) })
}

// quorumWithout returns a healthy member that stays if one leaves, or says why the rest would have no quorum.
func quorumWithout(s state, leaving workload.Member) (workload.Member, string) {
	rest := s.votes(func(member workload.Member) bool { return member.ID != leaving.ID })
	if rest.healthy < rest.quorum() {
		return workload.Member{}, fmt.Sprintf("without %s, %d of %d voting members would be healthy, and %d are needed",
			describe(leaving), rest.healthy, rest.voters, rest.quorum())
	}
	return rest.best, ""
}

// votes is the arithmetic of etcd's quorum.
type votes struct {
	voters, learners, healthy int
	// best is a healthy voter, the leader if it is one.
	best workload.Member
}

func (v votes) quorum() int { return v.voters/2 + 1 }

// votes counts the members that are asked for. What can not be seen to be healthy counts as lost.
func (s state) votes(counts func(workload.Member) bool) votes {
	var result votes
	for _, member := range s.Etcd.Members {
		if !counts(member) {
			continue
		}
		if member.Learner {
			result.learners++
			continue
		}
		result.voters++
		if !s.memberHealthy(member) {
			continue
		}
		result.healthy++
		if result.best.ID == 0 || member.ID == s.Etcd.Leader {
			result.best = member
		}
	}
	return result
}

// memberHealthy says whether a Machine's member has answered and votes. The rest of its Machine does not matter to etcd.
func (s state) memberHealthy(member workload.Member) bool {
	owns := func(machine machineState) bool { return machine.Node == member.Name }
	return memberProblem(member) == "" && slices.ContainsFunc(s.Machines, owns)
}
