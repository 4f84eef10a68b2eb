// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command foo creates real Kubernetes clusters on this machine with Cluster API and Foo.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/capfoo/cluster-api-provider-foo/internal/quickstart"
)

// Exit codes other than 0.
const (
	exitFailed      = 1   // started but failed; the reason has been shown
	exitInvalid     = 2   // nothing was started: a flag is invalid or the machine is unsuitable
	exitInterrupted = 130 // the user interrupted it before the cluster was available
)

func main() { os.Exit(run()) }

// run returns the exit code.
func run() int {
	// The libraries' log messages would garble the display, and their errors are returned anyway.
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := newCommand().ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var reported *quickstart.ReportedError
	if !errors.As(err, &reported) {
		fmt.Fprintln(os.Stderr, "foo:", err)
	}
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case quickstart.IsInvalid(err) || errors.Is(err, errUsage):
		return exitInvalid
	default:
		return exitFailed
	}
}

var errUsage = errors.New("invalid usage")

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "foo",
		Short: "Real Kubernetes clusters on this machine, made by Cluster API and Foo",
		Long: `Real Kubernetes clusters on this machine, made by Cluster API and Foo. Needs root and Linux.

Exit codes:
    1  something failed; the reason has been shown
    2  nothing was done: a flag or an argument is invalid, or the machine does not fit
  130  interrupted`,
		Example: `  foo create cluster demo
  foo get clusters
  foo delete cluster demo`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(usageError)
	root.AddCommand(
		newGroup("create", "Create a cluster", newCreateClusterCommand()), newGroup("get", "List clusters", newGetClustersCommand()),
		newGroup("delete", "Delete a cluster", newDeleteClusterCommand()), newKubeconfigCommand(), newStartCommand(), newStopCommand(),
		newQuickstartCommand(), newVersionCommand(),
	)
	return root
}

func usageError(command *cobra.Command, err error) error {
	return fmt.Errorf("%w: %w; see: %s --help", errUsage, err, command.CommandPath())
}

func noArguments(command *cobra.Command, args []string) error {
	if err := cobra.NoArgs(command, args); err != nil {
		return usageError(command, err)
	}
	return nil
}
