// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"io"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/process"
)

// Process is something that runs.
type Process interface {
	// Done is closed when it has ended.
	Done() <-chan struct{}
	// Exit says how it ended, once Done is closed.
	Exit() string
}

// Machine is the running inside of an instance.
type Machine interface {
	Process
	// Reports gives what the instance says of its bootstrap data, the newest only, when that changes.
	Reports() <-chan cloud.Bootstrap
}

// Commit stores the identity of a process that was made but does nothing yet. It does nothing ever when that fails.
type Commit func(process.Identity) error

// MachineSpec is what a machine is made from.
type MachineSpec struct {
	cloud.Instance
	// Tenant that owns it.
	Tenant string
	// CPUs and MemoryBytes that the machine has.
	CPUs        int
	MemoryBytes int64
	// DiskBytes that the machine may write to its disk; 0 is no limit.
	DiskBytes int64
	// UserData is the bootstrap data.
	UserData []byte
	// KeepDisk says that the machine goes on with what an earlier one of its ID has written.
	KeepDisk bool
}

// Machines makes the insides of instances.
type Machines interface {
	// Start makes a machine; what an earlier attempt left of it is removed first, but for the disk where that is to be kept.
	Start(ctx context.Context, spec MachineSpec, commit Commit) (Machine, error)
	// Find returns a machine that was started before, or process.ErrGone. With any other error, the machine may run.
	Find(id string, identity process.Identity) (Machine, error)
	// Kill ends a machine at once, as a power failure does, and returns when it has ended. What it wrote stays. The identity
	// is nil when none was stored.
	Kill(ctx context.Context, id string, identity *process.Identity) error
	// Stop asks a machine to end, ends it at once if it has not after a while, and returns when it has ended. What it wrote stays.
	Stop(ctx context.Context, id string, identity *process.Identity) error
	// Freeze has the processes of a machine stand still, and Thaw has them go on.
	Freeze(id string) error
	Thaw(id string) error
	// Remove ends a machine at once and removes all of it. The identity is nil when none was stored.
	Remove(ctx context.Context, id string, identity *process.Identity) error
	// Log opens a log of an instance; it ends where the log ends now unless follow, and ctx then ends it.
	Log(ctx context.Context, id string, log Log) (io.ReadCloser, error)
}

// LogSource names a log of an instance.
type LogSource string

const (
	// LogConsole is what the first process prints, and the first 4 MiB of what the bootstrap commands do. The last 10 to 20 MiB are kept.
	LogConsole LogSource = "console"
	// LogKubelet is the kubelet's log.
	LogKubelet LogSource = "kubelet"
)

// LogSources are all sources.
var LogSources = []LogSource{LogConsole, LogKubelet}

// Log says which log to read, and how.
type Log struct {
	// Source of the log.
	Source LogSource
	// Follow waits for more instead of ending.
	Follow bool
}

// BalancerSpec is what the process of a load balancer is made from.
type BalancerSpec struct {
	// ID of the load balancer.
	ID string
	// Address and Port on which it listens.
	Address string
	Port    int32
	// Backends at the start.
	Backends []cloud.Backend
}

// Balancers makes the processes of load balancers.
type Balancers interface {
	// Start makes a process and returns once it listens.
	Start(ctx context.Context, spec BalancerSpec, commit Commit) (Process, error)
	// Find returns a process that was started before, or process.ErrGone. With any other error, the process may run.
	Find(id string, identity process.Identity) (Process, error)
	// SetBackends gives the process a new set of backends.
	SetBackends(id string, backends []cloud.Backend) error
	// Remove stops the process and removes all of it.
	Remove(ctx context.Context, record BalancerSpec, identity *process.Identity) error
}
