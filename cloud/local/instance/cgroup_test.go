//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// TestCgroupsWithTooLongPaths does the same with folders. A host may have both versions of cgroups.
func TestFrozenCgroupsWithTooLongPaths(t *testing.T) {
	tried := 0
	for _, freezer := range []struct{ folder, file, freeze, thaw string }{
		{"/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED"},
		{"/sys/fs/cgroup/unified", "cgroup.freeze", "1", "0"},
		{"/sys/fs/cgroup", "cgroup.freeze", "1", "0"},
	} {
		if _, err := os.Stat(filepath.Join(freezer.folder, "cgroup.procs")); err != nil {
			continue
		}
		tried++
		t.Run(freezer.folder, func(t *testing.T) {
			g := NewWithT(t)
			top := filepath.Join(freezer.folder, fmt.Sprintf("foo-test-%d", os.Getpid()))
			g.Expect(os.Mkdir(top, 0o700)).To(Succeed())
			t.Cleanup(func() { g.Expect(removeGroups(top)).To(Succeed()) })
			process := exec.CommandContext(t.Context(), "sleep", "1000")
			g.Expect(process.Start()).To(Succeed())
			var groups []string
			nest(t, top, tooDeep, func(folder int) {
				kept, err := unix.Dup(folder)
				g.Expect(err).NotTo(HaveOccurred())
				t.Cleanup(func() { g.Expect(unix.Close(kept)).To(Succeed()) })
				groups = append(groups, descriptorPath(kept))
			})
			deepest := groups[len(groups)-1]
			g.Expect(os.WriteFile(filepath.Join(deepest, "cgroup.procs"), []byte(strconv.Itoa(process.Process.Pid)), 0)).To(Succeed())
			state := filepath.Join(deepest, freezer.file)
			g.Expect(os.WriteFile(state, []byte(freezer.freeze), 0)).To(Succeed())
			g.Eventually(os.ReadFile, soon).WithArguments(state).Should(BeEquivalentTo(freezer.freeze + "\n"))
			g.Expect(thawGroups(top, freezer.file, freezer.thaw)).To(Succeed())
			g.Eventually(os.ReadFile, soon).WithArguments(state).Should(BeEquivalentTo(freezer.thaw + "\n"))

			g.Expect(removeGroups(top)).To(MatchError(unix.EBUSY), "a process is in it")
			g.Expect(process.Process.Kill()).To(Succeed())
			g.Expect(process.Wait()).NotTo(Succeed())
			g.Expect(removeGroups(top)).To(Succeed())
			g.Expect(top).NotTo(BeAnExistingFile())
		})
	}
	NewWithT(t).Expect(tried).NotTo(BeZero())
}
