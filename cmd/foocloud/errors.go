// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	utilexec "k8s.io/client-go/util/exec"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// Exit codes, as the help of foocloud explains them.
const (
	exitFailed       = 1
	exitUsage        = 2
	exitNotFound     = 3
	exitUnauthorized = 4
	exitUnavailable  = 5
	exitInterrupted  = 130
)

// usageError means that a command cannot run as it was called. It has done nothing.
type usageError struct {
	command *cobra.Command
	err     error
}

func (e usageError) Error() string {
	return fmt.Sprintf("%v; see: %s --help", e.err, e.command.CommandPath())
}

func (e usageError) Unwrap() error { return e.err }

// report shows an error in one line that says what to do, and returns the exit code.
func report(out io.Writer, err error) int {
	var ended utilexec.ExitError
	if errors.As(err, &ended) && ended.Exited() {
		return ended.ExitStatus()
	}
	code, advice := classify(err)
	if err == nil || code == exitInterrupted {
		return code
	}
	text := strings.TrimSpace(err.Error())
	if advice != "" {
		text += "; " + advice
	}
	_, _ = fmt.Fprintln(out, "foocloud:", text) // there is nowhere else to report to
	return code
}

// classify returns the exit code of an error, and what the user can do unless the error says so
// itself.
func classify(err error) (code int, advice string) {
	var usage usageError
	var ambiguous *ambiguousError
	switch {
	case err == nil:
		return 0, ""
	case errors.Is(err, context.Canceled):
		return exitInterrupted, ""
	case errors.As(err, &usage), errors.As(err, &ambiguous), cloud.IsInvalid(err):
		return exitUsage, ""
	}
	switch cloud.ReasonFor(err) {
	case cloud.ReasonNotFound:
		return exitNotFound, "list what exists with: foocloud instances, pools or load-balancers"
	case cloud.ReasonUnauthorized:
		return exitUnauthorized, "run foocloud as root, or name a tenant's token with --token-file or " + fileEnv
	case cloud.ReasonUnavailable:
		return exitUnavailable, "start the cloud with: systemctl start foocloud, or name another one with --endpoint or " + endpointEnv
	case cloud.ReasonThrottled:
		return exitUnavailable, ""
	case cloud.ReasonQuotaExceeded, cloud.ReasonOutOfCapacity:
		return exitUnavailable, "see: foocloud quota"
	case cloud.ReasonInvalid, cloud.ReasonConflict, cloud.ReasonUnknown:
	}
	return exitFailed, ""
}

// newGroup makes a command that only holds others.
func newGroup(group *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	group.Args, group.SuggestionsMinimumDistance = cobra.ArbitraryArgs, 2
	group.RunE = func(command *cobra.Command, args []string) error {
		if len(args) == 0 {
			return command.Help()
		}
		unknown := fmt.Errorf("unknown command %q", args[0])
		if similar := command.SuggestionsFor(args[0]); len(similar) > 0 {
			unknown = fmt.Errorf("%w, did you mean %s?", unknown, strings.Join(similar, ", "))
		}
		return usageError{command, unknown}
	}
	group.AddCommand(commands...)
	return group
}

// explainArguments makes the errors of arguments, of a command and of all below it, usage errors.
func explainArguments(command *cobra.Command) {
	if check := command.Args; check != nil {
		command.Args = func(command *cobra.Command, args []string) error {
			if err := check(command, args); err != nil {
				return usageError{command, err}
			}
			return nil
		}
	}
	for _, child := range command.Commands() {
		explainArguments(child)
	}
}
