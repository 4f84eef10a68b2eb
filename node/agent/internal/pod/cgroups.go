// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	cgroupFolder = "/sys/fs/cgroup"
	cgroupFlags  = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
)

// separateCgroups makes the cgroup of this thread the root of all cgroups that it and its children
// see. A privileged container sees those of the whole node otherwise, and its pods would get cgroups
// outside of its limits.
func separateCgroups(folder, own string) error {
	listed, err := os.ReadFile(own)
	if err != nil {
		return err
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(folder, &fs); err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	if err := unix.Unshare(unix.CLONE_NEWCGROUP); err != nil {
		return fmt.Errorf("make a namespace: %w", err)
	}
	if err := unix.Unmount(folder, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("unmount %s: %w", folder, err)
	}
	if fs.Type == unix.CGROUP2_SUPER_MAGIC {
		if err := unix.Mount("cgroup", folder, "cgroup2", cgroupFlags, ""); err != nil {
			return fmt.Errorf("mount %s: %w", folder, err)
		}
		return nil
	}
	if err := unix.Mount("tmpfs", folder, "tmpfs", cgroupFlags, "mode=755"); err != nil {
		return fmt.Errorf("mount %s: %w", folder, err)
	}
	for _, controllers := range hierarchies(string(listed)) {
		if err := mountHierarchy(folder, controllers); err != nil {
			return err
		}
	}
	return nil
}

// hierarchies returns the controllers of each hierarchy of cgroups version 1, as a process lists
// them.
func hierarchies(listed string) []string {
	var found []string
	lines := bufio.NewScanner(strings.NewReader(listed))
	for lines.Scan() {
		if fields := strings.SplitN(lines.Text(), ":", 3); len(fields) == 3 && fields[1] != "" {
			found = append(found, fields[1])
		}
	}
	return found
}

// mountHierarchy mounts a hierarchy, with a link for each of its controllers if it has several.
func mountHierarchy(folder, controllers string) error {
	name := strings.TrimPrefix(controllers, "name=")
	path := filepath.Join(folder, name)
	if err := os.Mkdir(path, 0o750); err != nil {
		return err
	}
	if err := unix.Mount("cgroup", path, "cgroup", cgroupFlags, controllers); err != nil {
		return fmt.Errorf("mount %s: %w", path, err)
	}
	for _, one := range strings.Split(name, ",") {
		if one == name {
			continue
		}
		if err := os.Symlink(name, filepath.Join(folder, one)); err != nil {
			return err
		}
	}
	return nil
}
