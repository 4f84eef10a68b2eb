// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
)

// newCatalogCommands returns the commands that show what the cloud offers.
func newCatalogCommands() []*cobra.Command {
	return []*cobra.Command{
		newShowCommand(&cobra.Command{Use: "zones", Short: "List the zones", Example: "  foocloud zones"}, zoneView,
			func(ctx context.Context, c *client.Client) ([]cloud.Zone, error) { return c.Zones(ctx) }),
		newShowCommand(&cobra.Command{
			Use: "images", Short: "List the images that instances can be created from; foocloud image list shows container images", Example: "  foocloud images -o json",
		}, imageView, func(ctx context.Context, c *client.Client) ([]cloud.Image, error) { return c.Images(ctx) }),
		newShowCommand(&cobra.Command{
			Use: "instance-types", Short: "List the sizes of instances", Example: "  foocloud instance-types -o name",
		}, typeView, func(ctx context.Context, c *client.Client) ([]cloud.InstanceType, error) { return c.InstanceTypes(ctx) }),
		newQuotaCommand(),
	}
}

// newShowCommand returns a command that shows a list.
func newShowCommand[T any](command *cobra.Command, shown view[T], list func(context.Context, *client.Client) ([]T, error)) *cobra.Command {
	c := &connection{}
	p := &printer[T]{view: shown}
	c.addFlags(command)
	p.addOutputFlag(command)
	command.Args = cobra.NoArgs
	command.RunE = p.withCloud(c, func(command *cobra.Command, _ []string, cloud *client.Client) error {
		items, err := list(command.Context(), cloud)
		if err != nil {
			return err
		}
		return p.print(command.OutOrStdout(), items, items...)
	})
	return command
}

func newQuotaCommand() *cobra.Command {
	c := &connection{}
	p := &printer[cloud.Quota]{view: quotaView}
	command := &cobra.Command{
		Use: "quota", Short: "Show the limits and their usage", Example: "  foocloud quota --tenant=red", Args: cobra.NoArgs,
		RunE: p.withCloud(c, func(command *cobra.Command, _ []string, cloud *client.Client) error {
			quota, err := cloud.Quota(command.Context())
			if err != nil {
				return err
			}
			return p.print(command.OutOrStdout(), quota, quota)
		}),
	}
	c.addFlags(command)
	c.addTenantFlag(command)
	p.addOutputFlag(command)
	return command
}
