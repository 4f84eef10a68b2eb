// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/internal/childprocess"
)

// child is a process and its current run.
type child struct {
	process Process
	log     string
	pidFile string

	mu  sync.Mutex
	cmd *exec.Cmd
	// run ends when the program exits; its cause says how.
	run context.Context
}

func (c *child) current() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.run
}

// launch starts the program and waits for its exit in the background.
func (c *child) launch() error {
	output, err := openLog(c.log)
	if err != nil {
		return fmt.Errorf("start %s: %w", c.process.Name, err)
	}
	defer func() { _ = output.Close() }() // the program has its own copy

	cmd := exec.CommandContext(context.Background(), c.process.Path, c.process.Args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, c.process.Env...)
	cmd.Stdout, cmd.Stderr = output, output
	done, err := childprocess.Start(cmd)
	if err != nil {
		return fmt.Errorf("start %s: %w", c.process.Name, err)
	}
	run, ended := context.WithCancelCause(context.Background())
	c.mu.Lock()
	c.cmd, c.run = cmd, run
	c.mu.Unlock()
	err = os.WriteFile(c.pidFile, []byte(strconv.Itoa(cmd.Process.Pid)+"\n"), 0o600)
	go func() {
		<-done
		_ = os.Remove(c.pidFile) // another process may get the ID
		ended(&ExitedError{Name: c.process.Name, Log: c.log, Err: errors.New(cmd.ProcessState.String())})
	}()
	if err != nil {
		_ = c.terminate()
		return fmt.Errorf("start %s: %w", c.process.Name, err)
	}
	return nil
}

// start launches the program and returns once it is ready. Otherwise nothing is left of it.
func (c *child) start(ctx context.Context, timeout time.Duration) error {
	if err := c.launch(); err != nil {
		return err
	}
	if err := c.waitReady(ctx, timeout); err != nil {
		return errors.Join(err, c.terminate())
	}
	return nil
}

// waitReady returns nil once the program is ready, and a NotReadyError if it dies or takes too
// long.
func (c *child) waitReady(ctx context.Context, timeout time.Duration) error {
	if c.process.Ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	run := c.current()
	ticker := time.NewTicker(readyInterval)
	defer ticker.Stop()
	for {
		err := c.process.Ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-run.Done():
			return &NotReadyError{Name: c.process.Name, Log: c.log, Err: context.Cause(run)}
		case <-ctx.Done():
			return &NotReadyError{Name: c.process.Name, Log: c.log, Err: fmt.Errorf("%w: %w", context.Cause(ctx), err)}
		case <-ticker.C:
		}
	}
}

// terminate asks the program to stop, and kills its process group if it does not.
func (c *child) terminate() error {
	c.mu.Lock()
	cmd, run := c.cmd, c.run
	c.mu.Unlock()
	timeout := c.process.StopTimeout
	if timeout == 0 {
		timeout = defaultStopTimeout
	}
	_ = cmd.Process.Signal(syscall.SIGTERM) // errors do not matter: it has exited, or is killed below
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-run.Done():
		return nil
	case <-timer.C:
	}
	// The group belongs to the program, and its ID cannot be reused until the program has been
	// waited for.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	<-run.Done()
	return fmt.Errorf("%s did not stop within %s after SIGTERM and was killed", c.process.Name, timeout)
}
