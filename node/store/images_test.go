// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestImagesWithoutVersion(t *testing.T) {
	for _, test := range []struct {
		name, problem string
		extra         []string
	}{
		{name: "an additional image", extra: []string{"registry.k8s.io/pause:3.10.1"}},
		{name: "no image", problem: "no image to write"},
		{name: "an unknown image", extra: []string{"registry.k8s.io/other:1"}, problem: "nothing here builds the image registry.k8s.io/other:1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			system := t.TempDir()
			for name, content := range map[string]string{pauseProgram: "a program", "var/lib/dpkg/status": "Package: base-files\nVersion: 1\n"} {
				g.Expect(os.MkdirAll(filepath.Join(system, filepath.Dir(name)), 0o700)).To(Succeed())
				g.Expect(os.WriteFile(filepath.Join(system, name), []byte(content), 0o600)).To(Succeed())
			}
			output := filepath.Join(t.TempDir(), "images.tar")
			err := images{architecture: "amd64", system: system, output: output, extra: test.extra}.write(t.Context(), nil)
			if test.problem != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.problem)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			archive, err := os.ReadFile(output)
			g.Expect(err).NotTo(HaveOccurred())
			for _, reference := range test.extra {
				g.Expect(string(archive)).To(ContainSubstring(reference))
			}
		})
	}
}
