// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"os"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/thread"
)

// fileMode is the mode of files that are written.
const fileMode = 0o600

// space is the network namespace of a cloud. It exists as long as it is mounted on a file, with or
// without a daemon. The handle changes the interfaces in it.
type space struct {
	*netlink.Handle
	ns netns.NsHandle
}

// openSpace opens the namespace that is mounted on a file. It creates a namespace if there is none,
// as at first and after a reboot.
func openSpace(path string) (*space, error) {
	var system unix.Statfs_t
	err := unix.Statfs(path, &system)
	if errors.Is(err, unix.ENOENT) || (err == nil && system.Type != unix.NSFS_MAGIC) {
		err = makeSpace(path)
	}
	if err != nil {
		return nil, fmt.Errorf("make the cloud's network namespace %s: %w", path, err)
	}
	ns, err := netns.GetFromPath(path)
	if err != nil {
		return nil, fmt.Errorf("open the cloud's network namespace %s: %w", path, err)
	}
	handle, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("enter the cloud's network namespace %s: %w", path, err), ns.Close())
	}
	return &space{Handle: handle, ns: ns}, nil
}

func makeSpace(path string) error {
	if err := os.WriteFile(path, nil, fileMode); err != nil {
		return err
	}
	return thread.Spend(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		return unix.Mount("/proc/thread-self/ns/net", path, "", unix.MS_BIND, "")
	})
}

// removeSpace removes a namespace and its file. A missing one is not an error.
func removeSpace(path string) error {
	err := unix.Unmount(path, unix.MNT_DETACH)
	// EINVAL: nothing is mounted there, as after a reboot.
	if err == nil || errors.Is(err, unix.EINVAL) {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the cloud's network namespace %s: %w", path, err)
	}
	return nil
}

// do runs a function in the namespace.
func (s *space) do(do func() error) error {
	return thread.Spend(func() error {
		if err := netns.Set(s.ns); err != nil {
			return fmt.Errorf("enter the cloud's network namespace: %w", err)
		}
		return do()
	})
}

func (s *space) close() error {
	s.Close()
	return s.ns.Close()
}
