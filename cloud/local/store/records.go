// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
)

// Instance is an instance with the cloud's internal data.
type Instance struct {
	cloud.Instance
	// Tenant that owns it.
	Tenant string `json:"tenant"`
	// CPUs and MemoryBytes of its type when it was ordered; they count toward the quota.
	CPUs        int   `json:"cpus"`
	MemoryBytes int64 `json:"memoryBytes"`
	// Process is its first process, stored before that process does anything.
	Process *process.Identity `json:"process,omitempty"`
	// Strikes are the faults that will strike it.
	Strikes []fault.Strike `json:"strikes,omitempty"`
	// Switch is the pending power action that a user requested; empty if there is none.
	Switch string `json:"switch,omitempty"`
	// StoppedBy is the key of the fault rule whose removal starts it again; empty if it stays
	// stopped.
	StoppedBy string `json:"stoppedBy,omitempty"`
	// KeepsDisk is true if its next start reuses its disk.
	KeepsDisk bool `json:"keepsDisk,omitempty"`
	// BootstrapFailed is true if its bootstrap data has failed. That is final, while an instance that
	// fails to boot after its bootstrap data has succeeded may boot the next time.
	BootstrapFailed bool `json:"bootstrapFailed,omitempty"`
}

// Pool is a pool with the cloud's internal data. Template includes the user data.
type Pool struct {
	cloud.PoolSpec
	// Tenant that owns it.
	Tenant string `json:"tenant"`
	// Version increases with every change of the template or the size.
	Version int64 `json:"version"`
	// Problem of the last attempt to create an instance.
	Problem *cloud.Problem `json:"problem,omitempty"`
	// Deleting is true if it is removed once its instances are gone.
	Deleting bool `json:"deleting,omitempty"`
}

// LoadBalancer is a load balancer with the cloud's internal data.
type LoadBalancer struct {
	cloud.LoadBalancerSpec
	// ID names its folder and its record. It is never reused.
	ID string `json:"id"`
	// Tenant that owns it.
	Tenant string `json:"tenant"`
	// Address on which it listens.
	Address string `json:"address"`
	// Process that forwards connections.
	Process *process.Identity `json:"process,omitempty"`
	// Ready is true if the process listens.
	Ready bool `json:"ready"`
	// Message explains why it is not ready.
	Message string `json:"message,omitempty"`
	// Deleting is true if it is being deleted.
	Deleting bool `json:"deleting,omitempty"`
}

// Network records what the daemon changed on the host, so that a later run can undo it.
type Network struct {
	// Bridge is the name of the host's interface to the cloud.
	Bridge string `json:"bridge"`
	// CIDR of the network.
	CIDR string `json:"cidr"`
	// Alias of the interface, which marks it as created by this state.
	Alias string `json:"alias"`
}
