// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/thread"
)

// containers is the OCI runtime, together with the state of one cloud's containers.
type containers struct {
	// program is the runtime's program, and state the folder in which it keeps its state.
	program, state string
}

// runtimeLogs are the names of the runtime's logs. Each is removed when the runtime has ended.
const runtimeLogs = "runtime-*.log"

// removeLogs removes the logs of runtimes that ran when an earlier daemon was killed.
func (c containers) removeLogs() error {
	logs, err := filepath.Glob(filepath.Join(filepath.Dir(c.state), runtimeLogs))
	for _, log := range logs {
		err = errors.Join(err, os.Remove(log))
	}
	if err != nil {
		return fmt.Errorf("remove the logs of an earlier run: %w", err)
	}
	return nil
}

// run runs the runtime. Its errors include what the runtime logged.
func (c containers) run(ctx context.Context, prepare func(*exec.Cmd), arguments ...string) error {
	log, err := os.CreateTemp(filepath.Dir(c.state), runtimeLogs)
	if err != nil {
		return fmt.Errorf("log of %s: %w", c.program, err)
	}
	defer func() { _ = os.Remove(log.Name()) }()
	defer func() { _ = log.Close() }()
	command := exec.CommandContext(ctx, c.program, append([]string{"--root", c.state, "--log", log.Name(), "--log-format", "json"}, arguments...)...)
	if prepare != nil {
		prepare(command)
	}
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s %s: %w%s", filepath.Base(c.program), arguments[0], err, said(log))
	}
	return nil
}

// said returns the errors in the runtime's log.
func said(log *os.File) string {
	text, err := os.ReadFile(log.Name())
	if err != nil {
		return ""
	}
	var problems []string
	for line := range bytes.Lines(text) {
		var entry struct{ Level, Msg string }
		if json.Unmarshal(line, &entry) == nil && (entry.Level == "error" || entry.Level == "fatal") {
			problems = append(problems, entry.Msg)
		}
	}
	if len(problems) == 0 {
		return ""
	}
	return ": " + strings.Join(problems, "; ")
}

// create creates a container from a bundle and returns the PID of its first process, which waits
// until the container is started. The root is mounted where only the runtime sees it, so it
// disappears with the container.
func (c containers) create(ctx context.Context, id, bundle string, mountRoot func() error, console *os.File) (int, error) {
	pidPath := filepath.Join(bundle, pidFile)
	// The thread that has the root mounted must also start the runtime.
	err := inOwnMounts(func() error {
		if err := mountRoot(); err != nil {
			return err
		}
		return c.run(ctx, func(command *exec.Cmd) {
			command.Stdout, command.Stderr = console, console
			// A runtime that outlives the daemon would interfere with the next daemon.
			command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		}, "create", "--bundle", bundle, "--pid-file", pidPath, id)
	})
	if err != nil {
		return 0, err
	}
	return readPID(pidPath)
}

// inOwnMounts runs a function on a thread with its own mount namespace, which ends with the thread.
func inOwnMounts(do func() error) error {
	return thread.Spend(func() error {
		if err := ownMounts(); err != nil {
			return err
		}
		return do()
	})
}

// ownMounts gives this thread a mount namespace of its own.
func ownMounts() error {
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("make a mount namespace: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts from the host: %w", err)
	}
	return nil
}

// start lets the first process of a container continue.
func (c containers) start(ctx context.Context, id string) error { return c.run(ctx, nil, "start", id) }

// remove ends a container and removes its limits and the runtime's state. A missing container is
// not an error.
func (c containers) remove(ctx context.Context, id string) error {
	if _, err := os.Stat(filepath.Join(c.state, id)); err == nil {
		// The runtime would take a container that was left frozen for a running one.
		if err := thaw(id); err != nil {
			return err
		}
		// The runtime removes cgroups by path, and an instance can nest cgroups until their paths are
		// too long. A cgroup that still has processes is left to the runtime, which kills them.
		if err := remove(containerGroup(id)); err != nil && !errors.Is(err, unix.EBUSY) {
			return err
		}
		if err := c.run(ctx, nil, "delete", "--force", id); err != nil {
			return err
		}
	}
	return unlimit(id)
}

// forgetEarlierBoot forgets all containers if the host has rebooted. None of them exists any more,
// and their process IDs may belong to other processes now.
func (c containers) forgetEarlierBoot() error {
	self, err := process.Identify(os.Getpid())
	if err != nil {
		return err
	}
	note := c.state + ".boot"
	before, err := os.ReadFile(note)
	if err == nil && string(before) == self.BootID {
		return nil
	}
	if err := errors.Join(os.RemoveAll(c.state), os.WriteFile(note, []byte(self.BootID), fileMode)); err != nil {
		return fmt.Errorf("forget the containers of an earlier boot: %w", err)
	}
	return nil
}

// removeStray removes the containers whose IDs are not in known.
func (c containers) removeStray(ctx context.Context, known []string) error {
	entries, err := os.ReadDir(c.state)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("list the containers: %w", err)
	}
	for _, entry := range entries {
		if slices.Contains(known, entry.Name()) {
			continue
		}
		if err := c.remove(ctx, entry.Name()); err != nil {
			return fmt.Errorf("remove what is left of instance %s: %w", entry.Name(), err)
		}
	}
	return nil
}
