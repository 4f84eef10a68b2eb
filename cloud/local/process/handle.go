// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrGone is returned if the process no longer runs.
var ErrGone = errors.New("process is gone")

// unknownExit is the exit of a process that another program started, if the kernel does not report
// it.
const unknownExit = "exit status not known"

// Handle refers to a running process. It is never mistaken for another process, and reports when
// the process ends.
type Handle struct {
	file *os.File
	id   Identity
	done chan struct{}

	mu   sync.Mutex
	exit string
}

// Started returns a handle to a command that the caller has started and does not wait for.
func Started(cmd *exec.Cmd) (*Handle, error) {
	id, err := Identify(cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	return open(id, func(syscall.RawConn) string { return childExit(cmd) })
}

// Find returns a handle to a process that is already running, or ErrGone. After any other error,
// the process may still be running.
func Find(id Identity) (*Handle, error) {
	alive, err := id.Alive()
	if err != nil {
		return nil, fmt.Errorf("look for process %d: %w", id.PID, err)
	}
	if !alive {
		return nil, ErrGone
	}
	return open(id, func(conn syscall.RawConn) string { return otherExit(id, conn) })
}

func open(id Identity, reap func(syscall.RawConn) string) (*Handle, error) {
	// Non-blocking, so that the runtime's poller waits instead of a thread.
	fd, err := unix.PidfdOpen(id.PID, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.ESRCH) {
		return nil, ErrGone
	}
	if err != nil {
		return nil, fmt.Errorf("open process %d: %w", id.PID, err)
	}
	h := &Handle{file: os.NewFile(uintptr(fd), "pidfd"), id: id, done: make(chan struct{}), exit: unknownExit}
	// The PID may have been reused between the look-up and the opening.
	stat, err := readStat(id.PID)
	if err != nil && !isGone(err) {
		_ = h.file.Close()
		return nil, err
	}
	if err != nil || stat.startTime != id.StartTime {
		_ = h.file.Close()
		return nil, ErrGone
	}
	conn, err := h.file.SyscallConn()
	if err != nil {
		_ = h.file.Close()
		return nil, fmt.Errorf("watch process %d: %w", id.PID, err)
	}
	go h.wait(conn, reap)
	return h, nil
}

func (h *Handle) wait(conn syscall.RawConn, reap func(syscall.RawConn) string) {
	// In this order, a caller that fails to use the closed file can tell from done why.
	defer func() { _ = h.file.Close() }()
	defer close(h.done)
	// A pidfd becomes readable when the process ends. An error means that the handle was closed.
	if err := conn.Read(func(fd uintptr) bool { return readable(int(fd)) }); err != nil {
		return
	}
	exit := reap(conn)
	h.mu.Lock()
	h.exit = exit
	h.mu.Unlock()
}

func readable(fd int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	count, err := unix.Poll(fds, 0)
	return err == nil && count == 1
}

// Identity returns the identity of the process.
func (h *Handle) Identity() Identity { return h.id }

// Done returns a channel that is closed when the process has ended or the handle was closed.
func (h *Handle) Done() <-chan struct{} { return h.done }

// Exit returns how the process ended. It is valid once Done is closed.
func (h *Handle) Exit() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.exit
}

// Signal sends a signal. It is not an error if the process has already ended.
func (h *Handle) Signal(signal unix.Signal) error {
	err := h.send(signal)
	select {
	case <-h.done:
		return nil
	default:
	}
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("signal process %d: %w", h.id.PID, err)
	}
	return nil
}

func (h *Handle) send(signal unix.Signal) error {
	conn, err := h.file.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = conn.Control(func(fd uintptr) { sent = unix.PidfdSendSignal(int(fd), signal, nil, 0) })
	return errors.Join(err, sent)
}

// Stop sends SIGTERM, and SIGKILL if the process still runs after the grace period. It returns when
// the process has ended.
func (h *Handle) Stop(ctx context.Context, grace time.Duration) error {
	if err := h.Signal(unix.SIGTERM); err != nil {
		return err
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-h.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	return h.Kill(ctx)
}

// Kill sends SIGKILL, and returns when the process has ended.
func (h *Handle) Kill(ctx context.Context) error {
	if err := h.Signal(unix.SIGKILL); err != nil {
		return err
	}
	select {
	case <-h.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close releases the handle and closes Done. The process keeps running.
func (h *Handle) Close() { _ = h.file.Close() }
