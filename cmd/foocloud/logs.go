// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
)

// newLogsCommand returns the command that shows logs. It also exists at the top level.
func newLogsCommand() *cobra.Command {
	c := &connection{}
	var options client.LogOptions
	var kubelet bool
	var tail int
	var since time.Duration
	command := &cobra.Command{
		Use:   "logs NAME",
		Short: "Show the console of an instance, or the kubelet's log",
		Long: `Show the console of an instance, or the kubelet's log.

The console has what the node agent and the bootstrap commands print.`,
		Example: `  foocloud instance logs demo-control-plane-x7k2p
  foocloud instance logs -f --tail=20 demo-control-plane-x7k2p
  foocloud instance logs --kubelet --since=10m demo-control-plane-x7k2p`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: instances.complete(c, 1),
		RunE: func(command *cobra.Command, args []string) error {
			if tail < -1 || since < 0 {
				return cli.Usage(command, fmt.Errorf("--tail %d --since %s: must be 0 or more", tail, since))
			}
			if kubelet {
				options.Source = "kubelet"
			}
			if tail >= 0 {
				options.Tail = &tail
			}
			if since > 0 {
				options.Since = time.Now().Add(-since)
			}
			return showLog(command, c, args[0], options)
		},
	}
	c.addFlags(command)
	c.addTenantFlag(command)
	flags := command.Flags()
	flags.BoolVarP(&options.Follow, "follow", "f", false, "wait for more output until interrupted")
	flags.IntVar(&tail, "tail", -1, "show only this many of the last lines; all if -1")
	flags.DurationVar(&since, "since", 0, "leave out what is older than this, for example 10m; a line without a time is as old as the one before it")
	flags.BoolVar(&kubelet, "kubelet", false, "show the kubelet's log instead")
	return command
}

func showLog(command *cobra.Command, c *connection, name string, options client.LogOptions) error {
	ctx := command.Context()
	cloud, err := c.client()
	if err != nil {
		return err
	}
	instance, err := instances.find(ctx, cloud, name)
	if err != nil {
		return err
	}
	err = copyLog(ctx, command.OutOrStdout(), cloud, instance.ID, options)
	if !options.Follow {
		return err
	}
	if err == nil && ctx.Err() == nil {
		err = explainEnd(ctx, cloud, instance)
	}
	return ignoreInterrupt(ctx, err) // that is how a user ends it
}

// explainEnd returns why the log of an instance has ended, unless the instance has too.
func explainEnd(ctx context.Context, c *client.Client, instance cloud.Instance) error {
	now, err := instances.find(ctx, c, instance.ID)
	if cloud.IsNotFound(err) || now.State == cloud.InstanceDeleting {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("the cloud ended the log of instance %s, which still exists: run this again to continue", label(instances.names(instance)))
}

func copyLog(ctx context.Context, out io.Writer, c *client.Client, id string, options client.LogOptions) error {
	log, err := c.Log(ctx, id, options)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	_, err = io.Copy(out, log)
	// The cloud may see an interruption before this does, and end the log as if it were complete.
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	return nil
}
