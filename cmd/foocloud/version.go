// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/component-base/version"
)

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
