// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/lint"
)

// BenchmarkLint lints a release with 220 CRDs, in both versions of the contracts.
func BenchmarkLint(b *testing.B) {
	g := NewWithT(b)
	dir := b.TempDir()
	g.Expect(os.CopyFS(dir, os.DirFS(base))).To(Succeed())
	path := filepath.Join(dir, release, components)
	content, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	var all strings.Builder
	for i := range 20 {
		all.WriteString("---\n" + strings.NewReplacer("demo", fmt.Sprint("demo", i), "Demo", fmt.Sprint("Demo", i)).Replace(string(content)))
	}
	g.Expect(os.WriteFile(path, []byte(all.String()), 0o600)).To(Succeed())
	for b.Loop() {
		releases, err := lint.Load(nil, dir)
		g.Expect(err).NotTo(HaveOccurred())
		report, err := conformance.Check(b.Context(), conformance.Options{
			Checkers: []conformance.Checker{&lint.Linter{Releases: releases}}, Contracts: conformance.Versions,
		})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(report.Results).NotTo(BeEmpty())
	}
}
