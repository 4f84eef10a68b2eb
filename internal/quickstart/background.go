// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"
)

// backgroundLog is the file in the state folder with the output of a quickstart in the background.
const backgroundLog = "foo.log"

// backgroundInterval is how often the progress of a process in the background is looked at.
const backgroundInterval = 100 * time.Millisecond

// startInBackground starts this program again, with these arguments for a quickstart of the state
// folder, and returns once that is up. The new process has a session of its own, so it outlives
// this process and its terminal. Until then, its output is copied to out.
func startInBackground(ctx context.Context, config Config, arguments []string, out io.Writer) error {
	if err := errors.Join(os.MkdirAll(config.StateDir, 0o700), os.RemoveAll(config.environmentFile())); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(config.StateDir, backgroundLog), os.O_CREATE|os.O_TRUNC|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	said, err := os.Open(log.Name())
	if err != nil {
		return err
	}
	defer func() { _ = said.Close() }()
	// Not CommandContext: the process must not end with this one.
	command := exec.CommandContext(context.WithoutCancel(ctx), self, append(arguments, "--background")...)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start in the background: %w", err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- command.Wait()
		close(ended) // it may be read twice
	}()
	err = config.waitUp(ctx, ended, func() { _, _ = io.Copy(out, said) })
	if ctx.Err() == nil {
		return err
	}
	err = cmp.Or(err, context.Cause(ctx)) // it may have come up in the same moment
	ctx, cancel := config.cleaningUp(ctx)
	defer cancel()
	_ = command.Process.Signal(unix.SIGTERM) // it may have ended
	select {
	case <-ended:
		return err
	case <-ctx.Done():
		return config.leftBehind() // unless it still ends by itself
	}
}

// waitUp returns nil once everything is up, and an error if the process ends before.
func (c Config) waitUp(ctx context.Context, ended <-chan error, show func()) error {
	ticker := time.NewTicker(backgroundInterval)
	defer ticker.Stop()
	for {
		show()
		if _, err := os.Stat(c.environmentFile()); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-ended:
			show()
			if err == nil {
				err = errors.New("exit status 0")
			}
			return &ReportedError{
				Err: fmt.Errorf("the process in the background ended: %w", err), Advice: "its output is in " + filepath.Join(c.StateDir, backgroundLog),
			}
		case <-ticker.C:
		}
	}
}

// owner returns the ID of the process that uses the state folder; 0 if there is none.
func (c Config) owner() (int, error) {
	lock, err := os.Open(filepath.Join(c.StateDir, lockFile))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = lock.Close() }()
	err = unix.Flock(int(lock.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if err == nil {
		return 0, nil
	}
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return 0, err
	}
	text, err := io.ReadAll(lock)
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("%s is in use by a process that is not named in %s", c.StateDir, lock.Name())
	}
	return pid, nil
}

// whileRunning returns a context that ends with the process that uses the state folder. Its cause is
// errStopped then.
func (c Config) whileRunning(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancelCause(ctx)
	go wait.UntilWithContext(ctx, func(context.Context) {
		if pid, err := c.owner(); err == nil && pid == 0 {
			stop(errStopped)
		}
	}, time.Second)
	return ctx, func() { stop(nil) }
}

// stopOwner ends the process that uses the state folder, and returns once it has ended.
func (c Config) stopOwner(ctx context.Context) error {
	pid, err := c.owner()
	if err != nil || pid == 0 {
		return err
	}
	if err := unix.Kill(pid, unix.SIGTERM); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("stop process %d: %w", pid, err)
	}
	err = wait.PollUntilContextCancel(ctx, backgroundInterval, true, func(context.Context) (bool, error) {
		pid, err := c.owner()
		return pid == 0, err
	})
	if wait.Interrupted(err) {
		return context.Cause(ctx)
	}
	return err
}
