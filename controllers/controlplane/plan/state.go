// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"
)

// State is everything that a decision depends on. It holds only values, so that tests can build
// one.
type State struct {
	// Now is the one point in time of the reconcile.
	Now time.Time

	Deleting bool
	// Workers that still exist, while deleting.
	Workers []string

	// Desired is spec.replicas.
	Desired int
	// MaxSurge is how many more Machines may exist during a rollout: 0 or 1.
	MaxSurge int
	// Version is spec.version.
	Version string
	// EtcdManaged says that etcd runs on the control plane's own machines.
	EtcdManaged bool
	// Confirmed is the digest of the rollout that the user has confirmed; empty if there is none.
	Confirmed string
	// Digest of what a new Machine would be made from.
	Digest string
	// Awaited is the version that the Cluster's topology has yet to set on the control plane; empty if
	// there is none.
	Awaited string

	// PrerequisiteProblem says why certificates or kubeconfig are missing; empty if they are not.
	PrerequisiteProblem Problem
	// PlacementKnown says that the infrastructure cluster has an endpoint and has listed its failure
	// domains.
	PlacementKnown bool
	// TemplateProblem says why Machines cannot be made from the infrastructure template; empty if they
	// can.
	TemplateProblem string
	// FailureDomains for control plane Machines, sorted.
	FailureDomains []string

	// Initialized says that kubeadm has initialized the control plane. It never becomes false again.
	Initialized bool
	// ClusterInitialized says that the Cluster reports it. Until then the bootstrap provider lets no
	// Machine join.
	ClusterInitialized bool

	// Foreign are control plane Machines that the FooControlPlane neither owns nor can adopt, each
	// with the reason.
	Foreign []string
	// Adoptable are control plane Machines without a controller that the FooControlPlane can adopt.
	Adoptable []string
	// Machines of the FooControlPlane, oldest first.
	Machines []Machine
	Etcd     Etcd
	// StraySince holds since when etcd members have been seen without a Machine, by ID.
	StraySince map[uint64]time.Time
	// WorkloadProblem says why the workload cluster could not be observed; empty if it was.
	WorkloadProblem string

	// Retries limits remediation.
	Retries RetryLimits
	// Remediation is the one whose replacement has yet to be created; nil if there is none.
	Remediation *Remediation
}

// Etcd is what etcd reports about itself.
type Etcd struct {
	// Members of etcd; none if it could not be asked.
	Members []Member
	// Leader is the ID of the leading member.
	Leader uint64
	// Problem says why etcd could not be queried; empty if it could.
	Problem string
}

// Member is a member of etcd.
type Member struct {
	ID uint64
	// Name of the member, which is the name of its Node; empty until the member has started.
	Name string
	// Learner says that the member does not vote yet.
	Learner bool
	// Alarms that the member has raised.
	Alarms []string
	// Problem says what is wrong with the member, or why it could not be asked; empty if nothing is.
	Problem string
	// DatabaseSize in bytes; zero if the member could not be asked.
	DatabaseSize int64
}

// Member returns the member with this name.
func (e Etcd) Member(name string) (Member, bool) {
	for _, member := range e.Members {
		if member.Name == name && name != "" {
			return member, true
		}
	}
	return Member{}, false
}

// Problem is why something cannot continue, as the condition shows it.
type Problem struct {
	Reason  string
	Message string
}

// Exists reports whether there is a problem.
func (p Problem) Exists() bool { return p.Reason != "" }

// Machine is one Machine of the control plane.
type Machine struct {
	Name string
	// Node is the name of its Node and of its etcd member; empty until there is one.
	Node string
	// Unlinked says that Cluster API has yet to write the Node's name into the Machine's status.
	Unlinked bool
	Created  time.Time
	// FailureDomain of the Machine; empty if it has none.
	FailureDomain string
	Version       string
	// ProvisionedSince is when its infrastructure was first seen to be up, so that kubeadm may run on
	// it; zero if it is not up.
	ProvisionedSince time.Time
	Deleting         bool
	// Hooked says that our hook blocks its termination until its etcd member has left.
	Hooked bool
	// AtHook says that Cluster API has drained it and waits for our hook and no other.
	AtHook bool
	// Unhealthy says what is wrong with its components; empty if nothing is.
	Unhealthy []string
	// BrokenSince is when its components were found broken, as in every observation since; zero if
	// they are not broken.
	BrokenSince time.Time
	// NodeNotReady says that its Node is not ready. This blocks nothing; such Machines are only
	// deleted before others.
	NodeNotReady bool
	// Outdated lists how it differs from a new Machine.
	Outdated []Difference
	// MadeUnder is the digest of the rollout that was confirmed when the Machine was made; empty if
	// none was.
	MadeUnder string
	// Marked says that the user wants it deleted first.
	Marked bool
	// Remediate says that a MachineHealthCheck wants it replaced, perhaps because the user asked.
	Remediate bool
	// RemediationAsked says that the user asked for its remediation.
	RemediationAsked bool
	// ReplacementFor is the remediation that it was made for; nil if none.
	ReplacementFor *Remediation
}

// Difference is one field in which a Machine differs from a new one.
type Difference struct {
	// Field is its path, such as spec.version.
	Field string
	// Text shows the current and the required value, without secrets.
	Text string
	// Asked says that the user asked for the change, in the spec or by a point in time.
	Asked bool
}

// Joined reports whether the Machine has a Node.
func (m Machine) Joined() bool { return m.Node != "" }

func (m Machine) provisioned() bool { return !m.ProvisionedSince.IsZero() }

// Healthy reports whether all of the Machine's components are known to be healthy.
func (m Machine) Healthy() bool { return len(m.Unhealthy) == 0 }

// works reports whether the Machine serves, so that others can be deleted, or join through it.
func (m Machine) works() bool { return m.Joined() && m.Healthy() }

// held reports whether the user asked for none of the Machine's differences.
func (m Machine) held() bool {
	return len(m.Outdated) > 0 && !slices.ContainsFunc(m.Outdated, func(d Difference) bool { return d.Asked })
}

// Replaceable reports whether a rollout may replace the Machine. A confirmation covers only
// Machines made before it, so that it cannot start a rollout that never ends.
func (s State) Replaceable(machine Machine) bool {
	confirmed := s.Confirmed != "" && s.Confirmed == s.Digest && machine.MadeUnder != s.Confirmed
	return len(machine.Outdated) > 0 && (!machine.held() || confirmed)
}

// Filter returns the Machines for which the predicate holds.
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

// Broken names the Machines that have joined and are unhealthy.
func (s State) Broken() []string {
	var names []string
	for _, machine := range s.Machines {
		if machine.Joined() && !machine.Healthy() {
			names = append(names, machine.Name)
		}
	}
	return names
}

// Problems lists what is wrong with the Machines' components.
func Problems(machines []Machine) []string {
	var problems []string
	for _, machine := range machines {
		for _, problem := range machine.Unhealthy {
			problems = append(problems, "Machine "+machine.Name+": "+problem)
		}
	}
	return problems
}

// newcomers returns the Machines that have no Node yet and are not being deleted.
func (s State) newcomers() []Machine {
	return Filter(s.Machines, func(m Machine) bool { return !m.Deleting && !m.Joined() })
}

// Strays returns the etcd members that belong to no Machine's Node. One may belong to a Machine
// whose Node is unknown.
func (s State) Strays() []Member {
	var result []Member
	for _, member := range s.Etcd.Members {
		if !s.machineOf(member).Joined() {
			result = append(result, member)
		}
	}
	return result
}
