// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"
)

// State is everything that a decision is made from. It holds values only, so that tests can invent one.
type State struct {
	// Now is the one point in time of the reconcile.
	Now time.Time

	// Deleting says that the FooControlPlane is being deleted.
	Deleting bool
	// Workers are what is left of the cluster's workers, while deleting.
	Workers []string

	// Desired is spec.replicas.
	Desired int
	// MaxSurge is how many Machines there may be more than that during a rollout: 0 or 1.
	MaxSurge int
	// Version is spec.version.
	Version string
	// EtcdManaged says that etcd runs on the control plane's own machines.
	EtcdManaged bool
	// Confirmed is the digest of the rollout that the user has confirmed; empty without one.
	Confirmed string
	// Digest of what Machines would be made from now.
	Digest string
	// Awaited is the version that the Cluster's topology has not handed down yet; empty if there is none.
	Awaited string

	// FoundationProblem says why certificates or kubeconfig are not there; empty if they are.
	FoundationProblem Problem
	// PlacementKnown says that the infrastructure cluster has an endpoint and has named its failure domains.
	PlacementKnown bool
	// TemplateProblem says why Machines cannot be made from the infrastructure template; empty if they can.
	TemplateProblem string
	// FailureDomains for control plane Machines, sorted; empty if there are none.
	FailureDomains []string

	// Initialized says that kubeadm has initialized the control plane, once and for all.
	Initialized bool
	// ClusterInitialized says that the Cluster knows of it, without which the bootstrap provider lets no Machine join.
	ClusterInitialized bool

	// Foreign are control plane Machines of the cluster that the FooControlPlane does not own and cannot adopt, each with
	// the reason.
	Foreign []string
	// Adoptable are control plane Machines that nobody controls and that the FooControlPlane can adopt.
	Adoptable []string
	// Machines of the FooControlPlane, oldest first.
	Machines []Machine
	// Etcd as it says of itself.
	Etcd Etcd
	// StraySince is since when members have been seen to belong to no Machine, by ID.
	StraySince map[uint64]time.Time
	// WorkloadProblem says why the workload cluster could not be observed; empty if it was.
	WorkloadProblem string

	// Retries limits remediation.
	Retries RetryLimits
	// Remediation is the one whose replacement has not been made yet; nil if there is none.
	Remediation *Remediation
}

// Etcd is what etcd says of itself.
type Etcd struct {
	// Members of etcd; none if it could not be asked.
	Members []Member
	// Leader is the ID of the leading member.
	Leader uint64
	// Problem says why etcd could not be asked; empty if it could.
	Problem string
}

// Member is a member of etcd.
type Member struct {
	// ID of the member.
	ID uint64
	// Name of the member, which is the name of its Node. It is empty until the member has started.
	Name string
	// Learner says that the member does not vote yet.
	Learner bool
	// Alarms that the member has raised.
	Alarms []string
	// Problem says what is wrong with the member, or why it could not be asked; empty if nothing is.
	Problem string
	// DatabaseSize in bytes; zero if it could not be asked.
	DatabaseSize int64
}

// Member returns the member of that name.
func (e Etcd) Member(name string) (Member, bool) {
	for _, member := range e.Members {
		if member.Name == name && name != "" {
			return member, true
		}
	}
	return Member{}, false
}

// Problem is why something cannot go on, as a condition says it.
type Problem struct {
	Reason  string
	Message string
}

// Exists says whether there is a problem.
func (p Problem) Exists() bool { return p.Reason != "" }

// Machine is one Machine of the control plane.
type Machine struct {
	// Name of the Machine.
	Name string
	// Node is the name of its Node, which is also the name of its etcd member; empty until there is one.
	Node string
	// Unlinked says that Cluster API has not written the name of its Node into the Machine's status yet.
	Unlinked bool
	// Created is when the Machine was created.
	Created time.Time
	// FailureDomain that the Machine is in; empty if in none.
	FailureDomain string
	// Version of the Machine.
	Version string
	// ProvisionedSince is since when its infrastructure has been seen to be up, so that kubeadm may run on it; zero if it is not.
	ProvisionedSince time.Time
	// Deleting says that the Machine is being deleted.
	Deleting bool
	// Hooked says that its termination is held until its etcd member has left.
	Hooked bool
	// AtHook says that Cluster API has drained it and waits for that, and for no other hook.
	AtHook bool
	// Unhealthy says what is wrong with its components; empty if nothing is.
	Unhealthy []string
	// BrokenSince is since when its components have been seen to be broken at every look; zero if they are not.
	BrokenSince time.Time
	// NodeNotReady says that its Node was seen not to be ready. That keeps nothing from being done; it only goes before others.
	NodeNotReady bool
	// Outdated is in what it differs from a Machine that would be made now; empty if in nothing.
	Outdated []Difference
	// MadeUnder is the digest of the rollout that was confirmed when the Machine was made; empty without one.
	MadeUnder string
	// Marked says that the user wants it to be the first to go.
	Marked bool
	// Remediate says that a MachineHealthCheck, or the user by way of it, wants it to be replaced.
	Remediate bool
	// RemediationAsked says that it is the user who wants it to be replaced.
	RemediationAsked bool
	// ReplacementFor is the remediation that it was made for; nil if it was made for none.
	ReplacementFor *Remediation
}

// Difference is one thing in which a Machine is not as a new one would be.
type Difference struct {
	// Field is its path, such as spec.version.
	Field string
	// Text says what it is and what it should be, without secrets.
	Text string
	// Asked says that the user has asked for the change, by the spec or by a point in time.
	Asked bool
}

// Joined says whether the Machine has a Node.
func (m Machine) Joined() bool { return m.Node != "" }

func (m Machine) provisioned() bool { return !m.ProvisionedSince.IsZero() }

// Healthy says whether all of the Machine's components are known to be healthy.
func (m Machine) Healthy() bool { return len(m.Unhealthy) == 0 }

// works says whether the Machine serves, so that others can go, or join by it.
func (m Machine) works() bool { return m.Joined() && m.Healthy() }

// held says whether the Machine is out of date only in what the user has not asked for.
func (m Machine) held() bool {
	return len(m.Outdated) > 0 && !slices.ContainsFunc(m.Outdated, func(d Difference) bool { return d.Asked })
}

// Replaceable says whether a rollout may replace the Machine. A confirmation counts for Machines made before it only, so
// that one cannot set off a rollout that never ends.
func (s State) Replaceable(machine Machine) bool {
	confirmed := s.Confirmed != "" && s.Confirmed == s.Digest && machine.MadeUnder != s.Confirmed
	return len(machine.Outdated) > 0 && (!machine.held() || confirmed)
}

// Filter returns the Machines that are as asked for.
func Filter(machines []Machine, is func(Machine) bool) []Machine {
	var result []Machine
	for _, machine := range machines {
		if is(machine) {
			result = append(result, machine)
		}
	}
	return result
}

func (s State) deletingMachines() []Machine {
	return Filter(s.Machines, func(m Machine) bool { return m.Deleting })
}

// Broken are the names of the Machines that are part of the control plane and not healthy.
func (s State) Broken() []string {
	var names []string
	for _, machine := range s.Machines {
		if machine.Joined() && !machine.Healthy() {
			names = append(names, machine.Name)
		}
	}
	return names
}

// Problems says of each Machine what is wrong with its components.
func Problems(machines []Machine) []string {
	var problems []string
	for _, machine := range machines {
		for _, problem := range machine.Unhealthy {
			problems = append(problems, "Machine "+machine.Name+": "+problem)
		}
	}
	return problems
}

// newcomers are the Machines that have no Node yet and are not being deleted.
func (s State) newcomers() []Machine {
	return Filter(s.Machines, func(m Machine) bool { return !m.Deleting && !m.Joined() })
}

// Strays are the members of etcd that belong to no Machine's Node. One may be that of a Machine whose Node is not known.
func (s State) Strays() []Member {
	var result []Member
	for _, member := range s.Etcd.Members {
		if !s.machineOf(member).Joined() {
			result = append(result, member)
		}
	}
	return result
}
