/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

// Command foocloud is the local cloud: a daemon that makes instances, load balancers and pools on this machine, and the
// commands that show them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/loadbalancer"
)

// The daemon has threads leave the host's mounts for a while, and end. The first thread cannot end, so nothing else runs on it.
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
