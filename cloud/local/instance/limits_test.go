// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
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
