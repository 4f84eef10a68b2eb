// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package inotify

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/durable"
)

const (
	// limitFile is where the kernel exposes the limit.
	limitFile = "/proc/sys/fs/inotify/max_user_instances"
	// needed is enough for some 700 nodes.
	needed = 8192
	// claimsFolder is emptied on reboot, when the kernel resets the limit too.
	claimsFolder = "/run/foocloud"

	claimsMode = 0o700
	recordMode = 0o600
)

// Limit is the host's limit, which its clouds share. The first cloud raises it, and the last one
// restores its previous value.
type Limit struct {
	// file is where the kernel exposes the limit.
	file string
	// folder holds the record of the clouds that need the limit.
	folder string
}

// HostLimit returns the limit of this host.
func HostLimit() Limit { return Limit{file: limitFile, folder: claimsFolder} }

// claims is the record in the file that all clouds of the host share.
type claims struct {
	// Before is the previous value if the limit was raised; zero otherwise.
	Before int `json:"before,omitempty"`
	// Files holds one file per cloud that needs the limit. The file exists as long as the cloud
	// does.
	Files []string `json:"files"`
}

// Claim raises the limit for a cloud that exists as long as the given file. It records the previous
// value first, so that it can be restored even if the daemon is killed. A limit that is high enough
// stays.
func (l Limit) Claim(file string) error {
	return l.update(func(c *claims) error {
		if !slices.Contains(c.Files, file) {
			c.Files = append(c.Files, file)
		}
		have, err := l.read()
		if err != nil || have >= needed {
			return errors.Join(err, l.save(c))
		}
		if c.Before == 0 {
			c.Before = have
		}
		if err := l.save(c); err != nil {
			return err
		}
		return l.write(needed)
	})
}

// Release ends a claim. If it was the last one, it restores the previous value, unless others have
// changed the limit since.
func (l Limit) Release(file string) error {
	return l.update(func(c *claims) error {
		c.Files = slices.DeleteFunc(c.Files, func(other string) bool { return other == file })
		if len(c.Files) > 0 {
			return l.save(c)
		}
		have, err := l.read()
		if err == nil && c.Before != 0 && have == needed {
			err = l.write(c.Before)
		}
		if err != nil {
			return err
		}
		return os.RemoveAll(l.record())
	})
}

func (l Limit) record() string { return filepath.Join(l.folder, "inotify.json") }

// update changes the record and the limit under a lock that excludes other clouds.
func (l Limit) update(change func(*claims) error) error {
	if err := os.MkdirAll(l.folder, claimsMode); err != nil {
		return fmt.Errorf("record the host's limit: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(l.folder, "lock"), os.O_CREATE|os.O_RDWR, recordMode)
	if err != nil {
		return fmt.Errorf("record the host's limit: %w", err)
	}
	defer func() { _ = lock.Close() }()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock the host's limit: %w", err)
	}
	c, err := l.load()
	if err != nil {
		return err
	}
	return change(c)
}

// load reads the record. It drops clouds that disappeared without a release, for example because
// their folder was removed.
func (l Limit) load() (*claims, error) {
	c := &claims{}
	text, err := os.ReadFile(l.record())
	if errors.Is(err, os.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(text, c)
	}
	if err != nil {
		return nil, fmt.Errorf("read the record of the host's limit: %w", err)
	}
	c.Files = slices.DeleteFunc(c.Files, func(file string) bool {
		return errors.Is(unix.Access(file, unix.F_OK), unix.ENOENT)
	})
	return c, nil
}

// save replaces the record.
func (l Limit) save(c *claims) error {
	text, err := json.Marshal(c)
	if err == nil {
		err = durable.WriteFile(l.record(), text, recordMode)
	}
	if err != nil {
		return fmt.Errorf("record the host's limit: %w", err)
	}
	return nil
}

func (l Limit) read() (int, error) {
	text, err := os.ReadFile(l.file)
	if err != nil {
		return 0, fmt.Errorf("read the host's limit: %w", err)
	}
	value, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("read the host's limit in %s: %w", l.file, err)
	}
	return value, nil
}

func (l Limit) write(value int) error {
	if err := os.WriteFile(l.file, []byte(strconv.Itoa(value)), recordMode); err != nil {
		return fmt.Errorf("set the host's limit to %d: %w", value, err)
	}
	return nil
}
