// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// exclusively runs a function while no other command does so for the same state folder, and waits
// for that, so that two commands cannot start the management cluster, or one use it while another
// removes it. A folder that did not exist and is still empty afterwards is removed.
func (c Config) exclusively(ctx context.Context, out io.Writer, run func() error) error {
	var created []string
	ticker := time.NewTicker(backgroundInterval)
	defer ticker.Stop()
	for said := false; ; {
		folder, absent, err := c.lockFolder()
		if len(absent) > len(created) {
			created = absent
		}
		if err != nil {
			return err
		}
		if folder != nil {
			defer func() { _ = folder.Close() }()
			err := run()
			if c.isStateDir(folder) {
				for _, path := range created {
					_ = os.Remove(path) // this fails if it has content
				}
			}
			return err
		}
		if !said {
			said = true
			_, _ = fmt.Fprintln(out, "Waiting for another command that uses", c.StateDir)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

// lockFolder returns the state folder, locked until it is closed; nil if another command has the
// lock. It creates the folder, and also returns the folders that were missing. The folder itself is
// locked because a file in it would be left, or removed while others wait for it.
func (c Config) lockFolder() (folder *os.File, absent []string, err error) {
	err = patiently(func() (err error) {
		if now := missing(c.StateDir); len(now) > len(absent) {
			absent = now
		}
		if err = os.MkdirAll(c.StateDir, 0o700); err == nil {
			folder, err = os.Open(c.StateDir)
		}
		return err
	}, os.ErrNotExist, os.ErrExist) // another command has just removed it
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrExist) {
		return nil, absent, invalid("--state-dir %s: %v; create the folder, or mount its disk", c.StateDir, err)
	}
	if err != nil {
		return nil, absent, err
	}
	err = unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil && c.isStateDir(folder) {
		return folder, absent, nil
	}
	_ = folder.Close()
	if err == nil || errors.Is(err, unix.EWOULDBLOCK) {
		return nil, absent, nil
	}
	return nil, absent, fmt.Errorf("lock %s: %w", c.StateDir, err)
}

// isStateDir reports whether an open folder still is the state folder.
func (c Config) isStateDir(folder *os.File) bool {
	locked, errLocked := folder.Stat()
	current, errCurrent := os.Stat(c.StateDir)
	return errLocked == nil && errCurrent == nil && os.SameFile(locked, current)
}
