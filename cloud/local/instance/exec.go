// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

// signaled is added to the number of a signal to get the exit code of a command that it ended, as
// shells do.
const signaled = 128

// runtimeTimeout is how long the runtime may take to start a command. In an instance that has frozen
// itself, it would wait without end.
const runtimeTimeout = 2 * time.Minute

// commandsEnd is how long the daemon waits for commands before it ends.
const commandsEnd = 10 * time.Second

// Exec runs a command in a machine; see engine.Machines. The OCI runtime starts it in the
// container's namespaces and cgroup, with the capabilities and system calls of the first process.
// This process adopts it then, so it must have called process.Adopt.
func (d *Driver) Exec(ctx context.Context, id string, command engine.Exec) (int, error) {
	d.commands.running.Add(1)
	defer d.commands.running.Done()
	folder, err := os.MkdirTemp("", "foocloud-exec-")
	if err != nil {
		return 0, fmt.Errorf("make a folder for the command: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := d.writeProcess(id, folder, command); err != nil {
		return 0, err
	}
	session, err := newSession(folder, command)
	if err != nil {
		return 0, err
	}
	defer session.close()
	pid, err := d.startCommand(ctx, id, folder, session)
	if err != nil {
		return 0, err
	}
	status, err := d.awaitCommand(ctx, pid, session)
	if err != nil {
		return 0, err
	}
	session.drain(ctx)
	if status.Signaled() {
		return signaled + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

// startCommand starts a command and returns its PID. It waits for the runtime even if the caller goes
// meanwhile, because a runtime that is killed may leave a command that nobody knows.
func (d *Driver) startCommand(ctx context.Context, id, folder string, session *session) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	starting, cancel := context.WithTimeout(context.WithoutCancel(ctx), runtimeTimeout)
	defer cancel()
	first, err := readPID(filepath.Join(d.folder(id), pidFile))
	if err != nil {
		return 0, err
	}
	return d.commands.start(first, func() (int, error) { return d.containers.exec(starting, id, folder, session) })
}

// awaitCommand connects a command that has been started with its caller, waits for its end and reaps it.
func (d *Driver) awaitCommand(ctx context.Context, pid int, session *session) (unix.WaitStatus, error) {
	defer d.commands.reaped(pid)
	if err := session.start(); err != nil {
		return 0, errors.Join(err, killChild(pid))
	}
	return await(ctx, pid)
}

const (
	processFile   = "process.json"
	consoleSocket = "console.sock"
)

// writeProcess writes the file from which the runtime creates the command. Its arguments are not on
// the runtime's command line, which everyone on the host can read.
func (d *Driver) writeProcess(id, folder string, command engine.Exec) error {
	text, err := os.ReadFile(filepath.Join(d.folder(id), bundleFile))
	if err != nil {
		return fmt.Errorf("read the container's configuration: %w", err)
	}
	var container specs.Spec
	if err := json.Unmarshal(text, &container); err != nil {
		return fmt.Errorf("read the container's configuration: %w", err)
	}
	process := container.Process
	process.Args, process.Terminal = command.Command, command.Terminal
	process.Env = append(process.Env, "HOME=/root")
	if command.Terminal {
		process.Env = append(process.Env, "TERM=xterm-256color")
	}
	if text, err = json.Marshal(process); err != nil {
		return fmt.Errorf("encode the command: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, processFile), text, fileMode); err != nil {
		return fmt.Errorf("write the command: %w", err)
	}
	return nil
}

// exec starts a command in a container and returns its PID. The folder holds the description of the
// command.
func (c containers) exec(ctx context.Context, id, folder string, session *session) (int, error) {
	pidPath := filepath.Join(folder, pidFile)
	arguments := []string{"exec", "--detach", "--process", filepath.Join(folder, processFile), "--pid-file", pidPath}
	if session.terminal != nil {
		arguments = append(arguments, "--console-socket", filepath.Join(folder, consoleSocket))
	}
	// The kernel sends the signal when the thread that started the runtime ends, so keep the thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.run(ctx, func(command *exec.Cmd) {
		session.attach(command)
		command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	}, append(arguments, id)...)
	if err != nil {
		return 0, err
	}
	return readPID(pidPath)
}

func readPID(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("read the PID of the container's process: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("read the PID of the container's process: %w", err)
	}
	return pid, nil
}

// await waits for the end of an adopted process and reaps it. If ctx ends first, it kills the
// process.
func await(ctx context.Context, pid int) (unix.WaitStatus, error) {
	ended := make(chan error, 1)
	// The PID stays the process's own until it is reaped, so wait without reaping it.
	go func() {
		ended <- retry(func() error { return unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) })
	}()
	select {
	case err := <-ended:
		if err != nil {
			return 0, fmt.Errorf("wait for the command: %w", err)
		}
		return reap(pid)
	case <-ctx.Done():
		err := killChild(pid)
		<-ended
		return 0, errors.Join(ctx.Err(), err)
	}
}

// killChild kills an adopted process that has not been reaped, with its process group, which the
// runtime has made for it.
func killChild(pid int) error {
	if err := unix.Kill(-pid, unix.SIGKILL); err != nil {
		return fmt.Errorf("kill the command: %w", err)
	}
	_, err := reap(pid)
	return err
}

func reap(pid int) (unix.WaitStatus, error) {
	var status unix.WaitStatus
	err := retry(func() error {
		_, err := unix.Wait4(pid, &status, 0, nil)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("wait for the command: %w", err)
	}
	return status, nil
}

// retry repeats a system call that a signal interrupts.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
