// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestListsAreWrittenInOneCall(t *testing.T) {
	names := view[string]{
		columns: []string{"Name"}, rows: func(name string) [][]any { return [][]any{{name}} }, name: func(name string) string { return name },
	}
	for _, format := range names.formats() {
		t.Run(format, func(t *testing.T) {
			g := NewWithT(t)
			p := printer[string]{view: names, format: format}
			var out writes
			for _, items := range [][]string{{"one", "two"}, {"three"}} {
				g.Expect(p.print(&out, items, items...)).To(Succeed())
			}
			g.Expect(out).To(HaveExactElements(And(ContainSubstring("one"), ContainSubstring("two")), And(ContainSubstring("three"), Not(ContainSubstring("one")))))
		})
	}
}

// writes remembers what each call has written.
type writes []string

func (w *writes) Write(content []byte) (int, error) {
	*w = append(*w, string(content))
	return len(content), nil
}
