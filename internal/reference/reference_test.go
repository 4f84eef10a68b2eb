// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package reference_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/internal/reference"
)

func program() *cobra.Command {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "tool", Short: "Does things", Run: run}
	child := &cobra.Command{Use: "sing SONG", Short: "Sing", Long: "Sing a song.\n\nExit codes:\n\n    1  out of tune", Example: "  tool sing blues", Run: run}
	child.Flags().Bool("loud", false, "sing so that all hear it")
	root.AddCommand(child, &cobra.Command{Use: "secret", Hidden: true, Run: run}, reference.NewCommand())
	return root
}

func TestPage(t *testing.T) {
	g := NewWithT(t)
	root := program()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs([]string{"reference"})
	g.Expect(root.Execute()).To(Succeed())
	g.Expect(out.String()).To(And(HavePrefix("# Commands of tool\n"), ContainSubstring("\n## tool sing\n\n```text\nSing a song.\n\nExit codes:\n"),
		MatchRegexp(`--loud +sing so that all hear it`), Not(ContainSubstring("secret")), Not(ContainSubstring("tool reference"))))
	g.Expect(reference.Page(program())).To(Equal(out.String()), "it is the same for whoever asks")
}

func TestManualPages(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	folder := t.TempDir()
	root := program()
	root.SetArgs([]string{"reference", "--man=" + folder})
	g.Expect(root.Execute()).To(Succeed())
	page, err := os.ReadFile(filepath.Join(folder, "tool-sing.1"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(page)).To(And(ContainSubstring("Jan 1970"), ContainSubstring("out of tune"), ContainSubstring("sing so that all hear it")))
	g.Expect(filepath.Join(folder, "tool-secret.1")).NotTo(BeAnExistingFile())
}
