// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command foo creates real Kubernetes clusters on this machine with Cluster API and Foo.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/component-base/version"

	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
	"github.com/capfoo/cluster-api-provider-foo/internal/quickstart"
	"github.com/capfoo/cluster-api-provider-foo/internal/reference"
)

func main() {
	root := newCommand()
	os.Exit(report(root, cli.Execute(root)))
}

// report shows an error, in one line if its details have been shown already, and returns the exit
// code.
func report(root *cobra.Command, err error) int {
	var reported *quickstart.ReportedError
	switch {
	case errors.As(err, &reported):
		first, _, _ := strings.Cut(reported.Error(), "\n")
		cli.Show(root, errors.New(strings.TrimSuffix(first, ":")), reported.Advice)
	case err != nil:
		cli.Show(root, err, "")
	}
	return cli.ExitCode(err, quickstart.IsInvalid)
}

func newCommand() *cobra.Command {
	return cli.Root(cli.Group(&cobra.Command{
		Use:   "foo",
		Short: "Real Kubernetes clusters on this host, created by Cluster API and Foo",
		Long: `Real Kubernetes clusters on this host, created by Cluster API and Foo. Needs root and Linux.

Exit codes:

      1  something failed; the reason has been shown
      2  nothing was done: a flag or an argument is invalid, or the host is not suitable
    130  interrupted; a second Ctrl-C ends a clean-up at once

Errors say what is wrong and what to do, in one line each.`,
		Example: `  foo create cluster demo
  foo get clusters
  foo delete cluster demo`,
	},
		newGroup("create", "Create a cluster", newCreateClusterCommand()), newGroup("get", "List clusters", newGetClustersCommand()),
		newGroup("delete", "Delete a cluster", newDeleteClusterCommand()), newKubeconfigCommand(), newStartCommand(), newStopCommand(),
		newQuickstartCommand(), newVersionCommand(), reference.NewCommand(),
	))
}

// newGroup returns a command that only holds one other.
func newGroup(use, short string, only *cobra.Command) *cobra.Command {
	return cli.Group(&cobra.Command{Use: use, Short: short, Example: only.Example}, only)
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version of foo", Example: "  foo version", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			built := version.Get()
			_, err := fmt.Fprintln(command.OutOrStdout(), "foo", built.GitVersion, built.GoVersion, built.Platform)
			return err
		},
	}
}
