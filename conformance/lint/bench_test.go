// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/lint"
)

// large writes a release with 220 CRDs, and returns its repository.
func large(tb testing.TB) string {
	tb.Helper()
	g := NewWithT(tb)
	dir := tb.TempDir()
	g.Expect(os.CopyFS(dir, os.DirFS(base))).To(Succeed())
	path := filepath.Join(dir, release, components)
	content, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	var all strings.Builder
	for i := range 20 {
		all.WriteString("---\n" + strings.NewReplacer("demo", fmt.Sprint("demo", i), "Demo", fmt.Sprint("Demo", i)).Replace(string(content)))
	}
	g.Expect(os.WriteFile(path, []byte(all.String()), 0o600)).To(Succeed())
	return dir
}

// lintOnce reads a repository and checks it in both versions of the contracts.
func lintOnce(tb testing.TB, dir string) *conformance.Report {
	tb.Helper()
	g := NewWithT(tb)
	releases, err := lint.Load(nil, dir)
	g.Expect(err).NotTo(HaveOccurred())
	report, err := conformance.Check(tb.Context(), conformance.Options{
		Checkers: []conformance.Checker{&lint.Linter{Releases: releases}}, Contracts: conformance.Versions,
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(report.Results).NotTo(BeEmpty())
	return report
}

func BenchmarkLint(b *testing.B) {
	dir := large(b)
	for b.Loop() {
		lintOnce(b, dir)
	}
}

// TestLintIsQuick runs the benchmark once. It counts the time of the CPUs, which is the same on a busy
// machine.
func TestLintIsQuick(t *testing.T) {
	g := NewWithT(t)
	dir := large(t)
	start := cpuTime(g)
	lintOnce(t, dir)
	g.Expect(cpuTime(g) - start).To(BeNumerically("<", 2*time.Second))
}

// cpuTime returns how long this process has used CPUs.
func cpuTime(g *WithT) time.Duration {
	usage := syscall.Rusage{}
	g.Expect(syscall.Getrusage(syscall.RUSAGE_SELF, &usage)).To(Succeed())
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
