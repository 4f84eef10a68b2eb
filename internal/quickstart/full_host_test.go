//go:build integration && host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// A start on a full disk fails, but the next one finds the state again.
func TestFullDiskKeepsTheState(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	g.Expect(unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=64k")).To(Succeed())
	t.Cleanup(func() { g.Expect(unix.Unmount(folder, 0)).To(Succeed()) })
	config := validConfig(filepath.Join(folder, "state"))
	keep(g, config)

	config.Resume = true
	g.Expect(os.WriteFile(filepath.Join(folder, "large"), make([]byte, 1<<20), 0o600)).To(MatchError(unix.ENOSPC))
	_, err := openState(config)
	g.Expect(err).To(MatchError(unix.ENOSPC))
	g.Expect(config.kept()).To(BeTrue())
	g.Expect(os.Remove(filepath.Join(folder, "large"))).To(Succeed())
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	state.close()
}

// A removal that failed can be repeated.
func TestFailedRemoval(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(filepath.Join(t.TempDir(), "state"))
	config.BinDir = t.TempDir()
	g.Expect(os.WriteFile(config.program("foocloud"), []byte("#!/bin/sh\n"), 0o700)).To(Succeed())
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	state.close()
	busy := filepath.Join(config.StateDir, "busy")
	g.Expect(os.Mkdir(busy, 0o700)).To(Succeed())
	g.Expect(unix.Mount("tmpfs", busy, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=64k")).To(Succeed())
	err = Delete(t.Context(), config)
	g.Expect(unix.Unmount(busy, 0)).To(Succeed())
	g.Expect(err).To(MatchError(unix.EBUSY))
	g.Expect(Delete(t.Context(), config)).To(Succeed())
	g.Expect(config.StateDir).NotTo(BeADirectory())
}
