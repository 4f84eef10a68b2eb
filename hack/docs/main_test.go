// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// root is the root folder, as seen from here.
const root = "../.."

func TestPagesAreCurrent(t *testing.T) {
	for name, page := range generated {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			want, err := page(root)
			g.Expect(err).NotTo(HaveOccurred())
			content, err := os.ReadFile(filepath.Join(root, name))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(content)).To(Equal(string(want)), "run make generate")
		})
	}
}
