// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/fault"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/process"
)

// Instance is an instance and what only the cloud knows of it.
type Instance struct {
	cloud.Instance
	// Tenant that owns it.
	Tenant string `json:"tenant"`
	// CPUs and MemoryBytes of its type when it was ordered; quota counts these.
	CPUs        int   `json:"cpus"`
	MemoryBytes int64 `json:"memoryBytes"`
	// DiskBytes of its type when it was ordered; 0 is no limit.
	DiskBytes int64 `json:"diskBytes,omitempty"`
	// Process is its first process, from before that process does anything.
	Process *process.Identity `json:"process,omitempty"`
	// Strikes are faults that are to happen to it.
	Strikes []fault.Strike `json:"strikes,omitempty"`
	// Switch is what a user has ordered to be done to it, and is not done yet; empty if nothing is.
	Switch string `json:"switch,omitempty"`
	// StoppedBy is the key of the fault rule after which it starts again; empty when it does not.
	StoppedBy string `json:"stoppedBy,omitempty"`
	// KeepsDisk says that its next start goes on with what it has written before.
	KeepsDisk bool `json:"keepsDisk,omitempty"`
}

// Pool is a pool and what only the cloud knows of it. Template holds the user data.
type Pool struct {
	cloud.PoolSpec
	// Tenant that owns it.
	Tenant string `json:"tenant"`
	// Version counts the changes of the template and the size.
	Version int64 `json:"version"`
	// Problem that the last attempt to make an instance had.
	Problem *cloud.Problem `json:"problem,omitempty"`
	// Deleting says whether it goes once its instances are gone.
	Deleting bool `json:"deleting,omitempty"`
}

// LoadBalancer is a load balancer and what only the cloud knows of it.
type LoadBalancer struct {
	cloud.LoadBalancerSpec
	// ID names its folder and its record; never used again.
	ID string `json:"id"`
	// Tenant that owns it.
	Tenant string `json:"tenant"`
	// Address on which it listens.
	Address string `json:"address"`
	// Process that forwards.
	Process *process.Identity `json:"process,omitempty"`
	// Ready says whether the process listens.
	Ready bool `json:"ready"`
	// Message says why it is not ready.
	Message string `json:"message,omitempty"`
	// Deleting says whether it is on its way out.
	Deleting bool `json:"deleting,omitempty"`
}

// Network is what the daemon changed on the host, so that a later run can undo it.
type Network struct {
	// Bridge is the name of the bridge.
	Bridge string `json:"bridge"`
	// CIDR of the network.
	CIDR string `json:"cidr"`
	// Alias on the bridge, which marks it as made by this state.
	Alias string `json:"alias"`
}
