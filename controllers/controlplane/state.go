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
	"slices"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// state is all that a plan is made from. It holds values only, so that a plan can be made from invented ones.
type state struct {
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
	FoundationProblem problem
	// PlacementKnown says that the infrastructure cluster has an endpoint and has named its failure domains.
	PlacementKnown bool
	// TemplateProblem says why Machines can not be made from the infrastructure template; empty if they can.
	TemplateProblem string
	// FailureDomains for control plane Machines, sorted; empty if there are none.
	FailureDomains []string

	// Initialized says that kubeadm has initialized the control plane, once and for all.
	Initialized bool
	// ClusterInitialized says that the Cluster knows of it, without which the bootstrap provider lets no Machine join.
	ClusterInitialized bool

	// Foreign are control plane Machines of the cluster that the FooControlPlane does not own.
	Foreign []string
	// Machines of the FooControlPlane, oldest first.
	Machines []machineState
	// Etcd as it says of itself.
	Etcd workload.EtcdState
	// StraySince is since when members have been seen to belong to no Machine, by ID.
	StraySince map[uint64]time.Time
	// WorkloadProblem says why the workload cluster could not be observed; empty if it was.
	WorkloadProblem string

	// Retries limits remediation.
	Retries retryLimits
	// Remediation is the one whose replacement has not been made yet; nil if there is none.
	Remediation *remediation
}

// problem is why something can not go on, as a condition says it.
type problem struct {
	Reason  string
	Message string
}

func (p problem) exists() bool { return p.Reason != "" }

// machineState is one Machine.
type machineState struct {
	// Name of the Machine.
	Name string
	// Node is the name of its Node, which is also the name of its etcd member; empty until there is one.
	Node string
	// Created is when the Machine was created.
	Created time.Time
	// FailureDomain that the Machine is in; empty if in none.
	FailureDomain string
	// Version of the Machine.
	Version string
	// Provisioned says that its infrastructure has come up, so that kubeadm may have run on it.
	Provisioned bool
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
	Outdated []difference
	// MadeUnder is the digest of the rollout that was confirmed when the Machine was made; empty without one.
	MadeUnder string
	// Marked says that the user wants it to be the first to go.
	Marked bool
	// Remediate says that a MachineHealthCheck, or the user by way of it, wants it to be replaced.
	Remediate bool
	// ReplacementFor is the remediation that it was made for; nil if it was made for none.
	ReplacementFor *remediation
}

// difference is one thing in which a Machine is not as a new one would be.
type difference struct {
	// Field is its path, such as spec.version.
	Field string
	// Text says what it is and what it should be, without secrets.
	Text string
	// Asked says that the user has asked for the change, by the spec or by a point in time.
	Asked bool
}

func (m machineState) joined() bool { return m.Node != "" }

func (m machineState) healthy() bool { return len(m.Unhealthy) == 0 }

// works says whether the Machine serves, so that others can go, or join by it.
func (m machineState) works() bool { return m.joined() && m.healthy() }

// held says whether the Machine is out of date only in what the user has not asked for.
func (m machineState) held() bool {
	return len(m.Outdated) > 0 && !slices.ContainsFunc(m.Outdated, func(d difference) bool { return d.Asked })
}

// replaceable says whether a rollout may replace the Machine. A confirmation counts for Machines made before it only, so
// that one can not set off a rollout that never ends.
func (s state) replaceable(machine machineState) bool {
	confirmed := s.Confirmed != "" && s.Confirmed == s.Digest && machine.MadeUnder != s.Confirmed
	return len(machine.Outdated) > 0 && (!machine.held() || confirmed)
}

// filter returns the Machines that are as asked for.
func filter(machines []machineState, is func(machineState) bool) []machineState {
	var result []machineState
	for _, machine := range machines {
		if is(machine) {
			result = append(result, machine)
		}
	}
	return result
}

func (s state) deletingMachines() []machineState {
	return filter(s.Machines, func(m machineState) bool { return m.Deleting })
}

// broken are the names of the Machines that are part of the control plane and not healthy.
func (s state) broken() []string {
	var names []string
	for _, machine := range s.Machines {
		if machine.joined() && !machine.healthy() {
			names = append(names, machine.Name)
		}
	}
	return names
}

// newcomers are the Machines that have no Node yet and are not being deleted.
func (s state) newcomers() []machineState {
	return filter(s.Machines, func(m machineState) bool { return !m.Deleting && !m.joined() })
}

// strays are the members of etcd that belong to no Machine's Node. One may be that of a Machine whose Node is not known.
func (s state) strays() []workload.Member {
	var result []workload.Member
	for _, member := range s.Etcd.Members {
		owned := func(m machineState) bool { return m.joined() && m.Node == member.Name }
		if !slices.ContainsFunc(s.Machines, owned) {
			result = append(result, member)
		}
	}
	return result
}
