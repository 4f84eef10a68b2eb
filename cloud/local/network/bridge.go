// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// CardPrefix is the prefix of the name of the host's end of every instance's card.
const CardPrefix = "foo"

// MaxName is the maximum length of an interface name.
const MaxName = 15

// Options describes the network to create.
type Options struct {
	// Name is the name of the bridge.
	Name string
	// Network is the address range of the cloud.
	Network netip.Prefix
	// Alias marks the bridge as created for this state folder.
	Alias string
}

// Bridge is the cloud's bridge on the host.
type Bridge struct {
	options Options
	index   int
	fence   *fence

	// mending is held while the fence is checked and restored.
	mending sync.Mutex
}

// Check returns an error that names the conflict if the bridge's name or the network is already in
// use by others.
func Check(options Options) error {
	link, err := find(options)
	if err != nil {
		return err
	}
	own := 0
	if link != nil {
		own = link.Attrs().Index
	}
	return checkOverlap(options.Network, own)
}

// Ensure creates the bridge, or adopts the one that an earlier run with the same state folder
// created. Call Check first.
func Ensure(options Options) (*Bridge, error) {
	link, err := find(options)
	if err != nil {
		return nil, err
	}
	if link == nil {
		if link, err = create(options); err != nil {
			return nil, err
		}
	}
	b := &Bridge{options: options, index: link.Attrs().Index, fence: newFence(options, link.Attrs().HardwareAddr)}
	if _, err := b.mend(); err != nil {
		return nil, err
	}
	gateway := netip.PrefixFrom(options.Network.Masked().Addr().Next(), options.Network.Bits())
	if err := b.addAddress(gateway); err != nil {
		return nil, err
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return nil, fmt.Errorf("bring bridge %s up: %w", options.Name, err)
	}
	return b, nil
}

// find returns the bridge, or nil if it does not exist. It returns an error if another interface
// has its name.
func find(options Options) (netlink.Link, error) {
	link, err := netlink.LinkByName(options.Name)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for bridge %s: %w", options.Name, err)
	}
	if link.Type() != "bridge" || link.Attrs().Alias != options.Alias {
		return nil, fmt.Errorf("interface %s exists (type %s) and was not made by this state folder: choose another name with --bridge, or remove it with `ip link delete %s` if nothing needs it",
			options.Name, link.Type(), options.Name)
	}
	return link, nil
}

func create(options Options) (netlink.Link, error) {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = options.Name
	attrs.HardwareAddr = randomAddress()
	bridge := &netlink.Bridge{LinkAttrs: attrs}
	if err := netlink.LinkAdd(bridge); err != nil {
		return nil, fmt.Errorf("make bridge %s: %w", options.Name, err)
	}
	if err := netlink.LinkSetAlias(bridge, options.Alias); err != nil {
		return nil, errors.Join(fmt.Errorf("mark bridge %s: %w", options.Name, err), netlink.LinkDel(bridge))
	}
	return bridge, nil
}

// randomAddress returns a hardware address for a bridge. Without an address of its own, a bridge
// uses that of one of its cards and changes it when that card is removed. Instances would then keep
// sending to an address that no longer exists until they notice.
func randomAddress() net.HardwareAddr {
	const group, local = 1, 2
	address := make(net.HardwareAddr, 6)
	_, _ = rand.Read(address) // documented never to fail
	address[0] = address[0]&^group | local
	return address
}

// Remove removes the bridge of a state folder and the cards on it. A missing bridge is not an
// error.
func Remove(options Options) error {
	link, err := find(options)
	if err != nil {
		return err
	}
	fence := newFence(options, nil)
	if link == nil {
		return fence.end()
	}
	b := &Bridge{options: options, index: link.Attrs().Index, fence: fence}
	if err := errors.Join(b.RemoveStrayCards(nil), fence.end()); err != nil {
		return err
	}
	if err := netlink.LinkDel(link); err != nil {
		return fmt.Errorf("remove bridge %s: %w", options.Name, err)
	}
	return nil
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
	address, err := netlink.ParseAddr(prefix.String())
	if err != nil {
		return fmt.Errorf("parse address %s: %w", prefix, err)
	}
	if err := netlink.AddrReplace(b.link(), address); err != nil {
		return fmt.Errorf("give bridge %s the address %s: %w", b.options.Name, prefix, err)
	}
	return nil
}

// RemoveAddress removes the address of a load balancer from the bridge. A missing address is not an
// error.
func (b *Bridge) RemoveAddress(address string) error {
	parsed, err := netlink.ParseAddr(address + "/32")
	if err != nil {
		return fmt.Errorf("parse address %s: %w", address, err)
	}
	if err := netlink.AddrDel(b.link(), parsed); err != nil && !errors.Is(err, unix.EADDRNOTAVAIL) {
		return fmt.Errorf("take the address %s from bridge %s: %w", address, b.options.Name, err)
	}
	return nil
}

func (b *Bridge) link() netlink.Link {
	return &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: b.options.Name, Index: b.index}}
}

// Card is a network card of an instance: a pair of interfaces.
type Card struct {
	// Name is the name of the host's end, at most MaxName characters.
	Name string
	// PeerName is the name of the instance's end.
	PeerName string
	// PID is the ID of a process in the instance's network namespace.
	PID int
	// Address is the address of the instance's end, and Gateway the gateway of its default route.
	Address, Gateway netip.Addr
	// Tenant is the owner of the instance, which reaches only instances of the same tenant.
	Tenant string
}

// AddCard creates a card, attaches the host's end to the bridge and puts a fence around it. It
// gives the instance's end its address and default route, and brings up both ends and the
// instance's loopback interface.
func (b *Bridge) AddCard(card Card) error {
	if _, err := b.mend(); err != nil {
		return err
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = card.Name
	attrs.MasterIndex = b.index
	veth := &netlink.Veth{
		LinkAttrs: attrs, PeerName: card.PeerName, PeerNamespace: netlink.NsPid(card.PID), PeerHardwareAddr: hardwareAddress(card.Address),
	}
	if err := netlink.LinkAdd(veth); err != nil {
		return fmt.Errorf("make network card %s: %w", card.Name, err)
	}
	if err := netlink.LinkSetAlias(veth, card.alias()); err != nil {
		return fmt.Errorf("mark network card %s: %w", card.Name, err)
	}
	if err := b.fence.surround(card.Name, card.Address, card.Tenant); err != nil {
		return err
	}
	if err := netlink.LinkSetUp(veth); err != nil {
		return fmt.Errorf("bring network card %s up: %w", card.Name, err)
	}
	return card.setUp(b.options.Network.Bits())
}

// setUp configures the card inside the instance's network namespace.
func (c Card) setUp(bits int) error {
	space, err := netns.GetFromPid(c.PID)
	if err != nil {
		return fmt.Errorf("open the network of process %d: %w", c.PID, err)
	}
	defer func() { _ = space.Close() }()
	inside, err := netlink.NewHandleAt(space)
	if err != nil {
		return fmt.Errorf("enter the network of process %d: %w", c.PID, err)
	}
	defer inside.Close()
	address := &netlink.Addr{IPNet: &net.IPNet{IP: c.Address.AsSlice(), Mask: net.CIDRMask(bits, c.Address.BitLen())}}
	var end netlink.Link
	for _, name := range []string{"lo", c.PeerName} {
		if end, err = inside.LinkByName(name); err != nil {
			return fmt.Errorf("find %s in the instance: %w", name, err)
		}
		if err := inside.LinkSetUp(end); err != nil {
			return fmt.Errorf("bring %s up in the instance: %w", name, err)
		}
	}
	if err := inside.AddrAdd(end, address); err != nil {
		return fmt.Errorf("give %s in the instance the address %s: %w", c.PeerName, c.Address, err)
	}
	route := &netlink.Route{LinkIndex: end.Attrs().Index, Gw: c.Gateway.AsSlice()}
	if err := inside.RouteAdd(route); err != nil {
		return fmt.Errorf("set the instance's default route to %s: %w", c.Gateway, err)
	}
	return nil
}

// RemoveCard removes a card. A missing card is not an error, because the kernel removes it together
// with its instance's network namespace.
func (b *Bridge) RemoveCard(name string) error {
	if err := b.fence.remove(func(card string) bool { return card == name }); err != nil {
		return err
	}
	link, err := netlink.LinkByName(name)
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for network card %s: %w", name, err)
	}
	if err := netlink.LinkDel(link); err != nil && !isMissing(err) && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("remove network card %s: %w", name, err)
	}
	return nil
}

// RemoveStrayCards removes the cards on the bridge that belong to none of the given instances.
func (b *Bridge) RemoveStrayCards(ids []string) error {
	links, err := netlink.LinkList()
	if err != nil {
		return fmt.Errorf("list network cards: %w", err)
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

func isMissing(err error) bool {
	var missing netlink.LinkNotFoundError
	return errors.As(err, &missing)
}
