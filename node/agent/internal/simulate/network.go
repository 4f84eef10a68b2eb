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

package simulate

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

const tableName = "foo-simulated-pods"

// Offsets and lengths of the destination address in an IP header.
const (
	destinationOffset4 = 16
	destinationOffset6 = 24
)

// Network routes the pods' ranges to the instance itself, and their TCP ports to one port.
type Network struct {
	port uint16

	mu     sync.Mutex
	ranges []netip.Prefix
}

// NewNetwork returns a network that redirects to the port.
func NewNetwork(port uint16) *Network { return &Network{port: port} }

// Serve serves the ranges besides those that were served before, which pods may still have addresses of. The error says what
// does not work; the rest does.
func (n *Network) Serve(ranges []netip.Prefix) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, prefix := range ranges {
		if !slices.Contains(n.ranges, prefix) {
			n.ranges = append(n.ranges, prefix)
		}
	}
	return errors.Join(route(ranges), n.redirect(n.ranges))
}

// route makes the kernel take the addresses of the ranges for its own.
func route(ranges []netip.Prefix) error {
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("route of simulated pods: %w", err)
	}
	for _, prefix := range ranges {
		err := netlink.RouteReplace(&netlink.Route{
			LinkIndex: loopback.Attrs().Index,
			Dst:       &net.IPNet{IP: prefix.Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen())},
			Table:     unix.RT_TABLE_LOCAL,
			Type:      unix.RTN_LOCAL,
			Scope:     netlink.SCOPE_HOST,
		})
		if err != nil {
			return fmt.Errorf("route of simulated pods to %s: %w", prefix, err)
		}
	}
	return nil
}

// redirect sends TCP connections to the ranges, from inside and outside of the instance, to the port.
func (n *Network) redirect(ranges []netip.Prefix) error {
	conn, err := nftables.New()
	if err != nil {
		return fmt.Errorf("nftables: %w", err)
	}
	// Adding before deleting makes the deletion right whether the table was there or not.
	conn.AddTable(table())
	conn.DelTable(table())
	added := conn.AddTable(table())
	hooks := map[string]*nftables.ChainHook{"output": nftables.ChainHookOutput, "prerouting": nftables.ChainHookPrerouting}
	for name, hook := range hooks {
		chain := conn.AddChain(&nftables.Chain{
			Name:     name,
			Table:    added,
			Type:     nftables.ChainTypeNAT,
			Hooknum:  hook,
			Priority: nftables.ChainPriorityNATDest,
		})
		for _, prefix := range ranges {
			conn.AddRule(&nftables.Rule{Table: added, Chain: chain, Exprs: rule(prefix, n.port)})
		}
	}
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("nftables (probes of simulated containers stay unanswered): %w", err)
	}
	return nil
}

func table() *nftables.Table {
	return &nftables.Table{Name: tableName, Family: nftables.TableFamilyINet}
}

// rule is "<ip or ip6> daddr <prefix> meta l4proto tcp redirect to :<port>".
func rule(prefix netip.Prefix, port uint16) []expr.Any {
	family, offset := byte(unix.NFPROTO_IPV4), uint32(destinationOffset4)
	if prefix.Addr().Is6() {
		family, offset = unix.NFPROTO_IPV6, destinationOffset6
	}
	length := uint32(prefix.Addr().BitLen() / 8)
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{family}},
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_TCP}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: offset, Len: length},
		&expr.Bitwise{
			SourceRegister: 1,
			DestRegister:   1,
			Len:            length,
			Mask:           net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen()),
			Xor:            make([]byte, length),
		},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: prefix.Masked().Addr().AsSlice()},
		&expr.Immediate{Register: 1, Data: binaryutil.BigEndian.PutUint16(port)},
		&expr.Redir{RegisterProtoMin: 1},
	}
}
