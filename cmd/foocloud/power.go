// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
)

// switches lists the actions on instances, each with its help text.
var switches = []struct{ action, short string }{
	{"stop", "Stop instances gracefully; their data is kept"},
	{"start", "Start stopped instances with their data"},
	{"reboot", "Stop instances and start them again"},
	{"freeze", "Freeze all processes of instances"},
	{"thaw", "Let the processes of frozen instances continue"},
}

func newInstanceCommand() *cobra.Command {
	command := &cobra.Command{Use: "instance", Short: "Stop, start, reboot, freeze and thaw instances"}
	for _, one := range switches {
		command.AddCommand(newSwitchCommand(one.action, one.short))
	}
	return command
}

func newSwitchCommand(action, short string) *cobra.Command {
	c := &connection{}
	command := &cobra.Command{
		Use: action + " NAME|ID...", Short: short, Example: "  foocloud instance " + action + " default.demo-control-plane-x7k2p",
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			cloud, err := c.client()
			if err != nil {
				return err
			}
			for _, arg := range args {
				id, err := instanceID(command.Context(), cloud, arg)
				if err != nil {
					return err
				}
				if err := cloud.SwitchInstance(command.Context(), id, action); err != nil {
					return fmt.Errorf("%s instance %s: %w", action, arg, err)
				}
				if _, err := fmt.Fprintf(command.OutOrStdout(), "instance %s: %s requested\n", arg, action); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.addFlags(command)
	return command
}

// instanceID returns the ID of the instance with this name, or nameOrID itself if no instance has
// that name.
func instanceID(ctx context.Context, c *client.Client, nameOrID string) (string, error) {
	named, err := c.ListInstances(ctx, cloud.InstanceFilter{Name: nameOrID})
	if err != nil {
		return "", err
	}
	if len(named) > 0 {
		return named[0].ID, nil
	}
	return nameOrID, nil
}
