// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"os"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// ownDisk mounts a small file system in memory, which only this test sees, and returns its folder.
func ownDisk(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	g := NewWithT(t)
	// Never unlocked: the thread ends with the test, and so do its mounts.
	runtime.LockOSThread()
	g.Expect(unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS)).To(Succeed())
	g.Expect(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")).To(Succeed())
	folder := t.TempDir()
	mountIn(g, folder)
	t.Cleanup(func() { g.Expect(unix.Unmount(folder, unix.MNT_DETACH)).To(Succeed()) })
	return folder
}

func mountIn(g Gomega, folder string) {
	g.Expect(unix.Mount("tmpfs", folder, "tmpfs", 0, "size=64k,nr_inodes=64")).To(Succeed())
}
