//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"net/netip"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// A daemon that is killed at any moment can use, and remove, what it has made.
func TestTheHostNeverHasAnInterfaceWithoutItsMark(t *testing.T) {
	g := NewWithT(t)
	options := Options{
		Name: "foomark0", Network: netip.MustParsePrefix("10.91.251.0/28"), Gateway: netip.MustParseAddr("10.91.251.1"),
		Host: netip.MustParseAddr("10.91.251.2"), Alias: "foocloud test", Space: filepath.Join(t.TempDir(), "network"),
	}
	t.Cleanup(func() { g.Expect(Remove(options)).To(Succeed()) })
	changes, done := make(chan netlink.LinkUpdate, 1000), make(chan struct{})
	defer close(done)
	g.Expect(netlink.LinkSubscribe(changes, done)).To(Succeed())
	bridge, err := Ensure(options)
	g.Expect(err).NotTo(HaveOccurred())
	up := false
	for !up {
		change := <-changes
		if attrs := change.Attrs(); attrs.Name == options.Name {
			g.Expect(attrs.Alias).To(Equal(options.Alias))
			up = change.Flags&unix.IFF_UP != 0
		}
	}
	g.Expect(bridge.Close()).To(Succeed())
}

// An end may be left alone if somebody moved or renamed the other one.
func TestAPortWithoutItsOtherEndIsReplaced(t *testing.T) {
	g := NewWithT(t)
	options := Options{
		Name: "foomark1", Network: netip.MustParsePrefix("10.91.250.0/28"), Gateway: netip.MustParseAddr("10.91.250.1"),
		Host: netip.MustParseAddr("10.91.250.2"), Alias: "foocloud test", Space: filepath.Join(t.TempDir(), "network"),
	}
	t.Cleanup(func() { g.Expect(Remove(options)).To(Succeed()) })
	for range 2 {
		bridge, err := Ensure(options)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(bridge.Close()).To(Succeed())
		link, err := netlink.LinkByName(options.Name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(netlink.LinkSetDown(link)).To(Succeed(), "some kernels rename nothing that is up")
		g.Expect(netlink.LinkSetName(link, "foomark2")).To(Succeed())
	}
	bridge, err := Ensure(options)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bridge.Close()).To(Succeed())
}

// v0.1.0 had its bridge on the host.
func TestTheBridgeOfAnEarlierVersionIsRemovedOnlyWithItsCloud(t *testing.T) {
	g := NewWithT(t)
	options := Options{
		Name: "foomark3", Network: netip.MustParsePrefix("10.91.249.0/28"), Gateway: netip.MustParseAddr("10.91.249.1"),
		Host: netip.MustParseAddr("10.91.249.2"), Alias: "foocloud test", Space: filepath.Join(t.TempDir(), "network"),
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = options.Name
	earlier := &netlink.Bridge{LinkAttrs: attrs}
	g.Expect(netlink.LinkAdd(earlier)).To(Succeed())
	t.Cleanup(func() { _ = netlink.LinkDel(earlier) })
	g.Expect(Check(options)).To(MatchError(ContainSubstring("was not created by this state folder")))
	g.Expect(netlink.LinkSetAlias(earlier, options.Alias)).To(Succeed())
	g.Expect(Check(options)).To(MatchError(ContainSubstring("earlier version")))
	bridge, err := Restore(options)
	g.Expect(err).NotTo(HaveOccurred(), "so that the cloud can be removed")
	g.Expect(bridge.Close()).To(Succeed())
	g.Expect(Remove(options)).To(Succeed())
	_, err = netlink.LinkByName(options.Name)
	g.Expect(isMissing(err)).To(BeTrue(), "%v", err)
}

func TestACloudIsRemovedWhileAnotherHasItsInterfacesName(t *testing.T) {
	g := NewWithT(t)
	options := Options{
		Name: "foomark4", Network: netip.MustParsePrefix("10.91.248.0/28"), Gateway: netip.MustParseAddr("10.91.248.1"),
		Host: netip.MustParseAddr("10.91.248.2"), Alias: "foocloud test", Space: filepath.Join(t.TempDir(), "network"),
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = options.Name
	other := &netlink.Bridge{LinkAttrs: attrs}
	g.Expect(netlink.LinkAdd(other)).To(Succeed())
	t.Cleanup(func() { g.Expect(netlink.LinkDel(other)).To(Succeed(), "it is still there") })
	g.Expect(netlink.LinkSetAlias(other, "foocloud other")).To(Succeed())
	_, err := Ensure(options)
	g.Expect(err).To(MatchError(ContainSubstring("was not created by this state folder")))
	bridge, err := Restore(options)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bridge.Close()).To(Succeed())
	g.Expect(Remove(options)).To(Succeed())
	g.Expect(options.Space).NotTo(BeAnExistingFile())
}
