// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

func TestCheckFree(t *testing.T) {
	g := NewWithT(t)
	loopback := netip.MustParsePrefix("127.0.0.0/16")
	g.Expect(CheckFree(loopback, "no-bridge")).To(MatchError(
		"network 127.0.0.0/16 is in use: interface lo has 127.0.0.1/8; choose another network with --network, for example 10.78.0.0/16"))
	g.Expect(CheckFree(loopback, "lo")).To(Succeed(), "what a bridge of ours has is no matter")
	g.Expect(CheckFree(netip.MustParsePrefix("203.0.113.0/24"), "no-bridge")).To(Succeed())
}

// The first cloud is left without its interface when the host restarts, and the second may start first.
func TestTheInterfaceOfAnotherCloudStays(t *testing.T) {
	g := NewWithT(t)
	inOwnNetwork(t)
	options := Options{Name: "foo0", Alias: "foocloud one", Space: filepath.Join(t.TempDir(), "network")}
	link := newLink(g, options.Name)
	g.Expect(netlink.LinkSetAlias(link, "foocloud two")).To(Succeed())
	g.Expect(Remove(options)).To(Succeed())
	_, err := netlink.LinkByName(options.Name)
	g.Expect(err).NotTo(HaveOccurred())
	options.Alias = "foocloud two"
	g.Expect(Remove(options)).To(Succeed())
	_, err = netlink.LinkByName(options.Name)
	g.Expect(isMissing(err)).To(BeTrue(), "%v", err)
}

// inOwnNetwork gives a test a network namespace of its own.
func inOwnNetwork(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make network namespaces")
	}
	// Never unlocked: the thread ends with the test, and so does its namespace.
	runtime.LockOSThread()
	NewWithT(t).Expect(unix.Unshare(unix.CLONE_NEWNET)).To(Succeed())
}

// newLink makes an interface of the kind that connects a host to its cloud.
func newLink(g Gomega, name string) netlink.Link {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = name
	link := &netlink.Veth{LinkAttrs: attrs, PeerName: name + "-peer"}
	g.Expect(netlink.LinkAdd(link)).To(Succeed())
	g.Expect(netlink.LinkSetUp(link)).To(Succeed())
	return link
}
