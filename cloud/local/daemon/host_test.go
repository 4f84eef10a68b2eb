// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

func TestOldKernel(t *testing.T) {
	for release, fits := range map[string]bool{
		"6.1.0-9-amd64": true, "5.17.0": true, "10.0": true, "5.15.0-91-generic": false, "4.19.0": false, "unknown": false,
	} {
		err := kernelFits(release)
		if fits {
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
		} else {
			NewWithT(t).Expect(err).To(MatchError(And(ContainSubstring("Linux "+release), ContainSubstring("boot Linux 5.17 or newer"))))
		}
	}
}

func TestLittleMemory(t *testing.T) {
	g := NewWithT(t)
	g.Expect(memoryFits("MemTotal:       8000000 kB\nMemFree:          100000 kB\nMemAvailable:    1048576 kB\n")).To(Succeed())
	g.Expect(memoryFits("MemTotal:       8000000 kB\nMemAvailable:    1048575 kB\n")).To(MatchError(
		"the host has 1023 MiB of free memory, and a cluster needs 1024 MiB: end other programs, or use a larger host"))
	g.Expect(memoryFits("")).To(Succeed(), "older kernels do not say")
}

// What the agent says that was interrupted is no problem of the machine.
func TestInterruptedCheckOfTheAgent(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	agent, begun := filepath.Join(folder, "agent"), filepath.Join(folder, "begun")
	g.Expect(os.WriteFile(agent, []byte("#!/bin/sh\n> "+begun+"\nexec sleep 1000\n"), 0o700)).To(Succeed())
	ctx, interrupt := context.WithCancel(t.Context())
	checked := make(chan error, 1)
	go func() { checked <- checkAgent(ctx, agent) }()
	g.Eventually(begun, time.Minute).Should(BeAnExistingFile())
	interrupt()
	g.Eventually(checked, time.Minute).Should(Receive(Equal(context.Canceled)))
}

func TestCheckLeavesNothing(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the check needs root")
	}
	g := NewWithT(t)
	parent := t.TempDir()
	err := CheckHost(t.Context(), Options{
		StateDir: filepath.Join(parent, "new", "state"), Network: "10.200.0.0/24", Bridge: "foo-unit-test", SystemDir: "/nowhere", Agent: "/nowhere",
	})
	g.Expect(err).To(MatchError(ContainSubstring("--system-dir")))
	g.Expect(os.ReadDir(parent)).To(BeEmpty())
}

// The daemon would end at once, and its service would start it again and again.
func TestTheInterfaceOfAnotherCloudIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the check needs root")
	}
	g := NewWithT(t)
	// Never unlocked: the thread ends with the test, and so does its namespace.
	runtime.LockOSThread()
	g.Expect(unix.Unshare(unix.CLONE_NEWNET)).To(Succeed())
	options := Options{StateDir: t.TempDir(), Network: "10.77.0.0/16", Bridge: "foo0", SystemDir: "/nowhere", Agent: "/nowhere"}
	check := func() error { return CheckHost(t.Context(), options) }
	refused := MatchError(ContainSubstring("interface foo0 exists (type veth) and was not created by this state folder: choose another name with --bridge"))
	g.Expect(check()).NotTo(refused, "no cloud has the interface")

	attrs := netlink.NewLinkAttrs()
	attrs.Name = options.Bridge
	link := &netlink.Veth{LinkAttrs: attrs, PeerName: "peer"}
	g.Expect(netlink.LinkAdd(link)).To(Succeed())
	g.Expect(check()).To(refused, "it has no mark, and the state folder has no cloud")
	g.Expect(netlink.LinkSetAlias(link, "foocloud other")).To(Succeed())
	g.Expect(check()).To(refused, "the state folder has no cloud")
	g.Expect(filepath.Join(options.StateDir, stateFile)).NotTo(BeAnExistingFile())
	g.Expect(os.WriteFile(filepath.Join(options.StateDir, stateFile), nil, 0o600)).To(Succeed())
	g.Expect(check()).To(refused, "its daemon was killed at once")

	state, err := store.Open(filepath.Join(options.StateDir, stateFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(check()).NotTo(refused, "its daemon runs, and has made the same check")
	g.Expect(state.Close()).To(Succeed())
	g.Expect(check()).To(refused, "its daemon never had a network")
	state, err = store.Open(filepath.Join(options.StateDir, stateFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(state.Update(func(tx *store.Tx) error {
		return tx.PutNetwork(&store.Network{Bridge: options.Bridge, CIDR: options.Network, Alias: "foocloud own"})
	})).To(Succeed())
	g.Expect(state.Close()).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(options.StateDir, spaceFile), nil, 0o600)).To(Succeed())
	g.Expect(check()).To(refused, "the other cloud was faster after a restart of the host")
	g.Expect(netlink.LinkSetAlias(link, "foocloud own")).To(Succeed())
	g.Expect(check()).NotTo(refused, "its daemon has stopped, and its network stays")
	for _, changed := range []Options{{Bridge: "foo0", Network: "10.78.0.0/16"}, {Bridge: "foo1", Network: "10.77.0.0/16"}} {
		changed.StateDir, changed.SystemDir, changed.Agent = options.StateDir, options.SystemDir, options.Agent
		g.Expect(CheckHost(t.Context(), changed)).To(MatchError(And(
			ContainSubstring("was created with --bridge foo0 --network 10.77.0.0/16"), Not(ContainSubstring("free it")))))
	}
	g.Expect(netlink.LinkDel(link)).To(Succeed())
	g.Expect(check()).NotTo(refused, "its network is gone after a restart of the host")
}

func TestFullDisk(t *testing.T) {
	g := NewWithT(t)
	// These file systems have no space at all.
	g.Expect(checkSpace("/proc")).To(MatchError("/proc has 0 MiB of free space, and a cluster needs 1024 MiB: free some, or choose another folder with --state-dir"))
	g.Expect(checkSpace("/nowhere")).To(MatchError(unix.ENOENT))
}
