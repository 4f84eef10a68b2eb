// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Table holds the processes that the agent started and that have not ended yet.
type Table struct {
	mu       sync.Mutex
	children map[int]*Process
}

// NewTable returns an empty table. Reap must run for its processes to be seen ending.
func NewTable() *Table {
	return &Table{children: map[int]*Process{}}
}

// Spec says how to start a process.
type Spec struct {
	// Path of the program, absolute.
	Path string
	// Args of the program, the name it is called by first.
	Args []string
	// Env of the program, nothing is added.
	Env []string
	// Dir to start in, "/" where it is empty.
	Dir string
	// Stdout and Stderr of the program; nil is /dev/null. They stay open in the agent.
	Stdout, Stderr *os.File
	// KillGroup ends what the process left behind in its group when it ends, as it would in a container.
	KillGroup bool
	// Alone sends signals to the process and not to its group.
	Alone bool
}

// Start starts a process in a session of its own. An error says which program could not be started and why.
func (t *Table) Start(spec Spec) (*Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	defer func() { _ = null.Close() }()
	dir := spec.Dir
	if dir == "" {
		dir = "/"
	}
	attr := &syscall.ProcAttr{
		Dir:   dir,
		Env:   spec.Env,
		Files: []uintptr{null.Fd(), descriptor(spec.Stdout, null), descriptor(spec.Stderr, null)},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	// The lock spans fork and registration, so that Reap can not meet a child that is not in the table yet.
	t.mu.Lock()
	defer t.mu.Unlock()
	pid, err := syscall.ForkExec(spec.Path, spec.Args, attr)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	child := &Process{pid: pid, killGroup: spec.KillGroup, alone: spec.Alone, done: make(chan struct{})}
	t.children[pid] = child
	return child, nil
}

func descriptor(file, fallback *os.File) uintptr {
	if file == nil {
		return fallback.Fd()
	}
	return file.Fd()
}

// Reap waits for children of this program, those of the table and orphans alike, until ctx is done.
func (t *Table) Reap(ctx context.Context) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	for {
		t.reapEnded()
		select {
		case <-ctx.Done():
			return
		case <-ended:
		}
	}
}

// reapEnded collects every child that has ended by now; one signal may stand for many of them.
func (t *Table) reapEnded() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		child, ok := t.children[pid]
		if !ok {
			continue
		}
		delete(t.children, pid)
		child.end(exitOf(status))
	}
}

// KillAll ends every process that is left in the instance: all but this one. It returns when none is left, and kills after grace
// what did not heed SIGTERM. It is for the first process of a PID namespace only: anywhere else it would end foreign processes.
func (t *Table) KillAll(grace time.Duration) error {
	if os.Getpid() != 1 {
		return errors.New("only the first process of an instance may end all others")
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	how := unix.SIGTERM
	for unix.Kill(-1, how) == nil {
		select {
		case <-ended:
			t.reapEnded()
			how = 0 // only look whether any is left
		case <-timer.C:
			how = unix.SIGKILL
			timer.Reset(grace)
		}
	}
	return nil
}
