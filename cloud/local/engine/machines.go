// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"io"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
)

// Process is a handle on a process.
type Process interface {
	// Done is closed when the process has ended.
	Done() <-chan struct{}
	// Exit describes how it ended. Call it after Done is closed.
	Exit() string
}

// Machine is the running content of an instance.
type Machine interface {
	Process
	// Reports delivers the instance's latest report on its bootstrap data whenever it changes.
	Reports() <-chan cloud.Bootstrap
}

// Commit stores the identity of a process that was created but is not doing anything yet. If it
// fails, the process never will.
type Commit func(process.Identity) error

// MachineSpec is what a machine is created from.
type MachineSpec struct {
	cloud.Instance
	// Tenant that owns it.
	Tenant string
	// CPUs and MemoryBytes of the machine.
	CPUs        int
	MemoryBytes int64
	// UserData is the bootstrap data.
	UserData []byte
	// KeepDisk makes the machine reuse the disk of an earlier machine with the same ID.
	KeepDisk bool
}

// Machines creates and controls the machines of instances.
type Machines interface {
	// Start creates a machine. It first removes what an earlier attempt left behind, except for the
	// disk if KeepDisk is set.
	Start(ctx context.Context, spec MachineSpec, commit Commit) (Machine, error)
	// Find returns a machine that was started before, or process.ErrGone. On any other error, the
	// machine may still be running.
	Find(id string, identity process.Identity) (Machine, error)
	// Kill ends a machine immediately, like a power failure, and returns when it has ended. Its
	// disk stays. The identity is nil if none was stored.
	Kill(ctx context.Context, id string, identity *process.Identity) error
	// Stop asks a machine to end, kills it if it has not ended after a while, and returns when it
	// has ended. Its disk stays.
	Stop(ctx context.Context, id string, identity *process.Identity) error
	// Freeze suspends the processes of a machine, and Thaw resumes them.
	Freeze(id string) error
	Thaw(id string) error
	// Frozen reports whether a machine is frozen.
	Frozen(id string) (bool, error)
	// Remove kills a machine and removes everything that belongs to it. The identity is nil if none
	// was stored.
	Remove(ctx context.Context, id string, identity *process.Identity) error
	// Log opens a log of an instance. The stream ends at the log's current end or, if the log is
	// followed, when ctx ends.
	Log(ctx context.Context, id string, log Log) (io.ReadCloser, error)
	// Exec runs a command in a running machine, with the rights and limits of the machine's own
	// processes. It returns the command's exit code, 128 and the signal's number if a signal ended
	// it, once the command has ended and its output is complete. If ctx ends before the command, it
	// kills the command and its process group. What a command that has ended leaves in the
	// background keeps running, as after kubectl exec.
	Exec(ctx context.Context, id string, exec Exec) (int, error)
}

// Exec is a command to run in a machine.
type Exec struct {
	// Command is the program, a path or a name to look up in the machine, and its arguments.
	Command []string
	// Terminal makes the command run in a terminal. Its output is then all on Stdout.
	Terminal bool
	// Stdin is what the command reads; nothing if nil.
	Stdin io.Reader
	// Stdout and Stderr receive the command's output; it is discarded if they are nil.
	Stdout, Stderr io.Writer
	// Resize delivers the sizes of the user's terminal; nil without a terminal.
	Resize <-chan remotecommand.TerminalSize
}

// LogSource names a log of an instance.
type LogSource string

const (
	// LogConsole is the output of the first process, and the first 4 MiB of the output of the
	// bootstrap commands. The last 10 to 20 MiB are kept.
	LogConsole LogSource = "console"
	// LogKubelet is the kubelet's log.
	LogKubelet LogSource = "kubelet"
)

// logSources lists all sources.
var logSources = []LogSource{LogConsole, LogKubelet}

// Log selects a log and how to read it.
type Log struct {
	// Source of the log.
	Source LogSource
	// Follow waits for more output instead of ending.
	Follow bool
	// Tail is the number of lines at the end of the log to start with; all lines if nil.
	Tail *int
	// Since leaves out what is older. It goes by the times that lines begin with, as lines of the
	// node agent, containerd and the kubelet do; a line without a time is as old as the previous
	// one.
	Since time.Time
}

// BalancerSpec is what a load balancer's process is created from.
type BalancerSpec struct {
	// ID of the load balancer.
	ID string
	// Address and Port on which it listens.
	Address string
	Port    int32
	// TargetPort of the backends.
	TargetPort int32
	// Backends to start with.
	Backends []cloud.Backend
}

// Balancers creates and controls the processes of load balancers.
type Balancers interface {
	// Start creates a process and returns once it listens.
	Start(ctx context.Context, spec BalancerSpec, commit Commit) (Process, error)
	// Find returns a process that was started before, or process.ErrGone. On any other error, the
	// process may still be running.
	Find(id string, identity process.Identity) (Process, error)
	// SetBackends replaces the backends of a process.
	SetBackends(id string, backends []cloud.Backend) error
	// Remove stops the process and removes everything that belongs to it.
	Remove(ctx context.Context, record BalancerSpec, identity *process.Identity) error
}
