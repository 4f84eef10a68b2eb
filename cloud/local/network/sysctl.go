// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

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
)

const (
	sysctlRoot = "/proc/sys"
	// claimsFolder is emptied on reboot, when the kernel resets its settings too.
	claimsFolder = "/run/foocloud"
	claimsMode   = 0o700
	recordMode   = 0o600
)

// needed are the host settings that instances need.
var needed = map[string]setting{
	// All instances share root's limits, and each kubelet, API server and load balancer watches
	// files. A handful of clusters uses up the kernel's default of 128 instances.
	"fs/inotify/max_user_instances": atLeast(8192),
	"fs/inotify/max_user_watches":   atLeast(524288),
}

// setting is a requirement on a host setting. It is set to value unless its current value fits.
type setting struct {
	value string
	fits  func(have string) bool
}

func atLeast(least int) setting {
	return setting{value: strconv.Itoa(least), fits: func(have string) bool {
		value, err := strconv.Atoi(have)
		return err == nil && value >= least
	}}
}

// Settings are the settings of a host that its clouds share. The first cloud changes them, and the
// last one restores their previous values.
type Settings struct {
	// root is the folder where the kernel exposes the settings.
	root string
	// folder holds the record of the clouds that need the settings.
	folder string
}

// HostSettings returns the settings of this host.
func HostSettings() Settings { return Settings{root: sysctlRoot, folder: claimsFolder} }

// claims is the record in the file that all clouds of the host share.
type claims struct {
	// Before holds the previous values of the changed settings.
	Before map[string]string `json:"before"`
	// Files holds one file per cloud that needs the settings. The file exists as long as the cloud
	// does.
	Files []string `json:"files"`
}

// Claim sets the settings to the required values, for a cloud that exists as long as the given
// file. It records the previous values first, so that they can be restored even if the daemon is
// killed.
func (s Settings) Claim(file string) error {
	return s.update(func(c *claims) error {
		if !slices.Contains(c.Files, file) {
			c.Files = append(c.Files, file)
		}
		return s.note(c)
	}, func(c *claims) error {
		for name := range c.Before {
			if err := s.write(name, needed[name].value); err != nil {
				return err
			}
		}
		return nil
	})
}

// Release ends a claim. If it was the last one, it restores the previous values.
func (s Settings) Release(file string) error {
	return s.update(func(c *claims) error {
		c.Files = slices.DeleteFunc(c.Files, func(other string) bool { return other == file })
		return nil
	}, func(c *claims) error {
		if len(c.Files) > 0 {
			return nil
		}
		for name, value := range c.Before {
			if err := s.write(name, value); err != nil {
				return err
			}
		}
		return os.RemoveAll(s.record())
	})
}

func (s Settings) record() string { return filepath.Join(s.folder, "settings.json") }

// update changes the record and then the host, under a lock that excludes other clouds.
func (s Settings) update(change, apply func(*claims) error) error {
	if err := os.MkdirAll(s.folder, claimsMode); err != nil {
		return fmt.Errorf("note the host's settings: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(s.folder, "lock"), os.O_CREATE|os.O_RDWR, recordMode)
	if err != nil {
		return fmt.Errorf("note the host's settings: %w", err)
	}
	defer func() { _ = lock.Close() }()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock the host's settings: %w", err)
	}
	c, err := s.load()
	if err != nil {
		return err
	}
	if err := change(c); err != nil {
		return err
	}
	if err := s.save(c); err != nil {
		return err
	}
	return apply(c)
}

// load reads the record. It drops clouds that disappeared without a release, for example because
// their folder was removed.
func (s Settings) load() (*claims, error) {
	c := &claims{Before: map[string]string{}}
	text, err := os.ReadFile(s.record())
	if errors.Is(err, os.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(text, c)
	}
	if err != nil {
		return nil, fmt.Errorf("read the host's settings that were changed: %w", err)
	}
	c.Files = slices.DeleteFunc(c.Files, func(file string) bool {
		return errors.Is(unix.Access(file, unix.F_OK), unix.ENOENT)
	})
	return c, nil
}

// save replaces the record atomically.
func (s Settings) save(c *claims) error {
	text, err := json.Marshal(c)
	if err == nil {
		err = os.WriteFile(s.record()+".new", text, recordMode)
	}
	if err == nil {
		err = os.Rename(s.record()+".new", s.record())
	}
	if err != nil {
		return fmt.Errorf("note the host's settings: %w", err)
	}
	return nil
}

// note adds the settings that need another value to the record, with their current values.
func (s Settings) note(c *claims) error {
	for name, want := range needed {
		text, err := os.ReadFile(filepath.Join(s.root, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read setting %s: %w", name, err)
		}
		have := strings.TrimSpace(string(text))
		if _, noted := c.Before[name]; !noted && !want.fits(have) {
			c.Before[name] = have
		}
	}
	return nil
}

func (s Settings) write(name, value string) error {
	if err := os.WriteFile(filepath.Join(s.root, name), []byte(value), recordMode); err != nil {
		return fmt.Errorf("set %s to %s: %w", name, value, err)
	}
	return nil
}
