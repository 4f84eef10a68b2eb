// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"net"
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
	check := func(network, name string) error {
		return CheckFree(Options{Network: netip.MustParsePrefix(network), Name: name, Space: "/does/not/exist"})
	}
	g.Expect(check("127.0.0.0/16", "no-bridge")).To(MatchError(
		"network 127.0.0.0/16 is in use: interface lo has 127.0.0.1/8; choose another network with --network, for example 10.78.0.0/16"))
	g.Expect(check("127.0.0.0/16", "lo")).To(Succeed(), "what a bridge of ours has is no matter")
	g.Expect(check("203.0.113.0/24", "no-bridge")).To(Succeed())
}

// An administrator may connect a VPN to a larger network while a cloud runs. It must start again.
func TestWiderRoutesConcernOnlyNewClouds(t *testing.T) {
	g := NewWithT(t)
	inOwnNetwork(t)
	options := Options{
		Name: "foo0", Network: netip.MustParsePrefix("10.77.0.0/16"), Alias: "foocloud test", Space: filepath.Join(t.TempDir(), "network"),
	}
	vpn := newLink(g, "vpn")
	addRoute(g, vpn, "0.0.0.0/0")
	g.Expect(Check(options)).To(Succeed())
	addRoute(g, vpn, "10.0.0.0/8")
	g.Expect(Check(options)).To(MatchError(
		"network 10.77.0.0/16 is in use: a route by interface vpn has 10.0.0.0/8; choose another network with --network, for example 10.78.0.0/16"))
	g.Expect(os.WriteFile(options.Space, nil, 0o600)).To(Succeed())
	g.Expect(Check(options)).To(Succeed(), "after a restart of the host")
	addRoute(g, vpn, "10.77.3.0/24")
	g.Expect(Check(options)).To(MatchError(
		"network 10.77.0.0/16 is in use: a route by interface vpn has 10.77.3.0/24; free it, since a cloud that exists keeps its network"))
	own := newLink(g, options.Name)
	g.Expect(netlink.LinkSetAlias(own, options.Alias)).To(Succeed())
	g.Expect(Check(options)).To(Succeed(), "it runs")
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

func addRoute(g Gomega, link netlink.Link, network string) {
	_, prefix, err := net.ParseCIDR(network)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: prefix, Scope: netlink.SCOPE_LINK})).To(Succeed())
}
