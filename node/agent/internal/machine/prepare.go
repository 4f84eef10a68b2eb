// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ShareMounts lets containers see mounts that are made in the instance later, if they ask for it, and the instance those of containers.
func ShareMounts() error {
	if err := unix.Mount("", "/", "", unix.MS_SHARED|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("share mounts with containers: %w", err)
	}
	return nil
}

// RaiseFileLimit lets programs that are started from now on open as many files as the instance may. By itself Go gives them the limit that
// this program was started with.
func RaiseFileLimit() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("limit of open files: %w", err)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("limit of open files: %w", err)
	}
	return nil
}

// LinkRun makes the path old, which is /var/run, lead to the folder run, which is /run, where programs look for sockets by both names.
func LinkRun(old, run string) error {
	want, err := os.Stat(run)
	if err != nil {
		return fmt.Errorf("link %s: %w", old, err)
	}
	is, err := os.Stat(old)
	if errors.Is(err, os.ErrNotExist) {
		err = os.Symlink(run, old)
	} else if err == nil && !os.SameFile(is, want) {
		err = fmt.Errorf("it is not %s: containerd's socket is missing there", run)
	}
	if err != nil {
		return fmt.Errorf("link %s: %w", old, err)
	}
	return nil
}

// Cgroups is where the cgroups of an instance are.
const Cgroups = "/sys/fs/cgroup"

// ownGroup is the cgroup of this program and of what it starts, beside those of pods.
const ownGroup = "init"

// DelegateCgroups lets programs make cgroups with all controllers. In version 2 of cgroups a group with processes has no groups with
// controllers below it, so this program and all that it starts move into one of their own. In version 1 nothing is to be done.
func DelegateCgroups(folder string) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(folder, &fs); err != nil {
		return fmt.Errorf("cgroups: %w", err)
	}
	if fs.Type != unix.CGROUP2_SUPER_MAGIC {
		return nil
	}
	return delegate(folder)
}

func delegate(folder string) error {
	own := filepath.Join(folder, ownGroup)
	if err := os.Mkdir(own, 0o750); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("own cgroup: %w", err)
	}
	// 0 is the process that writes.
	if err := os.WriteFile(filepath.Join(own, "cgroup.procs"), []byte("0"), 0o600); err != nil {
		return fmt.Errorf("own cgroup: %w", err)
	}
	controllers, err := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("cgroup controllers: %w", err)
	}
	control, err := os.OpenFile(filepath.Join(folder, "cgroup.subtree_control"), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("cgroup controllers: %w", err)
	}
	defer func() { _ = control.Close() }()
	var errs []error
	for _, controller := range strings.Fields(string(controllers)) {
		// One by one, since one that cannot be enabled would keep all others back.
		if _, err := control.WriteString("+" + controller + "\n"); err != nil {
			errs = append(errs, fmt.Errorf("enable cgroup controller %s: %w", controller, err))
		}
	}
	return errors.Join(errs...)
}
