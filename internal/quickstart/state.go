// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"
)

// marker is the file that marks a state folder. Without it, nothing in the folder is ever touched.
const marker = "quickstart.json"

// lockFile is locked by the quickstart that uses the folder.
const lockFile = "lock"

// removal is the file that says that the removal of the state folder has begun: its cloud may be destroyed
// in part, so only the removal can go on.
const removal = "removing"

// pidFolder is the name of the folder of process IDs in the state folder.
const pidFolder = "run"

// logFolder is the name of the folder of logs in the state folder.
const logFolder = "logs"

// outcome is the result of the quickstart's work.
type outcome int

const (
	// succeeded is also the outcome if the user ended it.
	succeeded outcome = iota
	failed
)

// state is the state folder, locked by this process.
type state struct {
	config Config
	lock   *os.File
}

// openState creates the state folder, or opens a kept one. It returns an InvalidError if another
// quickstart uses the folder, or if it does not match the configuration.
func openState(config Config) (*state, error) {
	if err := checkState(config); err != nil {
		return nil, err
	}
	lock, err := claim(config.StateDir)
	if err != nil {
		return nil, err
	}
	s := &state{config: config, lock: lock}
	err = writePID(lock)
	if err == nil {
		err = s.prepare()
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// claim makes a state folder and locks it. The folder is marked first, so that it is not taken for another
// one if this process is killed.
func claim(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	mark, err := os.OpenFile(filepath.Join(dir, marker+unfinished), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := mark.Close(); err != nil {
		return nil, err
	}
	return lockState(dir)
}

// prepare makes the folder ready for a run.
func (s *state) prepare() error {
	config := s.config
	if !config.Resume {
		if err := os.RemoveAll(config.logDir()); err != nil { // of an earlier run that failed
			return err
		}
	}
	// Anyone waiting for the file must wait until this run is up.
	if err := os.RemoveAll(config.environmentFile()); err != nil {
		return err
	}
	for _, dir := range []string{config.logDir(), config.pidDir()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return writeSettings(config)
}

// unfinished ends the name of a file that is being written.
const unfinished = ".new"

// replaceFile writes a file that only its owner can read. At any time, and also if the disk is full or
// the power fails, it has the old content or all of the new.
func replaceFile(path string, content []byte) error {
	file, err := os.OpenFile(path+unfinished, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path+unfinished))
	}
	return os.Rename(path+unfinished, path)
}

func checkState(config Config) error {
	var wrong problems
	entries, err := config.content()
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
		wrong.add("--state-dir %s: the folder is not empty and is not a state folder (%v); choose another one", config.StateDir, err)
	case config.removing():
		wrong.add("%s", config.halfRemoved())
	case !config.Resume:
		wrong.add("--state-dir %s holds the state of an earlier run; continue it with --resume, or remove it with: %s quickstart delete --state-dir %s",
			config.StateDir, config.program("foo"), config.StateDir)
	case kept.identity() != config.identity():
		wrong.add("--resume: the kept state has %s; leave these flags out, or use the same", kept.identity())
	}
	return wrong.err()
}

// lockState fails if another process uses the state folder. The lock ends with this process,
// however it ends.
func lockState(dir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	// Commands that look for the owner of the state folder hold the lock for a moment.
	err = patiently(func() error { return unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) }, unix.EWOULDBLOCK)
	if err != nil {
		_ = lock.Close()
		return nil, inUse(dir, 0)
	}
	return lock, nil
}

// How often locking is tried, and after which pauses. A limit in time could be over after a single
// attempt on a busy machine.
const (
	lockTries = 20
	lockPause = 20 * time.Millisecond
)

// inUse is the error for a state folder that a process uses; pid is 0 if it is not known.
func inUse(dir string, pid int) error {
	process := ""
	if pid != 0 {
		process = fmt.Sprintf(", process %d", pid)
	}
	end := "delete everything in that one with: foo quickstart delete"
	if kept, err := readSettings(dir); err == nil && kept.Keep {
		end = "stop that one with: foo stop"
	}
	return invalid("--state-dir %s: another quickstart is running on it%s; choose another folder, or %s --state-dir=%s", dir, process, end, dir)
}

// patiently repeats an attempt that fails with one of these errors, which should pass in a moment.
func patiently(try func() error, passing ...error) error {
	var err error
	_ = wait.ExponentialBackoff(wait.Backoff{Duration: lockPause, Steps: lockTries}, func() (bool, error) {
		err = try()
		return !slices.ContainsFunc(passing, func(one error) bool { return errors.Is(err, one) }), nil
	})
	return err
}

// writePID writes the ID of this process into the lock file, for commands that talk to it.
func writePID(lock *os.File) error {
	text := fmt.Sprintln(os.Getpid())
	if _, err := lock.WriteAt([]byte(text), 0); err != nil {
		return errors.Join(err, lock.Truncate(0)) // it may have the ID of another process
	}
	return lock.Truncate(int64(len(text)))
}

func (s *state) close() { _ = s.lock.Close() }

// remove deletes everything that the cloud created, and then the state folder. No program may still
// be using it.
func (s *state) remove(ctx context.Context) error {
	if err := s.destroyCloud(ctx); err != nil {
		return err
	}
	// With the marker to the end, a removal that was interrupted or failed can be repeated. With the
	// lock to the end, nobody takes the folder for one that is not in use.
	if err := s.removeAllBut(removal, marker, lockFile); err != nil {
		return err
	}
	for _, name := range []string{removal, marker, lockFile} {
		if err := os.RemoveAll(filepath.Join(s.config.StateDir, name)); err != nil {
			return err
		}
	}
	err := unix.Rmdir(s.config.StateDir)
	if errors.Is(err, unix.EBUSY) || errors.Is(err, unix.ENOTDIR) { // the user has mounted a disk here, or made a link
		return nil
	}
	return err
}

// removeAllBut removes what is in the state folder, except for these entries.
func (s *state) removeAllBut(names ...string) error {
	entries, err := s.config.content()
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if !slices.Contains(names, entry.Name()) {
			errs = append(errs, os.RemoveAll(filepath.Join(s.config.StateDir, entry.Name())))
		}
	}
	return errors.Join(errs...)
}

// leave keeps or removes the state folder, as the user chose, after all programs have stopped.
func (s *state) leave(ctx context.Context, say *printer, outcome outcome) error {
	if outcome == failed && s.config.Resume { // that a start fails is no reason to delete what there was before
		s.config.Keep = true
	}
	switch {
	case s.config.Keep && s.config.Background:
		say.note("Kept %s. Continue with: %s", s.config.StateDir, s.config.startCommand())
		return nil
	case s.config.Keep:
		say.note("Kept %s. Continue with: %s quickstart --resume --keep --state-dir %s", s.config.StateDir, s.config.program("foo"), s.config.StateDir)
		return nil
	case outcome == failed:
		if err := s.removeAllButLogs(ctx); err != nil {
			return err
		}
		say.note("The logs are in %s. Everything else has been deleted.", s.config.logDir())
		return nil
	}
	if err := s.remove(ctx); err != nil {
		return err
	}
	say.note("Everything has been deleted.")
	return nil
}

// removeAllButLogs does the same as remove, but keeps the logs. The next quickstart treats such a
// folder as empty.
func (s *state) removeAllButLogs(ctx context.Context) error {
	s.keepConsoles()
	if err := s.destroyCloud(ctx); err != nil {
		return err
	}
	if err := s.removeAllBut(append([]string{removal}, leftAfterFailure...)...); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(s.config.StateDir, removal))
}

// The cloud keeps the output of an instance here.
const (
	instanceFolder = "instances"
	consoleFile    = "console.log"
)

// keepConsoles moves the consoles of all instances to the logs. It ignores errors, because the
// failure itself has already been reported.
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

// leftAfterFailure lists what removeAllButLogs keeps.
var leftAfterFailure = []string{marker, marker + unfinished, lockFile, logFolder, pidFolder, backgroundLog}

// content lists the state folder without lost+found, which each disk with ext4 has.
func (c Config) content() ([]os.DirEntry, error) {
	entries, err := os.ReadDir(c.StateDir)
	return slices.DeleteFunc(entries, func(entry os.DirEntry) bool { return entry.Name() == "lost+found" }), err
}

// free reports whether a folder is empty, or holds only what removeAllButLogs keeps.
func free(entries []os.DirEntry) bool {
	hasMarker := false
	for _, entry := range entries {
		if !slices.Contains(leftAfterFailure, entry.Name()) {
			return false
		}
		// Only this program writes these.
		hasMarker = hasMarker || slices.Contains([]string{marker, marker + unfinished, backgroundLog}, entry.Name())
	}
	return hasMarker || len(entries) == 0
}

// destroyCloud deletes everything that the cloud created. If that fails, the state folder must stay:
// without its records, nobody could find what the cloud left behind.
func (s *state) destroyCloud(ctx context.Context) error {
	if err := s.config.beginRemoval(); err != nil {
		return err
	}
	destroy := exec.CommandContext(ctx, s.config.program("foocloud"), "destroy", "--yes", "--state-dir="+s.config.cloudDir())
	destroy.WaitDelay = time.Second                           // what it has started may still have its output
	destroy.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal that is closed does not end it
	output, err := destroy.CombinedOutput()
	if err != nil {
		return fmt.Errorf("delete the cloud's instances and networks: %w: %s; the state folder %s is kept; retry with: %s quickstart delete --state-dir %s",
			err, strings.TrimSpace(string(output)), s.config.StateDir, s.config.program("foo"), s.config.StateDir)
	}
	return nil
}

// Delete removes a state folder that was kept or that a killed quickstart left behind, with
// everything that its cloud created.
func Delete(ctx context.Context, config Config) error {
	if removed, err := config.removed(); removed && err == nil {
		return invalid("there is nothing to delete in %s", config.StateDir)
	}
	entries, err := config.content()
	if err != nil {
		return err
	}
	if _, err := readSettings(config.StateDir); err != nil && !free(entries) {
		return &InvalidError{Problems: []string{fmt.Sprintf("--state-dir %s is not a state folder: %v", config.StateDir, err)}}
	}
	lock, err := lockState(config.StateDir)
	if err != nil {
		return err
	}
	s := &state{config: config, lock: lock}
	defer s.close()
	if err := writePID(lock); err != nil && !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) {
		return err
	}
	return s.remove(ctx)
}
