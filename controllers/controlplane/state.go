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
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// state is all that a plan is made from. It holds values only, so that a plan can be made from invented ones.
type state struct {
	// Deleting says that the FooControlPlane is being deleted.
	Deleting bool
	// Workers are what is left of the cluster's workers, while deleting.
	Workers []string

	// Desired is spec.replicas.
	Desired int
	// Version is spec.version.
	Version string
	// EtcdManaged says that etcd runs on the control plane's own machines.
	EtcdManaged bool

	// FoundationProblem says why certificates or kubeconfig are not there; empty if they are.
	FoundationProblem problem
	// PlacementKnown says that the infrastructure cluster has an endpoint and has named its failure domains.
	PlacementKnown bool
	// TemplateProblem says why Machines can not be made from the infrastructure template; empty if they can.
	TemplateProblem string

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
	// WorkloadProblem says why the workload cluster could not be observed; empty if it was.
	WorkloadProblem string

	// FailureDomain is where the next Machine belongs; empty if there are none.
	FailureDomain string
	// Surplus is the Machine that goes first if there are too many.
	Surplus string
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
	// Deleting says that the Machine is being deleted.
	Deleting bool
	// Hooked says that its termination is held until its etcd member has left.
	Hooked bool
	// AtHook says that Cluster API has drained it and waits for that, and for no other hook.
	AtHook bool
	// Version of the Machine.
	Version string
	// Unhealthy says what is wrong with it; empty if nothing is.
	Unhealthy []string
}

func (s state) deletingMachines() []machineState {
	var deleting []machineState
	for _, machine := range s.Machines {
		if machine.Deleting {
			deleting = append(deleting, machine)
		}
	}
	return deleting
}

func (s state) otherVersions() []string {
	var others []string
	for _, machine := range s.Machines {
		if machine.Version != s.Version {
			others = append(others, machine.Name+" ("+machine.Version+")")
		}
	}
	return others
}
