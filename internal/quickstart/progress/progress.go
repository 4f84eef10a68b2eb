// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package progress determines the progress of a workload cluster: it derives milestones from a
// snapshot of the cluster's objects, and the time of each milestone from a series of snapshots. It
// is pure: no client, no clock, no output.
package progress

import (
	"fmt"
	"time"
)

// Snapshot is what is known about a workload cluster at one time.
type Snapshot struct {
	// Endpoint of the API server, host:port; empty until there is one.
	Endpoint string
	// InfrastructureProvisioned says whether the Cluster's infrastructure is provisioned.
	InfrastructureProvisioned bool
	// Certificates and Kubeconfig say whether their Secrets exist.
	Certificates, Kubeconfig bool
	// ControlPlaneReplicas and WorkerReplicas are the desired numbers of machines.
	ControlPlaneReplicas, WorkerReplicas int
	// First is the first machine of the control plane; empty until there is one.
	First Machine
	// Initialized says whether the control plane is initialized: the first API server answers.
	Initialized bool
	// Nodes of the workload cluster, oldest first.
	Nodes []Node
	// Available says whether the Cluster's condition Available is true.
	Available bool
	// Failures are problems that waiting will not solve.
	Failures []string
}

// Machine is an instance of the cloud, as Cluster API sees it.
type Machine struct {
	// Name of the instance.
	Name string
	// Address of the instance; empty until it has one.
	Address string
	// BootstrapData says whether its bootstrap data exists.
	BootstrapData bool
	// Running says whether the instance runs.
	Running bool
	// Bootstrapped says whether all commands of its bootstrap data have succeeded.
	Bootstrapped bool
}

// Node is a Node of the workload cluster.
type Node struct {
	// Name of the Node.
	Name string
	// ControlPlane says whether it has the role label of the control plane.
	ControlPlane bool
	// Ready says whether its condition Ready is true.
	Ready bool
}

// Milestone is a step on the way to an available cluster.
type Milestone struct {
	// ID identifies the milestone.
	ID string
	// Text describes the milestone once it has been reached.
	Text string
	// Waiting describes what is missing until then.
	Waiting string
	// Reached says whether it has been reached.
	Reached bool
}

// milestones returns all milestones in the order in which a cluster usually reaches them.
func milestones(s Snapshot) []Milestone {
	list := []Milestone{{
		ID: "load-balancer", Text: "load balancer " + s.Endpoint,
		Waiting: "the load balancer of the API server", Reached: s.Endpoint != "" && s.InfrastructureProvisioned,
	}, {
		ID: "certificates", Text: "certificates and kubeconfig",
		Waiting: "the certificates and the kubeconfig of the control plane", Reached: s.Certificates && s.Kubeconfig,
	}, {
		ID: "bootstrap-data", Text: "bootstrap data of the first control plane instance",
		Waiting: "the bootstrap data of the first control plane instance", Reached: s.First.BootstrapData,
	}, {
		ID: "instance", Text: fmt.Sprintf("first instance %s is running at %s", s.First.Name, s.First.Address),
		Waiting: "the first control plane instance to run", Reached: s.First.Running && s.First.Address != "",
	}, {
		ID: "bootstrap", Text: "kubeadm init has completed on the first instance",
		Waiting: "kubeadm init on the first instance", Reached: s.First.Bootstrapped,
	}, {
		ID: "initialized", Text: "control plane initialized",
		Waiting: "the API server of the first control plane instance", Reached: s.Initialized,
	}}
	list = append(list, nodes(s)...)
	return append(list, Milestone{
		ID: "available", Text: "cluster available", Waiting: "the Cluster to become Available", Reached: s.Available,
	})
}

// nodes returns one milestone for each desired Node, Ready ones first.
func nodes(s Snapshot) []Milestone {
	list := role(s.Nodes, "control plane node", s.ControlPlaneReplicas, func(n Node) bool { return n.ControlPlane })
	return append(list, role(s.Nodes, "worker node", s.WorkerReplicas, func(n Node) bool { return !n.ControlPlane })...)
}

func role(nodes []Node, kind string, wanted int, has func(Node) bool) []Milestone {
	var list []Milestone
	for _, node := range nodes {
		if has(node) && node.Ready {
			list = append(list, Milestone{ID: kind + "/" + node.Name, Text: kind + " " + node.Name + " Ready", Reached: true})
		}
	}
	ready := len(list)
	for number := ready + 1; number <= wanted; number++ {
		list = append(list, Milestone{
			ID: fmt.Sprintf("%s/#%d", kind, number), Text: kind + " Ready",
			Waiting: fmt.Sprintf("%d of %d %ss to become Ready", wanted-ready, wanted, kind),
		})
	}
	return list
}

// Reached is a milestone with the time at which it was first observed.
type Reached struct {
	Milestone
	// After is the time since the start.
	After time.Duration
}

// Tracker remembers when each milestone was reached.
type Tracker struct {
	reached []Reached
	known   map[string]bool
}

// Observe takes a snapshot and its time since the start, and returns the milestones that were not
// reached in earlier snapshots.
func (t *Tracker) Observe(s Snapshot, after time.Duration) []Reached {
	if t.known == nil {
		t.known = map[string]bool{}
	}
	var fresh []Reached
	for _, milestone := range milestones(s) {
		if milestone.Reached && !t.known[milestone.ID] {
			t.known[milestone.ID] = true
			fresh = append(fresh, Reached{Milestone: milestone, After: after})
		}
	}
	t.reached = append(t.reached, fresh...)
	return fresh
}

// Reached returns all reached milestones in the order in which they were reached.
func (t *Tracker) Reached() []Reached { return t.reached }

// Next returns the first milestone that a snapshot has not reached, and false if it has reached
// all.
func Next(s Snapshot) (Milestone, bool) {
	for _, milestone := range milestones(s) {
		if !milestone.Reached {
			return milestone, true
		}
	}
	return Milestone{}, false
}
