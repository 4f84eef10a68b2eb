// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

func TestARemovalThatFailedCanBeRepeated(t *testing.T) {
	g := NewWithT(t)
	folder := filepath.Join(ownDisk(t), "state")
	images := filepath.Join(folder, imagesFolder)
	g.Expect(os.MkdirAll(images, 0o700)).To(Succeed())
	for _, name := range []string{stateFile, lockFile, tokenFile, "z"} {
		g.Expect(os.WriteFile(filepath.Join(folder, name), nil, 0o600)).To(Succeed())
	}
	mountIn(g, images)
	g.Expect(removeState(folder)).To(MatchError(And(ContainSubstring(images), ContainSubstring("busy"))))
	entries, err := os.ReadDir(folder)
	g.Expect(err).NotTo(HaveOccurred())
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	g.Expect(left).To(ConsistOf(stateFile, lockFile, imagesFolder), "it is still known as a state folder, and locked")
	g.Expect(unix.Unmount(images, 0)).To(Succeed())
	g.Expect(removeState(folder)).To(Succeed())
	g.Expect(folder).NotTo(BeADirectory())
}

func TestAMountedStateFolderIsLeftEmpty(t *testing.T) {
	g := NewWithT(t)
	folder := ownDisk(t)
	g.Expect(os.WriteFile(filepath.Join(folder, stateFile), nil, 0o600)).To(Succeed())
	g.Expect(removeState(folder)).To(Succeed())
	g.Expect(os.ReadDir(folder)).To(BeEmpty())
}
