// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"
	"time"
)

// Component is a part of the control plane that runs as a static pod.
type Component string

const (
	// APIServer is kube-apiserver.
	APIServer Component = "kube-apiserver"
	// ControllerManager is kube-controller-manager.
	ControllerManager Component = "kube-controller-manager"
	// Scheduler is kube-scheduler.
	Scheduler Component = "kube-scheduler"
	// Etcd is etcd.
	Etcd Component = "etcd"
)

// Components returns the components that run on each control plane machine.
func Components(mode EtcdMode) []Component {
	components := []Component{APIServer, ControllerManager, Scheduler}
	if mode == EtcdStacked {
		components = append(components, Etcd)
	}
	return components
}

// PodState is the state of a component's static pod.
type PodState string

const (
	// PodMissing means that the API server knows no such pod.
	PodMissing PodState = "DoesNotExist"
	// PodProvisioning means that the pod is starting.
	PodProvisioning PodState = "Provisioning"
	// PodRunning means that the pod runs and is ready.
	PodRunning PodState = "Running"
	// PodFailed means that the pod does not run as it should.
	PodFailed PodState = "Failed"
	// PodDeleting means that the pod is being deleted.
	PodDeleting PodState = "Deleting"
)

// Pod is what a static pod shows of its component.
type Pod struct {
	// State of the pod.
	State PodState
	// Message says why it is not running.
	Message string
}

// Node is a control plane node with its static pods.
type Node struct {
	// Name of the node.
	Name string
	// ProviderID is spec.providerID of the node; empty until something has set it.
	ProviderID string
	// Ready is the node's own condition.
	Ready bool
	// Unlabelled and Untainted say that the node has lost, or never had, the label and the taint that kubeadm gives it.
	Unlabelled, Untainted bool
	// Avoided says that pods are to run elsewhere if they can.
	Avoided bool
	// Created is when the node registered.
	Created time.Time
	// Pods by component.
	Pods map[Component]Pod
}

// Member is a member of etcd.
type Member struct {
	// ID of the member.
	ID uint64
	// Name of the member, which kubeadm makes the name of its node. It is empty until the member has started.
	Name string
	// Learner says that the member does not vote yet.
	Learner bool
	// Alarms that the member has raised.
	Alarms []string
	// Problem says what is wrong with the member by its own account, or why it could not be asked; empty if nothing is.
	Problem string
	// DatabaseSize is the size of the member's database in bytes; zero if it could not be asked.
	DatabaseSize int64
}

// EtcdState is what etcd says about itself.
type EtcdState struct {
	// Members sorted by name. It is nil if etcd could not be asked.
	Members []Member
	// Leader is the ID of the leading member.
	Leader uint64
	// Problem says why etcd could not be asked; empty if it could.
	Problem string
}

// Member returns the member of that name.
func (s EtcdState) Member(name string) (Member, bool) {
	for _, member := range s.Members {
		if member.Name == name && name != "" {
			return member, true
		}
	}
	return Member{}, false
}

// Observation is the control plane as its own API server shows it.
type Observation struct {
	// Nodes of the control plane, sorted by name.
	Nodes []Node
	// Etcd is empty for external etcd.
	Etcd EtcdState
}

// Node returns the node of that name.
func (o Observation) Node(name string) (Node, bool) {
	index := slices.IndexFunc(o.Nodes, func(node Node) bool { return node.Name == name })
	if index < 0 {
		return Node{}, false
	}
	return o.Nodes[index], true
}
