// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// A machine that lacks what nodes need reports that before anything is created. test/e2e covers
// machines with systemd and cgroups version 2, because only a real kernel treats these files as it
// does.
func TestHoldSaysWhichControllersAreMissing(t *testing.T) {
	g := NewWithT(t)
	top := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(top, "cgroup.controllers"), []byte("cpu io memory pids\n"), 0o600)).To(Succeed())
	g.Expect(hold(top, filepath.Join(top, "foo"))).To(MatchError(ContainSubstring("no cgroup controllers cpuset,")))
	g.Expect(filepath.Join(top, "foo")).NotTo(BeAnExistingFile())
}

// An instance can nest cgroups so deep that their path is longer than the kernel accepts.
func TestCgroupsWithTooLongPaths(t *testing.T) {
	g := NewWithT(t)
	top := filepath.Join(t.TempDir(), "top")
	g.Expect(thawGroups(top, "freezer.state", "THAWED")).To(Succeed(), "a missing one needs no thawing")
	g.Expect(os.Mkdir(top, 0o700)).To(Succeed())
	var states []int
	nest(t, top, tooDeep, func(folder int) {
		state, err := unix.Openat(folder, "freezer.state", unix.O_RDWR|unix.O_CREAT, 0o600)
		g.Expect(err).NotTo(HaveOccurred())
		states = append(states, state)
	})
	g.Expect(thawGroups(top, "freezer.state", "THAWED")).To(Succeed())
	for _, state := range states {
		text := make([]byte, 16)
		count, err := unix.Pread(state, text, 0)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(text[:count])).To(Equal("THAWED"))
		g.Expect(unix.Close(state)).To(Succeed())
	}

	// The files of a cgroup disappear with it, so this tree has none.
	top = filepath.Join(t.TempDir(), "top")
	g.Expect(os.Mkdir(top, 0o700)).To(Succeed())
	nest(t, top, tooDeep, func(int) {})
	g.Expect(removeGroups(top)).To(Succeed())
	g.Expect(top).NotTo(BeAnExistingFile())
	g.Expect(removeGroups(top)).To(Succeed(), "a missing one")
}
