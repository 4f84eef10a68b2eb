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

// ShareMounts propagates later mounts in the instance to containers that ask for it, and mounts of
// such containers to the instance.
func ShareMounts() error {
	if err := unix.Mount("", "/", "", unix.MS_SHARED|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("share mounts with containers: %w", err)
	}
	return nil
}

// RaiseFileLimit lets programs that are started from now on open as many files as the instance may.
// By default, Go gives them the limit that this program was started with.
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

// LinkRun makes old, which is /var/run, a link to the folder run, which is /run, because programs
// look for sockets in both places. It returns an error if old leads elsewhere.
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

// ownGroup is the cgroup of this program and everything it starts, next to the cgroups of pods.
const ownGroup = "init"

// DelegateCgroups lets programs create cgroups with all controllers. In cgroups version 2, a group
// that has processes cannot enable controllers for its children, so this program moves itself, and
// thereby everything that it starts, into a separate group. In version 1 there is nothing to do.
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
	// 0 stands for the writing process.
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
		// Enable them one by one, because one that cannot be enabled would block all others.
		if _, err := control.WriteString("+" + controller + "\n"); err != nil {
			errs = append(errs, fmt.Errorf("enable cgroup controller %s: %w", controller, err))
		}
	}
	return errors.Join(errs...)
}
