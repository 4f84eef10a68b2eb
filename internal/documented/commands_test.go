// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package documented

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
)

func program() *cobra.Command {
	root := &cobra.Command{Use: "foo"}
	get := &cobra.Command{Use: "get"}
	clusters := &cobra.Command{Use: "clusters NAME", Args: cobra.ExactArgs(1), Run: func(*cobra.Command, []string) {}}
	clusters.Flags().Bool("wide", false, "")
	get.AddCommand(clusters)
	root.AddCommand(get)
	return root
}

func TestCommands(t *testing.T) {
	for page, want := range map[string]string{
		"```\nsudo bin/foo get clusters \\\n  --wide demo # comment\n```\n": "",
		"Run `foo get clusters`, or `foo --help`.":                          "",
		"```\nfoo get clusters | grep a\n```\n":                             "accepts 1 arg(s), received 0",
		"`foo get clusters --narrow`":                                       "unknown flag: --narrow",
		"`foo get custers`":                                                 `unknown command "custers"`,
		"```\nfoo set\n```\n":                                               `unknown command "set"`,
		"`make quickstart ARGS='--exit'`":                                   `unknown command "quickstart"`,
	} {
		t.Run(page, func(t *testing.T) {
			g := NewWithT(t)
			folder := t.TempDir()
			g.Expect(os.WriteFile(filepath.Join(folder, "page.md"), []byte(page), 0o600)).To(Succeed())
			checked, err := commands(program, folder)
			g.Expect(checked).To(BeNumerically(">", 0))
			if want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(want)))
		})
	}
}
