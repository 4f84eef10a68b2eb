// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cli holds what the command lines of Foo's programs have in common.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Exit codes besides 0.
const (
	ExitFailed      = 1   // something failed
	ExitInvalid     = 2   // nothing was done: a flag, an argument or a value is invalid
	ExitInterrupted = 130 // the user ended it
)

// UsageError means that a command cannot run as it was called. It has done nothing.
type UsageError struct {
	// Command is the command that was called.
	Command *cobra.Command
	// Err says what is wrong, and what is allowed.
	Err error
}

func (e *UsageError) Error() string {
	return fmt.Sprintf("%v; see: %s --help", e.Err, e.Command.CommandPath())
}

// Unwrap returns what is wrong.
func (e *UsageError) Unwrap() error { return e.Err }

// IsUsage reports whether err is, or wraps, a UsageError.
func IsUsage(err error) bool {
	var usage *UsageError
	return errors.As(err, &usage)
}

// Usage returns a UsageError, or nil if err is nil.
func Usage(command *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return &UsageError{Command: command, Err: err}
}

// Group makes a command that only holds others.
func Group(group *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	group.Args, group.SuggestionsMinimumDistance = cobra.ArbitraryArgs, 2
	group.RunE = func(command *cobra.Command, args []string) error {
		if len(args) == 0 {
			return command.Help()
		}
		unknown := fmt.Errorf("unknown command %q", args[0])
		if similar := command.SuggestionsFor(args[0]); len(similar) > 0 {
			unknown = fmt.Errorf("%w, did you mean %s?", unknown, strings.Join(similar, ", "))
		}
		return Usage(command, unknown)
	}
	group.AddCommand(commands...)
	return group
}

// Root completes a program's command, once all others are below it: errors of flags and arguments
// are UsageErrors, and the caller shows all errors.
func Root(root *cobra.Command) *cobra.Command {
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetFlagErrorFunc(Usage)
	explainArguments(root)
	return root
}

func explainArguments(command *cobra.Command) {
	if check := command.Args; check != nil {
		command.Args = func(command *cobra.Command, args []string) error { return Usage(command, check(command, args)) }
	}
	for _, child := range command.Commands() {
		explainArguments(child)
	}
}

// InterruptedError means that the user ended a program before its command was done.
type InterruptedError struct {
	// Err is what the command returned.
	Err error
}

func (e *InterruptedError) Error() string { return e.Err.Error() }

// Unwrap returns what the command returned.
func (e *InterruptedError) Unwrap() error { return e.Err }

// Execute runs a program until its command ends. It returns an InterruptedError if the command fails
// after the user interrupted it. The log messages of libraries would garble what the program shows,
// and their errors are returned anyway, so it discards them.
func Execute(root *cobra.Command) error {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := root.ExecuteContext(ctx)
	if err != nil && ctx.Err() != nil {
		return &InterruptedError{Err: err}
	}
	return err
}

// ExitCode returns the exit code for an error. UsageErrors, and the errors for which invalid
// returns true, mean that nothing was done.
func ExitCode(err error, invalid func(error) bool) int {
	var interrupted *InterruptedError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &interrupted):
		return ExitInterrupted
	case IsUsage(err) || invalid(err):
		return ExitInvalid
	default:
		return ExitFailed
	}
}

// Main executes a program, shows its error, and returns its exit code; see ExitCode.
func Main(root *cobra.Command, invalid func(error) bool) int {
	err := Execute(root)
	if err != nil {
		Show(root, err)
	}
	return ExitCode(err, invalid)
}

// Show shows an error, with the program's name in front of each line.
func Show(root *cobra.Command, err error) {
	for line := range strings.Lines(err.Error()) {
		root.PrintErrln(root.Name()+":", strings.TrimSuffix(line, "\n"))
	}
}
