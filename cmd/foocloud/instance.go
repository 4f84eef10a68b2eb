// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
)

// switches lists the power actions on instances.
var switches = []struct{ action, short string }{
	{"stop", "Stop instances gracefully; their data is kept"},
	{"start", "Start stopped instances with their data"},
	{"reboot", "Stop instances and start them again"},
	{"freeze", "Freeze all processes of instances"},
	{"thaw", "Let the processes of frozen instances continue"},
}

func newInstanceCommand() *cobra.Command {
	group := cli.Group(&cobra.Command{
		Use: "instance", Short: "List, inspect, enter and operate instances",
		Example: `  foocloud instance list --cluster=demo --watch
  foocloud instance exec demo-control-plane-x7k2p -- ps aux
  foocloud instance reboot demo-control-plane-x7k2p`,
	}, newInstancesCommand("list"), newDescribeInstanceCommand(), newLogsCommand(), newExecCommand(), newShellCommand(), newDrainCommand())
	for _, one := range switches {
		group.AddCommand(newActionCommand(&cobra.Command{
			Use: one.action + " NAME...", Short: one.short, Example: "  foocloud instance " + one.action + " demo-control-plane-x7k2p",
		}, instances, func(ctx context.Context, c *client.Client, i cloud.Instance) error {
			return c.SwitchInstance(ctx, i.ID, one.action)
		}, one.action+" requested"))
	}
	group.AddCommand(newDeleteCommand(&cobra.Command{
		Use: "delete NAME...", Short: "Delete instances and their data",
		Long: `Delete instances and their data.

A FooMachine does not create its instance again. If a MachineHealthCheck asks for it, the control plane or the
MachineDeployment replaces the Machine. A pool shrinks by one until its FooMachinePool scales it up again.`,
		Example: "  foocloud instance delete demo-workers-4tq9z",
	}, instances, func(ctx context.Context, c *client.Client, i cloud.Instance) error {
		return c.DeleteInstance(ctx, i.ID)
	}))
	return group
}

// newInstancesCommand returns the command that lists instances. It also exists at the top level.
func newInstancesCommand(name string) *cobra.Command {
	command := &cobra.Command{
		Use: name, Short: "List the instances",
		Example: `  foocloud instances
  foocloud instances --cluster=demo --state=running -o wide
  foocloud instances --watch`,
	}
	return newListCommand(command, instances, addInstanceFilters)
}

func newPoolCommand() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "pool", Short: "List, inspect and delete instance pools", Example: "  foocloud pool describe demo-workers",
	}, newPoolsCommand("list"), newDescribePoolCommand(), newDeleteCommand(&cobra.Command{
		Use: "delete NAME...", Short: "Delete pools with all their instances", Example: "  foocloud pool delete demo-workers",
	}, pools, func(ctx context.Context, c *client.Client, p cloud.Pool) error { return c.DeletePool(ctx, p.Name) }))
}

func newPoolsCommand(name string) *cobra.Command {
	return newListCommand(&cobra.Command{
		Use: name, Short: "List the instance pools", Example: "  foocloud pools --cluster=demo",
	}, pools, nil)
}

func newBalancerCommand() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "load-balancer", Short: "List, inspect and delete load balancers", Example: "  foocloud load-balancer describe demo",
	}, newBalancersCommand("list"), newDescribeBalancerCommand(), newDeleteCommand(&cobra.Command{
		Use: "delete NAME...", Short: "Delete load balancers", Example: "  foocloud load-balancer delete demo",
	}, balancers, func(ctx context.Context, c *client.Client, b cloud.LoadBalancer) error {
		return c.DeleteLoadBalancer(ctx, b.Name)
	}))
}

func newBalancersCommand(name string) *cobra.Command {
	return newListCommand(&cobra.Command{
		Use: name, Short: "List the load balancers", Example: "  foocloud load-balancers -o wide",
	}, balancers, nil)
}
