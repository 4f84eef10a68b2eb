// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command foocloud is the local cloud: a daemon that creates instances, load balancers and pools on
// this machine, and the commands to inspect and operate them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/loadbalancer"
)

// The daemon runs code on threads that leave the host's mount namespace and then exit. The main
// thread cannot exit, so no other goroutine may run on it.
func init() { runtime.LockOSThread() }

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "foocloud:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return newCommand().ExecuteContext(ctx)
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "foocloud",
		Short:         "A cloud on this machine: instances are containers, load balancers are processes",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newServeCommand(), newCheckCommand(), newDestroyCommand(), newLoadBalancerCommand())
	root.AddCommand(newShowCommands()...)
	root.AddCommand(newFaultsCommand(), newInstanceCommand(), newImageCommand())
	return root
}

func newLoadBalancerCommand() *cobra.Command {
	return &cobra.Command{
		Use: loadbalancer.Subcommand + " FOLDER", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return loadbalancer.Run(args[0]) },
	}
}
