// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reference writes the documentation of a program's commands from their help.
package reference

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Page returns a page in Markdown with the help of each of a program's commands.
func Page(root *cobra.Command) string {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var page strings.Builder
	fmt.Fprintf(&page, "# Commands of %s\n\n<!-- written by make generate -->\n", root.Name())
	addHelp(&page, root)
	return page.String()
}

func addHelp(page *strings.Builder, command *cobra.Command) {
	command.InitDefaultHelpFlag()
	fmt.Fprintf(page, "\n## %s\n\n```text\n%s\n\n%s```\n", command.CommandPath(), strings.TrimSpace(cmp.Or(command.Long, command.Short)), command.UsageString())
	for _, child := range command.Commands() {
		// The help of completion names the shells, and is the same for all programs.
		if child.IsAvailableCommand() && command.Name() != "completion" {
			addHelp(page, child)
		}
	}
}

// NewCommand returns a hidden command that prints the page, or writes manual pages, of the program
// that it is added to.
func NewCommand() *cobra.Command {
	var man string
	command := &cobra.Command{
		Use: "reference", Short: "Print the help of all commands as a page in Markdown", Hidden: true, Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if man != "" {
				return doc.GenManTree(command.Root(), &doc.GenManHeader{Source: "Foo", Manual: "Foo"}, man)
			}
			_, err := fmt.Fprint(command.OutOrStdout(), Page(command.Root()))
			return err
		},
	}
	command.Flags().StringVar(&man, "man", "", "write a manual page for each command to this folder instead")
	return command
}
