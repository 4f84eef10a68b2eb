// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// bridgeName is the name of the bridge in the cloud's namespace.
const bridgeName = "bridge"

// Options describes the network to create.
type Options struct {
	// Name is the name of the interface that connects the host to the cloud.
	Name string
	// Network is the address range of the cloud.
	Network netip.Prefix
	// Gateway is the address of the bridge, and Host the address of the host.
	Gateway, Host netip.Addr
	// Alias marks the host's interface as created for this state folder.
	Alias string
	// Space is the path of the file that the cloud's network namespace is mounted on.
	Space string
}

// Bridge is the cloud's bridge, in a network namespace of its own.
type Bridge struct {
	options Options
	space   *space
	index   int
	fence   *fence
}

// Ensure creates the network, or adopts the one that an earlier run with the same state folder
// created. Call Check first.
func Ensure(options Options) (*Bridge, error) {
	b, err := Restore(options)
	if err != nil {
		return nil, err
	}
	if err := b.connectHost(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Restore does the same as Ensure, except for the host's interface. So a network can be removed
// whatever the host has now.
func Restore(options Options) (*Bridge, error) {
	opened, err := openSpace(options.Space)
	if err != nil {
		return nil, err
	}
	b := &Bridge{options: options, space: opened, fence: newFence(options, opened.ns)}
	for _, step := range []func() error{b.keepPackets, b.ensure, b.fence.ensure} {
		if err := step(); err != nil {
			return nil, errors.Join(err, b.Close())
		}
	}
	return b, nil
}

// Close releases the bridge. The network stays.
func (b *Bridge) Close() error { return b.space.close() }

// Remove removes the network of a state folder. A missing network is not an error.
func Remove(options Options) error {
	return errors.Join(disconnectHost(options), removeSpace(options.Space))
}

// Do runs a function in the cloud's namespace. The sockets that it opens and the processes that it
// starts belong there.
func (b *Bridge) Do(do func() error) error { return b.space.do(do) }

// keepPackets turns off forwarding, which a namespace can inherit from the host. It would pass on
// packets between tenants.
func (b *Bridge) keepPackets() error {
	err := b.Do(func() error { return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("0"), fileMode) })
	if err != nil {
		return fmt.Errorf("turn off forwarding in the cloud's network namespace: %w", err)
	}
	return nil
}

// ensure creates the bridge and brings it up.
func (b *Bridge) ensure() error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = bridgeName
	// Without an address of its own, a bridge takes one from its cards and changes it when
	// that card is removed. Instances would then keep sending to an address that no longer exists.
	attrs.HardwareAddr = hardwareAddress(b.options.Gateway)
	if err := b.space.LinkAdd(&netlink.Bridge{LinkAttrs: attrs}); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("make the bridge: %w", err)
	}
	for _, name := range []string{"lo", bridgeName} {
		link, err := b.space.LinkByName(name)
		if err != nil {
			return fmt.Errorf("find %s in the cloud's network namespace: %w", name, err)
		}
		if err := b.space.LinkSetUp(link); err != nil {
			return fmt.Errorf("bring %s in the cloud's network namespace up: %w", name, err)
		}
		b.index = link.Attrs().Index
	}
	return b.addAddress(netip.PrefixFrom(b.options.Gateway, b.options.Network.Bits()))
}

// AddAddress adds the address of a load balancer to the bridge.
func (b *Bridge) AddAddress(address string) error {
	parsed, err := netip.ParseAddr(address)
	if err != nil {
		return fmt.Errorf("parse address: %w", err)
	}
	return b.addAddress(netip.PrefixFrom(parsed, parsed.BitLen()))
}

func (b *Bridge) addAddress(prefix netip.Prefix) error {
	if err := b.space.AddrReplace(b.link(), addressOf(prefix)); err != nil {
		return fmt.Errorf("give the bridge the address %s: %w", prefix, err)
	}
	return nil
}

// RemoveAddress removes the address of a load balancer from the bridge. A missing address is not an
// error.
func (b *Bridge) RemoveAddress(address string) error {
	parsed, err := netip.ParseAddr(address)
	if err != nil {
		return fmt.Errorf("parse address: %w", err)
	}
	err = b.space.AddrDel(b.link(), addressOf(netip.PrefixFrom(parsed, parsed.BitLen())))
	if err != nil && !errors.Is(err, unix.EADDRNOTAVAIL) {
		return fmt.Errorf("take the address %s from the bridge: %w", address, err)
	}
	return nil
}

func (b *Bridge) link() netlink.Link {
	return &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: bridgeName, Index: b.index}}
}

// addressOf returns the address and the mask of a prefix in the form that netlink takes.
func addressOf(prefix netip.Prefix) *netlink.Addr {
	address := prefix.Addr()
	return &netlink.Addr{IPNet: &net.IPNet{IP: address.AsSlice(), Mask: net.CIDRMask(prefix.Bits(), address.BitLen())}}
}

func isMissing(err error) bool {
	var missing netlink.LinkNotFoundError
	return errors.As(err, &missing)
}
