/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package instance

import (
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
)

// setUpNetwork gives the card its address and default route, and brings it and the loopback up.
func setUpNetwork(c config) error {
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find the loopback: %w", err)
	}
	if err := netlink.LinkSetUp(loopback); err != nil {
		return fmt.Errorf("bring the loopback up: %w", err)
	}
	eth, err := netlink.LinkByName(card)
	if err != nil {
		return fmt.Errorf("find %s: %w", card, err)
	}
	address, err := netlink.ParseAddr(c.Address)
	if err != nil {
		return fmt.Errorf("parse the address %q: %w", c.Address, err)
	}
	if err := netlink.AddrAdd(eth, address); err != nil {
		return fmt.Errorf("give %s the address %s: %w", card, c.Address, err)
	}
	if err := netlink.LinkSetUp(eth); err != nil {
		return fmt.Errorf("bring %s up: %w", card, err)
	}
	route := &netlink.Route{LinkIndex: eth.Attrs().Index, Gw: net.ParseIP(c.Gateway)}
	if err := netlink.RouteAdd(route); err != nil {
		return fmt.Errorf("set the default route to %s: %w", c.Gateway, err)
	}
	return nil
}
