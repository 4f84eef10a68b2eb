// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
)

// Starter starts processes.
type Starter interface {
	// Start starts a process.
	Start(spec process.Spec) (*process.Process, error)
}

// Runner runs bootstrap data.
type Runner struct {
	starter Starter
	output  *redactor
	env     []string
}

// NewRunner returns a runner. Its commands get the environment env and write to output, in which
// anything that looks like a secret is redacted.
func NewRunner(starter Starter, output io.Writer, env []string) *Runner {
	return &Runner{starter: starter, output: &redactor{output: output}, env: env}
}

// Run does everything that config asks for. It passes each failure to failed as it happens, in
// words fit for a user and without secrets, and returns the number of failures. It stops early only
// when ctx is done.
func (r *Runner) Run(ctx context.Context, config *Config, failed func(error)) int {
	failures := 0
	check := func(err error) {
		if err != nil {
			failures++
			r.logf("failed: %s", err)
			failed(err)
		}
	}
	for _, module := range config.Skipped {
		r.logf("module %s is skipped: it has no meaning in this instance", module)
	}
	for i, command := range config.BootCommands {
		if ctx.Err() == nil {
			check(r.runCommand(ctx, fmt.Sprintf("bootcmd[%d]", i), command))
		}
	}
	for _, file := range config.Files {
		r.logf("write_files: %s", file.Path)
		check(file.Write())
	}
	for i, command := range config.RunCommands {
		if ctx.Err() == nil {
			check(r.runCommand(ctx, fmt.Sprintf("runcmd[%d]", i), command))
		}
	}
	if failures == 0 && ctx.Err() != nil {
		check(errors.New("the instance was stopped before the bootstrap data was done"))
	}
	return failures
}

func (r *Runner) runCommand(ctx context.Context, name string, command Command) error {
	r.logf("%s: %s", name, redact(command.Line))
	start := time.Now()
	exit, lines, err := r.execute(ctx, command.Args)
	if err != nil {
		return fmt.Errorf("%s %q: %w", name, redact(shorten(command.Line)), err)
	}
	if exit.Code == 0 {
		r.logf("%s: done after %s", name, time.Since(start).Round(time.Millisecond))
		return nil
	}
	return fmt.Errorf("%s %q ended with %s: %s", name, redact(shorten(command.Line)), exit, redact(summary(lines)))
}

func (r *Runner) execute(ctx context.Context, args []string) (process.Exit, []string, error) {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return process.Exit{}, nil, fmt.Errorf("not found in PATH")
	}
	read, write, err := os.Pipe()
	if err != nil {
		return process.Exit{}, nil, fmt.Errorf("output of command: %w", err)
	}
	proc, err := r.starter.Start(process.Spec{Path: path, Args: args, Env: r.env, Stdout: write, Stderr: write})
	_ = write.Close()
	if err != nil {
		_ = read.Close()
		return process.Exit{}, nil, err
	}
	tail := &tail{}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		defer func() { _ = read.Close() }()
		// An error of the log file must not stop copying, because the command would block on a full
		// pipe.
		_, _ = io.Copy(io.MultiWriter(tail, r.output), read)
	}()
	select {
	case <-proc.Done():
	case <-ctx.Done():
		proc.Stop(context.WithoutCancel(ctx), stopSignal, stopGrace)
	}
	if proc.Exit().Code != 0 {
		process.WaitDrained(drained)
	}
	return proc.Exit(), tail.Lines(), nil
}

func (r *Runner) logf(format string, args ...any) {
	_, _ = fmt.Fprintf(r.output, "cloud-init: "+format+"\n", args...)
}
