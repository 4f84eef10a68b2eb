// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

// Evidence is what may prove that a control plane has been initialized. An empty status proves
// nothing: the status is lost when a backup is restored or Machines are adopted.
type Evidence struct {
	// Status says that the FooControlPlane's status says so.
	Status bool
	// Cluster says that the Cluster's condition says so.
	Cluster bool
	// Machines counts the Machines of the control plane.
	Machines int
	// Marked says that a Machine is marked as the one that initialized the control plane.
	Marked bool
	// Joining says that a Machine was made to join the control plane.
	Joining bool
	// Node says that a Machine has a Node and is neither new nor being deleted, and that the API
	// server does not answer. A Machine that is being deleted proves nothing: its replacement would
	// have to join it. An API server that answers knows better: kubeadm init may have failed after
	// the kubelet registered the Node.
	Node bool
}

// Initialized reports whether the control plane has been initialized. A second Machine proves it,
// since none is created before the first one has initialized the control plane.
func (e Evidence) Initialized() bool {
	return e.Status || e.Cluster || e.Machines > 1 || e.Marked || e.Joining || e.Node
}
