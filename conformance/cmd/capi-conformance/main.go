// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command capi-conformance tells a provider of Cluster API whether it meets Cluster API's
// contracts.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes besides 0.
const (
	exitFindings = 1 // the provider breaks a rule, or the check could not be done
	exitUsage    = 2 // a flag or an argument is invalid
)

// errFindings means that the report has been written and that it has findings.
var errFindings = errors.New("the provider breaks rules")

func main() {
	// A second signal ends the command at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(report(newCommand().ExecuteContext(ctx)))
}

// report shows the error and returns the exit code.
func report(err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.As(err, &usage):
		fmt.Fprintln(os.Stderr, "Error:", err)
		return exitUsage
	default:
		fmt.Fprintln(os.Stderr, "Error:", err)
		return exitFindings
	}
}

// usageError means that the command cannot run as it was called.
type usageError struct{ error }

func usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "capi-conformance",
		Short: "Does a provider of Cluster API meet Cluster API's contracts?",
		Long: `Does a provider of Cluster API meet Cluster API's contracts?

Exit codes:
  0  no rule is broken
  1  a rule is broken, or the check could not be done
  2  a flag or an argument is invalid`,
		Example: `  capi-conformance rules
  capi-conformance explain control-plane/kubeconfig
  capi-conformance lint infrastructure-components.yaml
  kustomize build config/default | capi-conformance lint -`,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(fmt.Errorf("unknown command %q; see: capi-conformance --help", args[0]))
			}
			return command.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	root.AddCommand(newRulesCommand(), newExplainCommand(), newLintCommand(), newTestCommand(), newReportCommand())
	return root
}

// arguments marks the errors of a check of arguments.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error { return usage(check(command, args)) }
}
