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

	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// etcdProblem says why etcd is not one voting member without alarms for each Machine; empty if it is.
func etcdProblem(s state) string {
	if s.Etcd.Problem != "" {
		return "etcd could not be asked: " + s.Etcd.Problem
	}
	var problems []string
	for _, member := range s.Etcd.Members {
		if problem := memberProblem(member); problem != "" {
			problems = append(problems, problem)
			continue
		}
		if !slices.ContainsFunc(s.Machines, func(machine machineState) bool { return machine.Node == member.Name }) {
			problems = append(problems, fmt.Sprintf("etcd member %s belongs to no Machine", member.Name))
		}
	}
	for _, machine := range s.Machines {
		if _, ok := s.Etcd.Member(machine.Node); !ok {
			problems = append(problems, fmt.Sprintf("Machine %s has no etcd member", machine.Name))
		}
	}
	return strings.Join(problems, "; ")
}

func memberProblem(member workload.Member) string {
	switch {
	case member.Name == "":
		return "an etcd member has not started yet"
	case member.Learner:
		return fmt.Sprintf("etcd member %s is a learner and does not vote yet", member.Name)
	case len(member.Alarms) > 0:
		return fmt.Sprintf("etcd member %s raises %s", member.Name, strings.Join(member.Alarms, ", "))
	}
	return ""
}

// letGoFirst finishes what has begun: while a Machine goes, nothing else changes.
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
	index := slices.IndexFunc(deleting, func(machine machineState) bool { return machine.AtHook })
	if index < 0 {
		return waitForDeletion(deleting[0]), true
	}
	return planRelease(s, deleting[index]), true
}

func waitForDeletion(machine machineState) decision {
	return wait(reasonWaitingForMachineDeletion, "waiting for the deletion of Machine %s", machine.Name)
}

// planRelease lets a Machine go after its member has left etcd. The last Machine, one that never had a member, and one
// of a cluster with external etcd go at once.
func planRelease(s state, machine machineState) decision {
	release := decision{
		Action: actionRelease, Reason: reasonReleasingMachine, Machine: machine.Name,
		Message: fmt.Sprintf("releasing Machine %s", machine.Name),
	}
	if !s.EtcdManaged || len(s.Machines) == 1 || !s.Initialized {
		return release
	}
	if s.WorkloadProblem != "" {
		return wait(reasonWorkloadUnknown, "%s", s.WorkloadProblem)
	}
	if s.Etcd.Problem != "" || len(s.Etcd.Members) == 0 {
		return wait(reasonEtcdNotHealthy, "etcd could not be asked, so Machine %s is kept: %s", machine.Name, s.Etcd.Problem)
	}
	member, ok := s.Etcd.Member(machine.Node)
	if !ok {
		return release
	}
	via, problem := quorumWithout(s, member)
	if problem != "" {
		return wait(reasonQuorumAtRisk, "Machine %s is kept: %s", machine.Name, problem)
	}
	release.Etcd = etcdChange{Remove: member, Via: via, MoveLeader: s.Etcd.Leader == member.ID}
	release.Message = fmt.Sprintf("removing etcd member %s, then releasing Machine %s", member.Name, machine.Name)
	return release
}

// quorumWithout returns a healthy member that stays if one leaves, or says why the rest would have no quorum. Members
// that can not be seen to be healthy count as lost.
func quorumWithout(s state, leaving workload.Member) (workload.Member, string) {
	var via workload.Member
	voters, healthy := 0, 0
	for _, member := range s.Etcd.Members {
		if member.ID == leaving.ID || member.Learner || member.Name == "" {
			continue
		}
		voters++
		if !memberHealthy(s, member) {
			continue
		}
		healthy++
		if via.ID == 0 || member.ID == s.Etcd.Leader {
			via = member
		}
	}
	quorum := voters/2 + 1
	if voters == 0 || healthy < quorum {
		return workload.Member{}, fmt.Sprintf(
			"without etcd member %s, %d of %d voting members would be healthy, and %d are needed", leaving.Name, healthy, voters, quorum)
	}
	return via, ""
}

func memberHealthy(s state, member workload.Member) bool {
	if len(member.Alarms) > 0 {
		return false
	}
	for _, machine := range s.Machines {
		if machine.Node == member.Name {
			return len(machine.Unhealthy) == 0
		}
	}
	return false
}
