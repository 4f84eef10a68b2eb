// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// signalExitBase is added to a signal's number to form the exit code that shells report for it.
const signalExitBase = 128

// drainTime is how long to wait for the output of a process that has ended, if a process that it
// left behind keeps it open.
const drainTime = 200 * time.Millisecond

// Exit describes how a process ended.
type Exit struct {
	// Code is the exit code, or 128 plus the signal's number.
	Code int
	// Signal is the signal that ended the process, or 0 if the process exited by itself.
	Signal syscall.Signal
}

// String describes the exit for people.
func (e Exit) String() string {
	if e.Signal != 0 {
		return fmt.Sprintf("signal %d (%s)", int(e.Signal), e.Signal)
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

func exitOf(status unix.WaitStatus) Exit {
	if status.Signaled() {
		return Exit{Code: signalExitBase + int(status.Signal()), Signal: status.Signal()}
	}
	return Exit{Code: status.ExitStatus()}
}

// Process is a child of the agent, the leader of its own session and process group.
type Process struct {
	pid       int
	killGroup bool
	alone     bool
	done      chan struct{}

	mu    sync.Mutex
	ended bool
	exit  Exit
}

// Done returns a channel that is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns how the process ended. It is valid once Done is closed.
func (p *Process) Exit() Exit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

func (p *Process) end(exit Exit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.exit = true, exit
	if p.killGroup {
		_ = unix.Kill(-p.pid, unix.SIGKILL)
	}
	close(p.done)
}

// Signal sends a signal to the process and to its group, or only to the process if it was started
// with Alone. It does nothing if the process has ended.
func (p *Process) Signal(signal syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return // its ID may have been reused by now
	}
	if p.alone {
		_ = unix.Kill(p.pid, signal)
		return
	}
	_ = unix.Kill(-p.pid, signal)
}

// Stop sends the signal and waits for the process to end. It kills the process after grace or when
// ctx is done, and returns when the process has ended.
func (p *Process) Stop(ctx context.Context, signal syscall.Signal, grace time.Duration) {
	p.Signal(signal)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return
	case <-timer.C:
	case <-ctx.Done():
	}
	p.Signal(syscall.SIGKILL)
	<-p.done
}

// WaitDrained waits for the last output of a process that has ended, but not for processes that it
// left behind.
func WaitDrained(drained <-chan struct{}) {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-drained:
	case <-timer.C:
	}
}
