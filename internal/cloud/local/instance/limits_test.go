// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// A machine without what nodes need says so, before it makes anything. Those of systemd with version 2 of cgroups have their own story in
// test/e2e: nothing but the kernel does what it does with these files.
func TestHoldSaysWhichControllersAreMissing(t *testing.T) {
	g := NewWithT(t)
	top := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(top, "cgroup.controllers"), []byte("cpu io memory pids\n"), 0o600)).To(Succeed())
	g.Expect(hold(top, filepath.Join(top, "foo"))).To(MatchError(ContainSubstring("no cgroup controllers cpuset,")))
	g.Expect(filepath.Join(top, "foo")).NotTo(BeAnExistingFile())
}
