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
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/component-base/version"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/loadbalancer"
	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
	"github.com/capfoo/cluster-api-provider-foo/internal/reference"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	root := newCommand()
	err := root.ExecuteContext(ctx)
	stop()
	os.Exit(report(root, err))
}

// Groups of commands in the help.
const (
	groupObjects = "objects"
	groupLists   = "lists"
	groupDaemon  = "daemon"
)

func newCommand() *cobra.Command {
	root := cli.Group(&cobra.Command{
		Use:   "foocloud",
		Short: "A cloud on this host: instances are containers, load balancers are processes",
		Long: `A cloud on this host: instances are containers, load balancers are processes.

Commands accept the name of an instance, pool or load balancer, with or without its namespace, the ID of an instance,
or any prefix of these that matches only one object. What is deleted, images and fault rules must be given by their
full name or ID.

Exit codes:

      1  something failed
      2  nothing was done: a flag, an argument or a value is invalid, a confirmation is missing, or the host is not suitable
      3  an object does not exist
      4  the token is missing or wrong, or this user may not use the cloud
      5  the cloud does not answer, is busy, or has no room
    130  interrupted

"instance exec" and "instance shell" end with the exit code of the command.`,
		Example: `  foocloud instances
  foocloud instance logs -f demo-control-plane-x7k2p
  foocloud instance shell demo-control-plane-x7k2p`,
	})
	root.AddGroup(&cobra.Group{ID: groupObjects, Title: "Inspect and operate:"}, &cobra.Group{ID: groupLists, Title: "Lists:"},
		&cobra.Group{ID: groupDaemon, Title: "The cloud itself:"})
	addTo(root, groupObjects, newInstanceCommand(), newPoolCommand(), newBalancerCommand(), newImageCommand(), newFaultsCommand(), newLogsCommand())
	addTo(root, groupLists, newInstancesCommand("instances"), newPoolsCommand("pools"), newBalancersCommand("load-balancers"))
	addTo(root, groupLists, newCatalogCommands()...)
	addTo(root, groupDaemon, newServeCommand(), newConsoleCommand(), newCheckCommand(), newDestroyCommand(), newVersionCommand())
	root.AddCommand(newLoadBalancerProcess(), reference.NewCommand())
	return cli.Root(root)
}

func addTo(parent *cobra.Command, group string, commands ...*cobra.Command) {
	for _, command := range commands {
		command.GroupID = group
	}
	parent.AddCommand(commands...)
}

// newLoadBalancerProcess returns the command that the daemon runs for each load balancer.
func newLoadBalancerProcess() *cobra.Command {
	return &cobra.Command{
		Use: loadbalancer.Subcommand + " FOLDER", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return loadbalancer.Run(args[0]) },
	}
}

func newVersionCommand() *cobra.Command {
	p := &printer[versionInfo]{view: view[versionInfo]{
		columns: []string{"VERSION", "GO", "PLATFORM"},
		rows:    func(v versionInfo) [][]any { return [][]any{{v.Version, v.GoVersion, v.Platform}} },
	}}
	command := &cobra.Command{
		Use: "version", Short: "Show the version of foocloud", Example: "  foocloud version -o json", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := p.check(command); err != nil {
				return err
			}
			built := version.Get()
			v := versionInfo{Version: built.GitVersion, GoVersion: built.GoVersion, Platform: built.Platform}
			if p.format != formatTable {
				return p.print(command.OutOrStdout(), v, v)
			}
			_, err := fmt.Fprintln(command.OutOrStdout(), "foocloud", v.Version, v.GoVersion, v.Platform)
			return err
		},
	}
	p.addOutputFlag(command)
	return command
}

// versionInfo is what is shown of a version.
type versionInfo struct {
	// Version is what the linker was told, or Kubernetes' placeholder in a development build.
	Version   string `json:"version"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}
