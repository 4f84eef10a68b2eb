// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// timerSlack is how late the timers of a child, and of all that it starts, may fire. The kernel lets
// timers that are due within that time fire together. A node has hundreds of timers each second, most
// of which find nothing to do, and each one wakes a process up. With the kernel's 50 µs, ten clusters
// at once needed about 15% more CPU time.
const timerSlack = 2 * time.Millisecond

// Table holds the processes that the agent started and that are still running.
type Table struct {
	mu       sync.Mutex
	children map[int]*Process
}

// NewTable returns an empty table. Reap must run for the table to notice that processes end.
func NewTable() *Table {
	return &Table{children: map[int]*Process{}}
}

// Spec describes the process to start.
type Spec struct {
	// Path is the absolute path of the program.
	Path string
	// Args are the arguments of the program, starting with the name that it is called by.
	Args []string
	// Env is the complete environment of the program.
	Env []string
	// Dir is the working directory; "/" if empty.
	Dir string
	// Stdout and Stderr are the program's outputs; nil means /dev/null. They stay open in the
	// agent.
	Stdout, Stderr *os.File
	// KillGroup kills the rest of the process group when the process ends, as would happen in a
	// container.
	KillGroup bool
	// Alone sends signals only to the process, not to its group.
	Alone bool
}

// Start starts a process in its own session. Its error names the program that could not be started
// and the reason.
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
	// A child inherits the timer slack of the thread that forks it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(timerSlack.Nanoseconds()), 0, 0, 0); err != nil {
		return nil, fmt.Errorf("start %s: set the timer slack: %w", spec.Path, err)
	}
	// The lock spans fork and registration, so that Reap never meets a child that is not in the
	// table yet.
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

// Reap waits for children of this program, both those in the table and orphans, until ctx is done.
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

// reapEnded reaps every child that has ended by now, because one signal may stand for several of
// them.
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

// KillAll ends all other processes in the instance. Processes that do not react to SIGTERM are
// killed after grace. It returns when none is left. Only the first process of a PID namespace may
// call it: elsewhere it would end unrelated processes.
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
			how = 0 // only check whether any process is left
		case <-timer.C:
			how = unix.SIGKILL
			timer.Reset(grace)
		}
	}
	return nil
}
