// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package durable

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestWriteFile(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	holds := func(content string) {
		g.Expect(os.ReadFile(path)).To(BeEquivalentTo(content))
		g.Expect(os.ReadDir(folder)).To(HaveLen(1), "nothing else is left behind")
	}
	g.Expect(WriteFile(path, []byte("first"), 0o600)).To(Succeed())
	holds("first")
	info, err := os.Stat(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode()).To(BeEquivalentTo(0o600))
	g.Expect(os.WriteFile(path+".new", []byte("a write that was interrupted"), 0o600)).To(Succeed())
	g.Expect(WriteFile(path, []byte("second"), 0o600)).To(Succeed())
	holds("second")

	g.Expect(os.Mkdir(path+".new", 0o700)).To(Succeed())
	g.Expect(WriteFile(path, []byte("third"), 0o600)).NotTo(Succeed())
	g.Expect(os.ReadFile(path)).To(BeEquivalentTo("second"))
}
