// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// creationProblem says why the current spec allows no new Machine.
func (s State) creationProblem() Problem {
	switch refused := s.versionProblem(); {
	case s.Awaited != "":
		return Problem{reasonWaitingForTopology, fmt.Sprintf("waiting for the Cluster's topology to hand down version %s", s.Awaited)}
	case refused != "":
		return Problem{ReasonVersionRefused, refused}
	case s.TemplateProblem != "":
		return Problem{reasonTemplateUnusable, s.TemplateProblem}
	}
	return Problem{}
}

// create plans one more Machine, if all others are healthy.
func (s State) create(reason string) Decision {
	if !s.ClusterInitialized {
		return wait(reasonWaitingForInitialization, "waiting for the Cluster's ControlPlaneInitialized condition")
	}
	if problem := s.creationProblem(); problem.Exists() {
		return wait(problem.Reason, "%s", problem.Message)
	}
	if blocked, is := s.unstable(Machine{}); is && !s.replaceableNow() {
		return blocked
	}
	next := Decision{
		Action: ActionCreate, Reason: reason, FailureDomain: s.placement(), Remediation: s.Remediation,
		Message: fmt.Sprintf("creating Machine %d of %d", len(s.Machines)+1, s.Target()),
	}
	if s.Remediation != nil {
		next.Message = fmt.Sprintf("creating Machine %d of %d to replace %s", len(s.Machines)+1, s.Target(), s.Remediation.Machine)
	}
	return next
}

// remove plans the deletion of a Machine, if all others are healthy and keep quorum without it.
func (s State) remove(victim Machine, reason string) Decision {
	if s.Awaited != "" {
		problem := s.creationProblem()
		return wait(problem.Reason, "%s", problem.Message)
	}
	if blocked, is := s.unstable(victim); is {
		return blocked
	}
	change, problem := s.departure(victim)
	if problem != "" {
		return wait(ReasonQuorumAtRisk, "Machine %s is kept: %s", victim.Name, problem)
	}
	return Decision{
		Action: ActionDelete, Reason: reason, Machine: victim.Name, Etcd: change,
		Message: fmt.Sprintf("deleting Machine %s; %d of %d Machines remain", victim.Name, len(s.Machines)-1, len(s.Machines)),
	}
}

// Target is the maximum number of Machines now.
func (s State) Target() int {
	if slices.ContainsFunc(s.Machines, s.Replaceable) {
		return s.Desired + s.MaxSurge
	}
	return s.Desired
}

// unstable reports whether anything except the one Machine is broken or unknown, in which case
// nothing changes.
func (s State) unstable(except Machine) (Decision, bool) {
	if deleting := s.deletingMachines(); len(deleting) > 0 {
		return waitForDeletion(deleting[0]), true
	}
	if s.WorkloadProblem != "" {
		return wait(ReasonWorkloadUnknown, "%s", s.WorkloadProblem), true
	}
	others := Filter(s.Machines, func(m Machine) bool { return m.Name != except.Name })
	if problems := Problems(others); len(problems) > 0 {
		return wait(ReasonMachinesNotHealthy, "%s", strings.Join(problems, "; ")), true
	}
	if problem := s.EtcdProblem(except); s.EtcdManaged && problem != "" {
		return wait(ReasonEtcdNotHealthy, "%s", problem), true
	}
	return Decision{}, false
}

// placement is the failure domain with the fewest Machines that stay, and among those with the
// fewest Machines overall.
func (s State) placement() string {
	if len(s.FailureDomains) == 0 {
		return ""
	}
	stays := func(m Machine) bool { return !m.Deleting && !s.Replaceable(m) }
	return slices.MinFunc(s.FailureDomains, func(a, b string) int {
		return cmp.Or(
			cmp.Compare(s.inDomain(a, stays), s.inDomain(b, stays)),
			cmp.Compare(s.inDomain(a, active), s.inDomain(b, active)),
			cmp.Compare(a, b),
		)
	})
}

func active(m Machine) bool { return !m.Deleting }

func (s State) inDomain(domain string, is func(Machine) bool) int {
	return len(Filter(s.Machines, func(m Machine) bool { return m.FailureDomain == domain && is(m) }))
}

// victim is the Machine to delete first. Machines that the user has marked come before all others.
// A rollout takes out-of-date Machines before broken ones, so that it does not delete a new Machine
// that is still starting.
func (s State) victim() Machine {
	due := Filter(s.Machines, s.Replaceable)
	marked := func(m Machine) bool { return m.Marked }
	broken := func(m Machine) bool { return !m.Healthy() }
	notReady := func(m Machine) bool { return m.NodeNotReady }
	for _, candidates := range [][]Machine{
		Filter(due, marked), Filter(s.Machines, marked),
		Filter(due, broken), Filter(due, notReady), due,
		Filter(s.Machines, broken), Filter(s.Machines, notReady),
	} {
		if len(candidates) > 0 {
			return s.mostCrowded(candidates)
		}
	}
	return s.mostCrowded(s.Machines)
}

// mostCrowded returns the oldest candidate in the failure domain with the most Machines. A failure
// domain that no longer exists comes first.
func (s State) mostCrowded(candidates []Machine) Machine {
	return slices.MinFunc(candidates, func(a, b Machine) int {
		return cmp.Or(
			cmp.Compare(s.fullness(b), s.fullness(a)),
			cmp.Compare(a.FailureDomain, b.FailureDomain),
			a.Created.Compare(b.Created),
			cmp.Compare(a.Name, b.Name),
		)
	})
}

// fullness returns the number of Machines in a Machine's failure domain. A failure domain that no
// longer exists counts as the fullest.
func (s State) fullness(machine Machine) int {
	if len(s.FailureDomains) > 0 && !slices.Contains(s.FailureDomains, machine.FailureDomain) {
		return len(s.Machines) + 1
	}
	return s.inDomain(machine.FailureDomain, active)
}
