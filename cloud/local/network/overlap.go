// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// use is a part of the address space that the host already uses.
type use struct {
	prefix netip.Prefix
	what   string
}

// CheckFree returns an error that names what on the host already uses a part of the network. The
// interface with the given name, if it exists, does not count.
//
// Later, the host may get wider routes, for example to a VPN. The cloud's own route then takes
// precedence. So these do not count for a network that was made before, and nothing does while its
// interface exists: the cloud runs, and must be supervised.
func CheckFree(options Options) error {
	link, err := findLink(options.Name)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(options.Space); err != nil {
		own := 0
		if link != nil {
			own = link.Attrs().Index
		}
		// A default route covers all addresses but does not use them.
		return checkOverlap(options.Network, own, 1, "choose another network with --network, for example 10.78.0.0/16")
	}
	if link != nil {
		return nil
	}
	return checkOverlap(options.Network, 0, options.Network.Bits(), "free it, since a cloud that exists keeps its network")
}

// checkOverlap returns an error that names what on the host already uses a part of the network. The
// interface with the index own does not count, nor does what has a prefix of less than minBits.
func checkOverlap(network netip.Prefix, own, minBits int, remedy string) error {
	uses, err := hostUses(own)
	if err != nil {
		return err
	}
	if found, ok := firstOverlap(network, uses, minBits); ok {
		return fmt.Errorf("network %s is in use: %s has %s; %s", network, found.what, found.prefix, remedy)
	}
	return nil
}

func firstOverlap(network netip.Prefix, uses []use, minBits int) (use, bool) {
	for _, u := range uses {
		if u.prefix.Bits() >= minBits && u.prefix.Overlaps(network) {
			return u, true
		}
	}
	return use{}, false
}

func hostUses(own int) ([]use, error) {
	links, err := whole(netlink.LinkList)
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	addresses, err := whole(func() ([]netlink.Addr, error) { return netlink.AddrList(nil, unix.AF_INET) })
	if err != nil {
		return nil, fmt.Errorf("list addresses: %w", err)
	}
	routes, err := whole(func() ([]netlink.Route, error) { return netlink.RouteList(nil, unix.AF_INET) })
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	u := uses{own: own, names: map[int]string{}}
	for _, link := range links {
		u.names[link.Attrs().Index] = link.Attrs().Name
	}
	for _, address := range addresses {
		u.add(address.IPNet, "interface ", address.LinkIndex)
	}
	for _, route := range routes {
		u.add(route.Dst, "a route by interface ", route.LinkIndex)
	}
	return u.list, nil
}

// uses collects the addresses and routes of all interfaces except own.
type uses struct {
	own   int
	names map[int]string
	list  []use
}

func (u *uses) add(ipnet *net.IPNet, what string, link int) {
	prefix, ok := toPrefix(ipnet)
	if !ok || (link == u.own && link != 0) {
		return
	}
	u.list = append(u.list, use{prefix, what + u.names[link]})
}

func toPrefix(ipnet *net.IPNet) (netip.Prefix, bool) {
	if ipnet == nil {
		return netip.Prefix{}, false
	}
	address, ok := netip.AddrFromSlice(ipnet.IP)
	if !ok {
		return netip.Prefix{}, false
	}
	ones, _ := ipnet.Mask.Size()
	return netip.PrefixFrom(address.Unmap(), ones), true
}
