// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package documented

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
)

func TestMetrics(t *testing.T) {
	g := NewWithT(t)
	page := filepath.Join(t.TempDir(), "page.md")
	g.Expect(os.WriteFile(page, []byte("# Metrics\n\n## A\n\n| `foo_a` | one |\n\n## B\n\n| `foo_b` | two |\n"), 0o600)).To(Succeed())
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "foo_a"})
	g.Expect(Metrics(counter, page, "A")).To(Succeed())
	g.Expect(Metrics(counter, page, "B")).To(MatchError(ContainSubstring("has [foo_b], but the code has [foo_a]")))
	g.Expect(Metrics(counter, page, "C")).To(MatchError(ContainSubstring("no section")))
}
