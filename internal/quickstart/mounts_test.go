// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// withOwnMounts runs the test again, in a process whose mounts nobody else sees. It reports whether
// this is that process.
func withOwnMounts(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	const variable = "FOO_TEST_OWN_MOUNTS"
	if os.Getenv(variable) != "" {
		return true
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	command.Env, command.SysProcAttr = append(os.Environ(), variable+"=1"), &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	output, err := command.CombinedOutput()
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), string(output))
	return false
}

// mountDisk mounts a small disk at a new folder.
func mountDisk(t *testing.T, size string) string {
	t.Helper()
	g := NewWithT(t)
	folder := t.TempDir()
	g.Expect(unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size="+size)).To(Succeed())
	t.Cleanup(func() { g.Expect(unix.Unmount(folder, 0)).To(Succeed()) })
	return folder
}

// fill fills the disk of a folder.
func fill(t *testing.T, folder string) {
	t.Helper()
	NewWithT(t).Expect(os.WriteFile(filepath.Join(folder, "large"), make([]byte, 1<<20), 0o600)).To(MatchError(unix.ENOSPC))
}

// The user's mount or link stays when everything in it is deleted.
func TestDeletionOfADiskOrLink(t *testing.T) {
	if !withOwnMounts(t) {
		return
	}
	folder, ext4, link := mountDisk(t, "64k"), mountDisk(t, "64k"), filepath.Join(t.TempDir(), "state")
	NewWithT(t).Expect(os.Symlink(t.TempDir(), link)).To(Succeed())
	NewWithT(t).Expect(os.Mkdir(filepath.Join(ext4, "lost+found"), 0o700)).To(Succeed())
	for name, stateDir := range map[string]string{"disk": folder, "disk with ext4": ext4, "link": link} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			config := validConfig(stateDir)
			config.BinDir = t.TempDir()
			g.Expect(os.WriteFile(config.program("foocloud"), []byte("#!/bin/sh\n"), 0o700)).To(Succeed())
			state, err := openState(config)
			g.Expect(err).NotTo(HaveOccurred())
			state.close()
			g.Expect(config.kept()).To(BeFalse(), "nothing was created")
			g.Expect(Remove(t.Context(), config, io.Discard)).To(Succeed())
			g.Expect(config.removed()).To(BeTrue())
			g.Expect(stateDir).To(BeADirectory())
		})
	}
}

// The user's kubectl must be able to read what is written once there is room.
func TestFullHomeOfTheUserWhoRunsSudo(t *testing.T) {
	if !withOwnMounts(t) {
		return
	}
	g := NewWithT(t)
	home := mountDisk(t, "64k")
	fill(t, home)
	t.Setenv("KUBECONFIG", "")
	t.Setenv("SUDO_UID", "65534")
	t.Setenv("SUDO_GID", "65534")
	g.Expect(mergeKubeconfig(kubeconfigFiles("", home), "foo-demo", DefaultStateDir, administrator(t, "https://a"))).To(MatchError(unix.ENOSPC))
	var folder unix.Stat_t
	g.Expect(unix.Stat(filepath.Join(home, ".kube"), &folder)).To(Succeed())
	g.Expect(folder.Uid).To(BeEquivalentTo(65534))
}

// What fills a disk can be deleted.
func TestDeletionOnAFullDisk(t *testing.T) {
	if !withOwnMounts(t) {
		return
	}
	g := NewWithT(t)
	folder := mountDisk(t, "64k")
	config := validConfig(filepath.Join(folder, "state"))
	config.BinDir = t.TempDir()
	g.Expect(os.WriteFile(config.program("foocloud"), []byte("#!/bin/sh\n"), 0o700)).To(Succeed())
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	state.close()
	g.Expect(os.Truncate(filepath.Join(config.StateDir, lockFile), 0)).To(Succeed())
	fill(t, folder)
	g.Expect(Delete(t.Context(), config)).To(Succeed())
	g.Expect(config.StateDir).NotTo(BeADirectory())
}

// A full disk shows in the answer of a program or in its log. But a log may be old, or tell of another limit.
func TestFailureOnAFullDisk(t *testing.T) {
	if !withOwnMounts(t) {
		return
	}
	say := newPrinter(io.Discard)
	const full = "the disk is full: free some space"
	answer, slow := errors.New("rpc error: write x: no space left on device"), &FailedError{Reason: "the cluster is not available"}
	for size, want := range map[string]string{"64m": full + "; look", "2g": "look"} {
		t.Run(size, func(t *testing.T) {
			g := NewWithT(t)
			config := validConfig(mountDisk(t, size))
			g.Expect(os.Mkdir(config.logDir(), 0o700)).To(Succeed())
			g.Expect(explain(config, answer, say, "look").Advice).To(Equal(want))
			g.Expect(explain(config, slow, say, "look").Advice).To(Equal("look"))
			g.Expect(os.WriteFile(filepath.Join(config.logDir(), "manager.log"), []byte("E1121 write x: no space left on device\n"), 0o600)).To(Succeed())
			g.Expect(explain(config, slow, say, "look").Advice).To(Equal(want))
		})
	}

	g := NewWithT(t)
	config := validConfig(mountDisk(t, "2m"))
	g.Expect(config.notBegun(t.Context(), errStarting, "")).To(Equal(errStarting))
	g.Expect(config.notBegun(t.Context(), answer, "")).To(MatchError(answer.Error() + "; " + full))
	g.Expect(os.WriteFile(filepath.Join(config.StateDir, "large"), make([]byte, 3<<19), 0o600)).To(Succeed())
	g.Expect(explain(config, slow, say, "look").Advice).To(Equal(full+"; look"), "programs become slow")
	g.Expect(config.followed(t.Context(), slow, say)).To(HaveField("Advice", HaveSuffix("delete the cluster with: "+config.DeleteCommand())))
}

// A full disk costs the user nothing.
func TestFullDiskKeepsTheUsersKubeconfig(t *testing.T) {
	if !withOwnMounts(t) {
		return
	}
	g := NewWithT(t)
	folder := mountDisk(t, "16k")
	file := filepath.Join(folder, "config")
	before := administrator(t, "https://"+strings.Repeat("a", 3600)) // another entry needs another page
	g.Expect(os.WriteFile(file, before, 0o600)).To(Succeed())
	fill(t, folder)
	g.Expect(mergeKubeconfig(kubeconfigFiles(file, ""), "foo-demo", DefaultStateDir, administrator(t, "https://a"))).To(MatchError(unix.ENOSPC))
	g.Expect(os.ReadFile(file)).To(Equal(before))
	g.Expect(os.ReadDir(folder)).To(HaveLen(2), "nothing else is left")
}

// A file that a container mounts by itself cannot be replaced.
func TestMountedKubeconfig(t *testing.T) {
	if !withOwnMounts(t) {
		return
	}
	g := NewWithT(t)
	outside, inside := filepath.Join(t.TempDir(), "config"), filepath.Join(t.TempDir(), "config")
	g.Expect(errors.Join(os.WriteFile(outside, nil, 0o600), os.WriteFile(inside, nil, 0o600))).To(Succeed())
	g.Expect(unix.Mount(outside, inside, "", unix.MS_BIND, "")).To(Succeed())
	t.Cleanup(func() { g.Expect(unix.Unmount(inside, 0)).To(Succeed()) })
	g.Expect(mergeKubeconfig(kubeconfigFiles(inside, ""), "foo-demo", DefaultStateDir, administrator(t, "https://a"))).To(Succeed())
	g.Expect(os.ReadFile(outside)).To(ContainSubstring("foo-demo"))
	g.Expect(os.ReadDir(filepath.Dir(inside))).To(HaveLen(1), "nothing else is left")
}
