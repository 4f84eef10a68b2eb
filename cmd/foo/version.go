// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/component-base/version"
)

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
