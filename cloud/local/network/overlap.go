// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// use is a part of the address space that the host already uses.
type use struct {
	prefix netip.Prefix
	what   string
}

// CheckFree returns an error that names what on the host already uses a part of a network. The
// given bridge, if it exists, does not count.
func CheckFree(network netip.Prefix, bridge string) error {
	link, err := netlink.LinkByName(bridge)
	if isMissing(err) {
		return checkOverlap(network, 0)
	}
	if err != nil {
		return fmt.Errorf("look for bridge %s: %w", bridge, err)
	}
	return checkOverlap(network, link.Attrs().Index)
}

// checkOverlap returns an error that names what on the host already uses a part of the network. The
// interface with the index own does not count.
func checkOverlap(network netip.Prefix, own int) error {
	uses, err := hostUses(own)
	if err != nil {
		return err
	}
	if found, ok := firstOverlap(network, uses); ok {
		return fmt.Errorf("network %s is in use: %s has %s; choose another network with --network, for example 10.78.0.0/16", network, found.what, found.prefix)
	}
	return nil
}

func firstOverlap(network netip.Prefix, uses []use) (use, bool) {
	for _, u := range uses {
		// A default route covers all addresses but does not use them.
		if u.prefix.Bits() > 0 && u.prefix.Overlaps(network) {
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
