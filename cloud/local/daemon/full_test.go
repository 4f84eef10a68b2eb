// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/config"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
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

// fill takes all space and all inodes.
func fill(g Gomega, folder string) {
	g.Expect(os.WriteFile(filepath.Join(folder, "fill"), make([]byte, 1<<20), 0o600)).To(MatchError(unix.ENOSPC))
	var err error
	for number := 0; err == nil; number++ {
		err = os.Mkdir(filepath.Join(folder, fmt.Sprintf("fill-%d", number)), 0o700)
	}
	g.Expect(err).To(MatchError(unix.ENOSPC))
}

func TestTheDaemonsFilesOnAFullDisk(t *testing.T) {
	g := NewWithT(t)
	state, agent := ownDisk(t), filepath.Join(t.TempDir(), "agent")
	g.Expect(os.WriteFile(filepath.Join(state, stateFile), nil, 0o600)).To(Succeed())
	install := func(content string) string {
		g.Expect(os.WriteFile(agent, []byte(content), 0o755)).To(Succeed())
		folder, err := Options{StateDir: state, Agent: agent}.agentDir()
		g.Expect(err).NotTo(HaveOccurred())
		return folder
	}
	program := filepath.Join(contract.AgentDir, contract.AgentName)
	old, folder, cut := install("old"), install("one"), install("cut")
	g.Expect(os.Chtimes(filepath.Join(old, program), time.Time{}, time.Now().Add(-time.Hour))).To(Succeed())
	g.Expect(os.Truncate(filepath.Join(cut, program), 0)).To(Succeed(), "the power failed")
	g.Expect(os.WriteFile(filepath.Join(state, lockFile), nil, 0o600)).To(Succeed(), "an earlier daemon emptied it")
	fill(g, state)

	g.Expect(install("one")).To(Equal(folder), "nothing is to be written")
	locked, err := lock(state)
	g.Expect(err).NotTo(HaveOccurred(), "the number in it only helps people")
	g.Expect(locked.Close()).To(Succeed())

	g.Expect(install("two")).To(Equal(folder), "instances that fill the disk can be deleted after an upgrade")
	g.Expect(os.Truncate(filepath.Join(state, "fill"), 8<<10)).To(Succeed())
	for number := range 8 {
		g.Expect(os.Remove(filepath.Join(state, fmt.Sprintf("fill-%d", number)))).To(Succeed())
	}
	g.Expect(install(strings.Repeat("large", 15<<10))).To(Equal(folder), "the copy does not fit")
	g.Expect(filepath.Join(state, agentFolder, "new")).NotTo(BeADirectory(), "a part of it helps nobody")
	g.Expect(os.RemoveAll(old)).To(Succeed())
	g.Expect(os.RemoveAll(folder)).To(Succeed())
	_, err = Options{StateDir: state, Agent: agent}.agentDir()
	g.Expect(err).To(MatchError(unix.ENOSPC), "there is no other agent")
}

// An earlier version made no viewer tokens.
func TestACloudFromBeforeViewerTokensStartsOnAFullDisk(t *testing.T) {
	g := NewWithT(t)
	o, tenant := Options{StateDir: ownDisk(t)}, config.Tenant{Name: config.DefaultTenant}
	g.Expect(os.WriteFile(TokenFile(o.StateDir), []byte("secret"), 0o600)).To(Succeed())
	fill(g, o.StateDir)
	_, _, err := o.tokens(tenant)
	g.Expect(err).To(MatchError(unix.ENOSPC), "a new cloud needs the space")
	g.Expect(os.Rename(filepath.Join(o.StateDir, "fill"), filepath.Join(o.StateDir, stateFile))).To(Succeed())
	full, viewer, err := o.tokens(tenant)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect([]string{full, viewer}).To(Equal([]string{"secret", ""}))
}

// A cloud that exists must be able to start on a full disk.
func TestOnlyANewCloudIsCheckedForRoom(t *testing.T) {
	g := NewWithT(t)
	o := Options{StateDir: ownDisk(t), SystemDir: t.TempDir(), Network: "10.200.0.0/24", Bridge: "foo-unit-test"}
	g.Expect(os.Mkdir(filepath.Join(o.SystemDir, "etc"), 0o700)).To(Succeed())
	fill(g, o.StateDir)
	g.Expect(os.Rename(filepath.Join(o.StateDir, "fill"), filepath.Join(o.StateDir, stateFile))).To(Succeed())
	full := Or(MatchError(ContainSubstring("of free space")), MatchError(unix.ENOSPC))
	g.Expect(o.checkHost(t.Context())).To(full)
	o.Restart = true
	g.Expect(o.checkHost(t.Context())).NotTo(full)
}

// Who cannot start the daemon cannot delete instances, which are what fills the disk.
func TestOnlyANewCloudNeedsSpace(t *testing.T) {
	g := NewWithT(t)
	system := t.TempDir()
	c := &checked{Options: Options{StateDir: ownDisk(t), SystemDir: system, UserNamespaces: UserNamespacesOn}}
	fill(g, c.StateDir)
	g.Expect(c.checkRoot()).To(MatchError(unix.ENOSPC))
	g.Expect(c.checkUsers()).To(MatchError(unix.ENOSPC))
	g.Expect(c.noDisks(t.Context())).To(ContainSubstring(unix.ENOSPC.Error()))

	g.Expect(os.Rename(filepath.Join(c.StateDir, "fill"), filepath.Join(c.StateDir, stateFile))).To(Succeed())
	g.Expect(c.full(fmt.Errorf("write to it: %w", unix.EROFS))).To(BeTrue())
	for _, users := range []string{UserNamespacesOn, UserNamespacesAuto} {
		c.UserNamespaces, c.userNamespaces = users, false
		g.Expect(c.checkRoot()).To(Succeed())
		g.Expect(c.checkUsers()).To(Succeed())
		g.Expect(c.userNamespaces).To(BeTrue(), "instances are not less separate because the disk was full")
		g.Expect(c.noDisks(t.Context())).To(BeEmpty())
	}
}
