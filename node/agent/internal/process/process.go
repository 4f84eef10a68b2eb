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

// signalExitBase is added to the number of a signal to make the exit code that shells give for it.
const signalExitBase = 128

// Exit says how a process ended.
type Exit struct {
	// Code is the exit code, or 128 plus the signal's number.
	Code int
	// Signal that ended the process, 0 where it exited by itself.
	Signal syscall.Signal
}

// String describes the end for a person.
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

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit says how the process ended. It is meaningful after Done.
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

// Signal sends a signal to the process, and to its group unless it was started as Alone; nothing happens when it has ended.
func (p *Process) Signal(signal syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return // its ID may be another's by now
	}
	if p.alone {
		_ = unix.Kill(p.pid, signal)
		return
	}
	_ = unix.Kill(-p.pid, signal)
}

// Stop sends the signal, waits for the process to end, and kills it after grace or when ctx is done. It returns when the
// process has ended.
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
