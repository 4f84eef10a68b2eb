// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// marker is the file that makes a folder a state folder: without it, nothing in the folder is ever touched.
const marker = "quickstart.json"

// lockFile is locked by the quickstart that uses the folder.
const lockFile = "lock"

// pidFolder is the name of the folder of process IDs in the state folder.
const pidFolder = "run"

// logFolder is the name of the folder of logs in the state folder.
const logFolder = "logs"

// settings are what cannot change between a kept state and its resumption.
type settings struct {
	Network     string `json:"network"`
	Bridge      string `json:"bridge"`
	ClusterName string `json:"clusterName"`
	Namespace   string `json:"namespace"`
}

func (c Config) settings() settings {
	return settings{Network: c.Network, Bridge: c.Bridge, ClusterName: c.ClusterName, Namespace: c.Namespace}
}

// outcome is how the quickstart's work ended.
type outcome int

const (
	// succeeded is also when the user ended it.
	succeeded outcome = iota
	failed
)

// state is the state folder, locked by this process.
type state struct {
	config Config
	lock   *os.File
}

// openState makes the state folder, or opens the one that was kept. It returns an InvalidError if the folder is used
// by another quickstart, or does not fit the configuration.
func openState(config Config) (*state, error) {
	if err := checkState(config); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(config.StateDir, 0o700); err != nil {
		return nil, err
	}
	lock, err := lockState(config.StateDir)
	if err != nil {
		return nil, err
	}
	if !config.Resume {
		if err := os.RemoveAll(config.logDir()); err != nil { // of an earlier run that failed
			return nil, err
		}
	}
	// Whoever waits for the file is to wait for this run to be up.
	if err := os.RemoveAll(config.environmentFile()); err != nil {
		return nil, err
	}
	for _, dir := range []string{config.logDir(), config.pidDir()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	content, err := json.MarshalIndent(config.settings(), "", "  ")
	if err != nil {
		return nil, err
	}
	return &state{config: config, lock: lock}, os.WriteFile(filepath.Join(config.StateDir, marker), append(content, '\n'), 0o600)
}

func checkState(config Config) error {
	var wrong problems
	entries, err := os.ReadDir(config.StateDir)
	switch {
	case errors.Is(err, os.ErrNotExist) || (err == nil && free(entries)):
		if config.Resume {
			wrong.add("--resume: there is no kept state in %s", config.StateDir)
		}
		return wrong.err()
	case err != nil:
		wrong.add("--state-dir %s: %v", config.StateDir, err)
		return wrong.err()
	}
	kept, err := readSettings(config.StateDir)
	switch {
	case err != nil:
		wrong.add("--state-dir %s: the folder is not empty and not a state folder (%v); choose another one", config.StateDir, err)
	case !config.Resume:
		wrong.add("--state-dir %s holds the state of an earlier run; start it again with --resume, or remove it with: %s delete --state-dir %s",
			config.StateDir, config.program("quickstart"), config.StateDir)
	case kept != config.settings():
		wrong.add("--resume: the kept state has --network %s --bridge %s --cluster-name %s --namespace %s; give the same",
			kept.Network, kept.Bridge, kept.ClusterName, kept.Namespace)
	}
	return wrong.err()
}

func readSettings(dir string) (settings, error) {
	var kept settings
	content, err := os.ReadFile(filepath.Join(dir, marker))
	if err != nil {
		return kept, err
	}
	return kept, json.Unmarshal(content, &kept)
}

// lockState fails if another process has the state folder. The lock ends with this process, however it ends.
func lockState(dir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = lock.Close()
		return nil, &InvalidError{Problems: []string{fmt.Sprintf("--state-dir %s: another quickstart is running on it (%v)", dir, err)}}
	}
	return lock, nil
}

func (s *state) close() { _ = s.lock.Close() }

// remove deletes all that the cloud has made, and then the state folder. No program may run on it any more.
func (s *state) remove(ctx context.Context) error {
	if err := destroyCloud(ctx, s.config); err != nil {
		// Without its records nobody could find what the cloud has left.
		return fmt.Errorf("%w; the state folder %s stays, to try again: %s delete --state-dir %s",
			err, s.config.StateDir, s.config.program("quickstart"), s.config.StateDir)
	}
	s.close()
	return os.RemoveAll(s.config.StateDir)
}

// leave does with the state folder what the user wants done at the end, when all programs have been stopped.
func (s *state) leave(ctx context.Context, say *narrator, outcome outcome) error {
	quickstart := s.config.program("quickstart")
	switch {
	case s.config.Keep:
		say.note("Kept %s. Go on with: %s --resume --state-dir %s", s.config.StateDir, quickstart, s.config.StateDir)
		return nil
	case outcome == failed:
		say.note("The logs are in %s. All else is deleted.", s.config.logDir())
		return s.removeAllButLogs(ctx)
	}
	if err := s.remove(ctx); err != nil {
		return err
	}
	say.note("Everything is deleted.")
	return nil
}

// removeAllButLogs does what remove does, but leaves the logs to look into. The next quickstart takes such a folder for
// an empty one.
func (s *state) removeAllButLogs(ctx context.Context) error {
	s.keepConsoles()
	if err := destroyCloud(ctx, s.config); err != nil {
		return err
	}
	entries, err := os.ReadDir(s.config.StateDir)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if !slices.Contains(leftAfterFailure, entry.Name()) {
			errs = append(errs, os.RemoveAll(filepath.Join(s.config.StateDir, entry.Name())))
		}
	}
	return errors.Join(errs...)
}

// Where the cloud keeps what an instance has said.
const (
	instanceFolder = "instances"
	consoleFile    = "console.log"
)

// keepConsoles moves the consoles of all instances to the logs, as far as that can be done: what failed has been told.
func (s *state) keepConsoles() {
	consoles, err := filepath.Glob(filepath.Join(s.config.cloudDir(), instanceFolder, "*", consoleFile))
	if err != nil {
		return
	}
	for _, console := range consoles {
		id := filepath.Base(filepath.Dir(console))
		_ = os.Rename(console, filepath.Join(s.config.logDir(), "instance-"+id+".log"))
	}
}

// leftAfterFailure is what removeAllButLogs leaves.
var leftAfterFailure = []string{marker, lockFile, logFolder, pidFolder}

// free reports whether a folder is empty, or holds nothing but what removeAllButLogs leaves.
func free(entries []os.DirEntry) bool {
	hasMarker := false
	for _, entry := range entries {
		if !slices.Contains(leftAfterFailure, entry.Name()) {
			return false
		}
		hasMarker = hasMarker || entry.Name() == marker
	}
	return hasMarker || len(entries) == 0
}

func destroyCloud(ctx context.Context, config Config) error {
	output, err := exec.CommandContext(ctx, config.program("foocloud"), "destroy", "--state-dir="+config.cloudDir()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("delete the cloud's instances and networks: %w: %s", err, strings.TrimSpace(string(output)))
	}
	return nil
}

// Delete removes a state folder that was kept, or that a killed quickstart has left, with all that its cloud has made.
func Delete(ctx context.Context, config Config) error {
	if _, err := readSettings(config.StateDir); err != nil {
		return &InvalidError{Problems: []string{fmt.Sprintf("--state-dir %s is not a state folder: %v", config.StateDir, err)}}
	}
	lock, err := lockState(config.StateDir)
	if err != nil {
		return err
	}
	s := &state{config: config, lock: lock}
	defer s.close()
	return s.remove(ctx)
}
