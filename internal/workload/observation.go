// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import "slices"

// Component is a part of the control plane that runs as a static Pod.
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

// PodState is the state of a component's static Pod.
type PodState string

const (
	// PodMissing means that the API server has no such Pod.
	PodMissing PodState = "DoesNotExist"
	// PodProvisioning means that the Pod is starting.
	PodProvisioning PodState = "Provisioning"
	// PodRunning means that the Pod is running and ready.
	PodRunning PodState = "Running"
	// PodFailed means that the Pod is not working.
	PodFailed PodState = "Failed"
	// PodDeleting means that the Pod is being deleted.
	PodDeleting PodState = "Deleting"
)

// Pod is the state of a component, according to its static Pod.
type Pod struct {
	// State of the pod.
	State PodState
	// Message explains why the Pod is not running.
	Message string
}

// Node is a control plane Node with its static Pods.
type Node struct {
	// Name of the node.
	Name string
	// ProviderID is spec.providerID of the Node; empty until it is set.
	ProviderID string
	// Ready is the status of the Node's Ready condition.
	Ready bool
	// Unlabelled and Untainted mean that the Node lacks the label or the taint that kubeadm gives
	// it.
	Unlabelled, Untainted bool
	// Avoided means that the scheduler prefers other Nodes.
	Avoided bool
	// Pods by component.
	Pods map[Component]Pod
}

// Member is a member of etcd.
type Member struct {
	// ID of the member.
	ID uint64
	// Name is the name of the member. kubeadm uses the name of its Node. It is empty until the
	// member has started.
	Name string
	// Learner means that the member does not vote yet.
	Learner bool
	// Alarms are the alarms that the member has raised.
	Alarms []string
	// Problem is what the member reports as wrong with itself, or why it could not be queried;
	// empty if there is none.
	Problem string
	// DatabaseSize is the size of the member's database in bytes; zero if it could not be queried.
	DatabaseSize int64
}

// EtcdState is what etcd reports about itself.
type EtcdState struct {
	// Members are sorted by name. They are nil if etcd could not be queried.
	Members []Member
	// Leader is the ID of the leader.
	Leader uint64
	// Problem is why etcd could not be queried; empty if it could.
	Problem string
}

// Member returns the member with that name.
func (s EtcdState) Member(name string) (Member, bool) {
	for _, member := range s.Members {
		if member.Name == name && name != "" {
			return member, true
		}
	}
	return Member{}, false
}

// Observation is the state of the control plane, according to its own API server.
type Observation struct {
	// Nodes are the Nodes of the control plane, sorted by name.
	Nodes []Node
	// Etcd is empty for external etcd.
	Etcd EtcdState
}

// Node returns the Node with that name.
func (o Observation) Node(name string) (Node, bool) {
	index := slices.IndexFunc(o.Nodes, func(node Node) bool { return node.Name == name })
	if index < 0 {
		return Node{}, false
	}
	return o.Nodes[index], true
}
