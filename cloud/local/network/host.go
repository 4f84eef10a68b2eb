// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/thread"
)

// hostPort is the name of the bridge's port that leads to the host.
const hostPort = "host"

// Check returns an error that names the conflict if the interface's name or the network is already
// in use by others; see CheckFree.
func Check(options Options) error {
	link, err := findHost(options)
	if err != nil {
		return err
	}
	if link != nil && link.Type() != "veth" {
		return fmt.Errorf("interface %s is the %s that an earlier version of foocloud created for this state folder, with its instances and load balancers: "+
			"remove that cloud with `foocloud destroy --state-dir=%s` first", options.Name, link.Type(), filepath.Dir(options.Space))
	}
	return CheckFree(options)
}

// findLink returns the interface with a name, or nil if there is none.
func findLink(name string) (netlink.Link, error) {
	link, err := netlink.LinkByName(name)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for interface %s: %w", name, err)
	}
	return link, nil
}

// findHost returns the host's interface, or nil if it does not exist. It returns an error if
// another interface has its name.
func findHost(options Options) (netlink.Link, error) {
	link, err := findLink(options.Name)
	if err == nil && link != nil && link.Attrs().Alias != options.Alias {
		return nil, fmt.Errorf("interface %s exists (type %s) and was not created by this state folder: choose another name with --bridge, or remove it with `ip link delete %s` if nothing needs it",
			options.Name, link.Type(), options.Name)
	}
	return link, err
}

// connectHost connects the host to the bridge. The host is the gateway to what lies beyond the
// cloud.
func (b *Bridge) connectHost() error {
	link, err := findHost(b.options)
	if err != nil {
		return err
	}
	port, err := b.space.LinkByName(hostPort)
	if err != nil && !isMissing(err) {
		return fmt.Errorf("look for the bridge's port to the host: %w", err)
	}
	if link == nil || port == nil {
		if link, port, err = b.addHost(); err != nil {
			return err
		}
	}
	address := addressOf(netip.PrefixFrom(b.options.Host, b.options.Network.Bits()))
	if err := errors.Join(
		b.space.LinkSetMaster(port, b.link()), b.space.LinkSetUp(port),
		netlink.AddrReplace(link, address), netlink.LinkSetUp(link),
	); err != nil {
		return fmt.Errorf("connect interface %s to the bridge: %w", b.options.Name, err)
	}
	if err := b.space.RouteReplace(&netlink.Route{LinkIndex: b.index, Gw: b.options.Host.AsSlice()}); err != nil {
		return fmt.Errorf("set the default route of the cloud's network namespace: %w", err)
	}
	return nil
}

// addHost creates the pair of interfaces, and returns the host's end and the bridge's end. The
// host's end gets its mark in a namespace that lasts no longer than this call. So a daemon that is
// killed in between leaves the host no interface without a mark.
func (b *Bridge) addHost() (link, port netlink.Link, err error) {
	// One end may be left of a pair whose other end was in a namespace that is gone.
	if err := errors.Join(disconnectHost(b.options), b.removePort()); err != nil {
		return nil, nil, err
	}
	host, err := netns.Get()
	if err != nil {
		return nil, nil, fmt.Errorf("open the host's network namespace: %w", err)
	}
	defer func() { _ = host.Close() }()
	if err := thread.Spend(func() error { return b.makePair(host) }); err != nil {
		return nil, nil, fmt.Errorf("make interface %s: %w", b.options.Name, err)
	}
	if link, err = netlink.LinkByName(b.options.Name); err != nil {
		return nil, nil, fmt.Errorf("find interface %s: %w", b.options.Name, err)
	}
	if port, err = b.space.LinkByName(hostPort); err != nil {
		return nil, nil, fmt.Errorf("find the bridge's port to the host: %w", err)
	}
	return link, port, nil
}

// makePair creates the pair of interfaces. It leaves the thread in another namespace.
func (b *Bridge) makePair(host netns.NsHandle) error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("make a network namespace: %w", err)
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = b.options.Name
	attrs.HardwareAddr = hardwareAddress(b.options.Host)
	pair := &netlink.Veth{LinkAttrs: attrs, PeerName: hostPort, PeerNamespace: netlink.NsFd(b.space.ns)}
	if err := netlink.LinkAdd(pair); err != nil {
		return err
	}
	if err := netlink.LinkSetAlias(pair, b.options.Alias); err != nil {
		return fmt.Errorf("mark it: %w", err)
	}
	if err := netlink.LinkSetNsFd(pair, int(host)); err != nil {
		return fmt.Errorf("give it to the host: %w", err)
	}
	return nil
}

// removePort removes the bridge's port that leads to the host. A missing port is not an error.
func (b *Bridge) removePort() error {
	port, err := b.space.LinkByName(hostPort)
	if isMissing(err) {
		return nil
	}
	if err == nil {
		err = b.space.LinkDel(port)
	}
	if err != nil {
		return fmt.Errorf("remove the bridge's port to the host: %w", err)
	}
	return nil
}

// disconnectHost removes the host's interface, and with it the bridge's port. A missing interface
// is not an error, even if another cloud's has its name.
func disconnectHost(options Options) error {
	link, err := findLink(options.Name)
	if err != nil || link == nil || link.Attrs().Alias != options.Alias {
		return err
	}
	if err := netlink.LinkDel(link); err != nil {
		return fmt.Errorf("remove interface %s: %w", options.Name, err)
	}
	return nil
}

// listAttempts is how often a list is asked for.
const listAttempts = 20

// whole asks the kernel for a list again if something changed while it was answering, because the
// list may lack something then.
func whole[T any](list func() ([]T, error)) (found []T, err error) {
	for range listAttempts {
		if found, err = list(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	return found, err
}
