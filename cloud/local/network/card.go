// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// CardPrefix is the prefix of the name of the bridge's end of every instance's card.
const CardPrefix = "foo"

// MaxName is the maximum length of an interface name.
const MaxName = 15

// Card is a network card of an instance: a pair of interfaces.
type Card struct {
	// Name is the name of the bridge's end, at most MaxName characters.
	Name string
	// PeerName is the name of the instance's end.
	PeerName string
	// PID is the ID of a process in the instance's network namespace.
	PID int
	// Address is the address of the instance's end.
	Address netip.Addr
	// Tenant is the owner of the instance, which reaches only instances of the same tenant.
	Tenant string
}

// AddCard creates a card, attaches it to the bridge and puts a fence around it. It gives the
// instance's end its address and a default route to the host, and brings up both ends and the
// instance's loopback interface.
func (b *Bridge) AddCard(card Card) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = card.Name
	attrs.MasterIndex = b.index
	veth := &netlink.Veth{
		LinkAttrs: attrs, PeerName: card.PeerName, PeerNamespace: netlink.NsPid(card.PID), PeerHardwareAddr: hardwareAddress(card.Address),
	}
	if err := b.space.LinkAdd(veth); err != nil {
		return fmt.Errorf("create network interface %s: %w", card.Name, err)
	}
	if err := b.fence.surround(card.Name, card.Address, card.Tenant); err != nil {
		return err
	}
	if err := b.space.LinkSetUp(veth); err != nil {
		return fmt.Errorf("bring network interface %s up: %w", card.Name, err)
	}
	return card.setUp(b.options)
}

// setUp configures the card inside the instance's network namespace.
func (c Card) setUp(options Options) error {
	ns, err := netns.GetFromPid(c.PID)
	if err != nil {
		return fmt.Errorf("open the network of process %d: %w", c.PID, err)
	}
	defer func() { _ = ns.Close() }()
	inside, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("enter the network of process %d: %w", c.PID, err)
	}
	defer inside.Close()
	var end netlink.Link
	for _, name := range []string{"lo", c.PeerName} {
		if end, err = inside.LinkByName(name); err != nil {
			return fmt.Errorf("find %s in the instance: %w", name, err)
		}
		if err := inside.LinkSetUp(end); err != nil {
			return fmt.Errorf("bring %s up in the instance: %w", name, err)
		}
	}
	if err := inside.AddrAdd(end, addressOf(netip.PrefixFrom(c.Address, options.Network.Bits()))); err != nil {
		return fmt.Errorf("give %s in the instance the address %s: %w", c.PeerName, c.Address, err)
	}
	if err := inside.RouteAdd(&netlink.Route{LinkIndex: end.Attrs().Index, Gw: options.Host.AsSlice()}); err != nil {
		return fmt.Errorf("set the instance's default route to %s: %w", options.Host, err)
	}
	return nil
}

// RemoveCard removes a card. A missing card is not an error, because the kernel removes it together
// with its instance's network namespace.
func (b *Bridge) RemoveCard(name string) error {
	if err := b.fence.remove(func(card string) bool { return card == name }); err != nil {
		return err
	}
	link, err := b.space.LinkByName(name)
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for network interface %s: %w", name, err)
	}
	if err := b.space.LinkDel(link); err != nil && !isMissing(err) && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("remove network interface %s: %w", name, err)
	}
	return nil
}

// RemoveStrayCards removes the cards on the bridge that belong to none of the given instances.
func (b *Bridge) RemoveStrayCards(ids []string) error {
	links, err := whole(b.space.LinkList)
	if err != nil {
		return fmt.Errorf("list network interfaces: %w", err)
	}
	known := map[string]bool{}
	for _, id := range ids {
		known[CardPrefix+id] = true
	}
	if err := b.fence.remove(func(card string) bool { return !known[card] }); err != nil {
		return err
	}
	for _, link := range links {
		attrs := link.Attrs()
		stray := attrs.MasterIndex == b.index && strings.HasPrefix(attrs.Name, CardPrefix) && !known[attrs.Name]
		if !stray {
			continue
		}
		if err := b.RemoveCard(attrs.Name); err != nil {
			return err
		}
	}
	return nil
}
