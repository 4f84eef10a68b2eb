// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
	"github.com/capfoo/cluster-api-provider-foo/internal/supervisor"
)

// teardownTimeout is how long deleting everything may take, after the user asked for it or
// something failed.
const teardownTimeout = 2 * time.Minute

// errLeft means that the user interrupted a clean-up.
var errLeft = errors.New("interrupted; to delete what is left, run")

// leftBehind is errLeft with the command that deletes what is left.
func (c Config) leftBehind() error { return fmt.Errorf("%w: %s", errLeft, c.removeCommand()) }

// orContinue returns err, or the command to continue with if the user has interrupted this one.
func orContinue(ctx context.Context, err error, command string) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, errLeft) {
		return err
	}
	return fmt.Errorf("interrupted; continue with: %s", command)
}

// cleaningUp returns a context for a clean-up after ctx has ended. It ends when the user interrupts
// this program again. In the background, where only other commands send signals, it does not.
func (c Config) cleaningUp(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), teardownTimeout)
	if c.Background {
		return ctx, cancel
	}
	ctx, stop := signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM)
	return ctx, func() {
		stop()
		cancel()
	}
}

// interruptedAgain reports whether the user interrupted a clean-up, whose context is not ended
// otherwise but by its timeout.
func interruptedAgain(cleaning context.Context) bool {
	return errors.Is(cleaning.Err(), context.Canceled)
}

// ended returns the error of a run, whose clean-up has left something unless left is nil.
func (c Config) ended(cleaning context.Context, runErr, left error, say *printer) error {
	switch {
	case left == nil:
		return runErr
	case interruptedAgain(cleaning):
		return c.leftBehind()
	case runErr == nil: // it was not interrupted: the user ends it when it is up
		return &cli.Error{Err: left, Code: cli.ExitFailed}
	}
	say.note("%v", left) // the last line is about what happened first
	return errors.Join(runErr, left)
}

// stopPrograms ends all programs, or stops waiting for that when ctx ends. The programs notice when
// this process ends.
func stopPrograms(ctx context.Context, sup *supervisor.Supervisor, say *printer) {
	stopped := make(chan error, 1)
	go func() { stopped <- sup.Stop() }()
	select {
	case err := <-stopped:
		if err != nil {
			say.note("%v", err)
		}
	case <-ctx.Done():
	}
}
