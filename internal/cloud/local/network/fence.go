// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// fence is the packet filter around the cards of instances: an nftables table that has, for each card, a chain for what its instance
// sends and one for what its instance receives.
//
// An instance sends only as itself: with the hardware address and the IP address that it was given, or with an address of a pod, which
// is in no network of the cloud. It receives only from instances of its own tenant and from the host, broadcasts too.
type fence struct {
	// name and bridge are the name and the hardware address of the bridge.
	name    string
	bridge  net.HardwareAddr
	network netip.Prefix
	table   *nftables.Table
	// owners maps the hardware address of each card to the digest of its tenant.
	owners *nftables.Set
}

const (
	// fenceRemedy is how a machine gets what a fence needs.
	fenceRemedy = "load it with `modprobe -a nf_tables nft_fib_netdev nft_fib_ipv4`, or run a kernel (5.17 or newer) that is built with " +
		"CONFIG_NF_TABLES_NETDEV, CONFIG_NETFILTER_INGRESS, CONFIG_NETFILTER_EGRESS and CONFIG_NFT_FIB_NETDEV"
	sendsSuffix, receivesSuffix = "-sends", "-receives"
	// digestSize is that of one register of nftables.
	digestSize = 16
	register   = unix.NFT_REG_1
)

// hardwareAddress returns that of the card with an IP address: one that is administered locally, and the same whenever the address is
// given again, so that what others remember of it stays true.
func hardwareAddress(address netip.Addr) net.HardwareAddr {
	four := address.As4()
	return net.HardwareAddr{0x02, 0xf0, four[0], four[1], four[2], four[3]}
}

// newFence returns the fence of a bridge. It is not there before it is made.
func newFence(options Options, bridge net.HardwareAddr) *fence {
	// No two bridges have the same name.
	table := &nftables.Table{Name: "foocloud-" + options.Name, Family: nftables.TableFamilyNetdev}
	return &fence{name: options.Name, bridge: bridge, network: options.Network.Masked(), table: table, owners: &nftables.Set{
		Table: table, Name: "owners", IsMap: true, KeyType: nftables.TypeEtherAddr,
		DataType: nftables.TypeIP6Addr, // nftables knows no type for digests; this one is as long
	}}
}

func (f *fence) exists() (bool, error) {
	conn, err := nftables.New()
	if err != nil {
		return false, fmt.Errorf("open nftables: %w", err)
	}
	tables, err := conn.ListTablesOfFamily(f.table.Family)
	if err != nil {
		return false, fmt.Errorf("list the tables of nftables: %w", err)
	}
	return slices.ContainsFunc(tables, func(table *nftables.Table) bool { return table.Name == f.table.Name }), nil
}

// make makes the table, and tries on the bridge's own interface whether the kernel knows such rules.
func (f *fence) make() error {
	conn, err := nftables.New()
	if err != nil {
		return fmt.Errorf("open nftables: %w", err)
	}
	conn.AddTable(f.table)
	if err := conn.AddSet(f.owners, nil); err != nil {
		return fmt.Errorf("make the map of tenants: %w", err)
	}
	trial := f.chains(f.name)
	f.add(conn, trial, f.network.Addr(), "")
	for _, chain := range trial {
		conn.FlushChain(chain)
		conn.DelChain(chain)
	}
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("try the packet filter that separates instances: nftables: %w: %s", err, fenceRemedy)
	}
	return nil
}

// end removes the table. One that is not there is no error.
func (f *fence) end() error {
	conn, err := nftables.New()
	if err != nil {
		return fmt.Errorf("open nftables: %w", err)
	}
	conn.DelTable(f.table)
	if err := conn.Flush(); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove the packet filter %s: %w", f.table.Name, err)
	}
	return nil
}

// chains returns the two of a card.
func (f *fence) chains(card string) []*nftables.Chain {
	drop := nftables.ChainPolicyDrop
	chain := func(suffix string, hook *nftables.ChainHook) *nftables.Chain {
		return &nftables.Chain{
			Name: card + suffix, Table: f.table, Type: nftables.ChainTypeFilter, Hooknum: hook,
			Priority: nftables.ChainPriorityFilter, Policy: &drop, Device: card,
		}
	}
	return []*nftables.Chain{chain(sendsSuffix, nftables.ChainHookIngress), chain(receivesSuffix, nftables.ChainHookEgress)}
}

// surround puts the fence around a card.
func (f *fence) surround(card string, address netip.Addr, tenant string) error {
	conn, err := nftables.New()
	if err != nil {
		return fmt.Errorf("open nftables: %w", err)
	}
	owner := []nftables.SetElement{{Key: hardwareAddress(address), Val: digest(tenant)}}
	// An earlier card of the address may have been another tenant's.
	if err := conn.SetDeleteElements(f.owners, owner); err != nil {
		return fmt.Errorf("forget the tenant of %s: %w", address, err)
	}
	if err := conn.Flush(); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("forget the tenant of %s: %w", address, err)
	}
	f.add(conn, f.chains(card), address, tenant)
	if err := conn.SetAddElements(f.owners, owner); err != nil {
		return fmt.Errorf("note the tenant of %s: %w", address, err)
	}
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("filter the packets of network card %s: %w", card, err)
	}
	return nil
}

// remove removes the chains of some cards.
func (f *fence) remove(some func(card string) bool) error {
	conn, err := nftables.New()
	if err != nil {
		return fmt.Errorf("open nftables: %w", err)
	}
	chains, err := conn.ListChainsOfTableFamily(nftables.TableFamilyNetdev)
	if err != nil {
		return fmt.Errorf("list the chains of nftables: %w", err)
	}
	for _, chain := range chains {
		card := strings.TrimSuffix(strings.TrimSuffix(chain.Name, sendsSuffix), receivesSuffix)
		if chain.Table.Name == f.table.Name && some(card) {
			conn.FlushChain(chain)
			conn.DelChain(chain)
		}
	}
	// The kernel removes some chains with their card, perhaps since they were listed.
	if err := conn.Flush(); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove the packet filter of network cards: %w", err)
	}
	return nil
}

func (f *fence) add(conn *nftables.Conn, chains []*nftables.Chain, address netip.Addr, tenant string) {
	for i, rules := range [][][]expr.Any{f.sends(address), f.receives(tenant)} {
		conn.AddChain(chains[i])
		conn.FlushChain(chains[i])
		for _, exprs := range rules {
			conn.AddRule(&nftables.Rule{Table: f.table, Chain: chains[i], Exprs: exprs})
		}
	}
}

// sends returns the rules for what the instance with an address sends. What none of them accepts is dropped: IPv6, too.
func (f *fence) sends(address netip.Addr) [][]expr.Any {
	own, ip := hardwareAddress(address), address.AsSlice()
	accept, drop := expr.VerdictAccept, expr.VerdictDrop
	return [][]expr.Any{
		rule(drop, not(frameSource, own)),
		rule(drop, is(protocolARP), not(arpHardware, own)),
		rule(accept, is(protocolARP), equals(arpAddress, ip)),
		rule(accept, is(protocolARP), f.outside(arpAddress)),
		// To the host, and by the host to wherever it forwards, only in its own name, and not back into the cloud's network: the host
		// would take the packet to any tenant's instance.
		rule(drop, is(protocolIP), equals(frameTarget, f.bridge), not(ipSource, ip)),
		rule(drop, is(protocolIP), equals(frameTarget, f.bridge), f.inside(ipTarget), notOfHost()),
		rule(accept, is(protocolIP), equals(ipSource, ip)),
		rule(accept, is(protocolIP), f.outside(ipSource)),
	}
}

// receives returns the rules for what an instance of a tenant receives.
func (f *fence) receives(tenant string) [][]expr.Any {
	return [][]expr.Any{
		rule(expr.VerdictAccept, equals(frameSource, f.bridge)),
		rule(expr.VerdictAccept, f.ownedBy(tenant)),
	}
}

func digest(tenant string) []byte {
	sum := sha256.Sum256([]byte(tenant))
	return sum[:digestSize]
}

func rule(verdict expr.VerdictKind, conditions ...[]expr.Any) []expr.Any {
	return append(slices.Concat(conditions...), &expr.Verdict{Kind: verdict})
}

// field is a part of a packet.
type field struct {
	base        expr.PayloadBase
	offset, len uint32
}

// Parts of Ethernet frames, of ARP for IPv4 (RFC 826), and of IPv4 (RFC 791).
var (
	frameTarget = field{expr.PayloadBaseLLHeader, 0, 6}
	frameSource = field{expr.PayloadBaseLLHeader, 6, 6}
	arpHardware = field{expr.PayloadBaseNetworkHeader, 8, 6}
	arpAddress  = field{expr.PayloadBaseNetworkHeader, 14, 4}
	ipSource    = field{expr.PayloadBaseNetworkHeader, 12, 4}
	ipTarget    = field{expr.PayloadBaseNetworkHeader, 16, 4}
)

const (
	protocolIP  = unix.ETH_P_IP
	protocolARP = unix.ETH_P_ARP
)

func (f field) load() expr.Any {
	return &expr.Payload{DestRegister: register, Base: f.base, Offset: f.offset, Len: f.len}
}

func compare(op expr.CmpOp, data []byte) expr.Any {
	return &expr.Cmp{Op: op, Register: register, Data: data}
}

func equals(f field, data []byte) []expr.Any {
	return []expr.Any{f.load(), compare(expr.CmpOpEq, data)}
}

func not(f field, data []byte) []expr.Any {
	return []expr.Any{f.load(), compare(expr.CmpOpNeq, data)}
}

// is compares the protocol of a packet.
func is(protocol uint16) []expr.Any {
	return []expr.Any{&expr.Meta{Key: expr.MetaKeyPROTOCOL, Register: register}, compare(expr.CmpOpEq, binaryutil.BigEndian.PutUint16(protocol))}
}

func (f *fence) inside(address field) []expr.Any  { return f.masked(address, expr.CmpOpEq) }
func (f *fence) outside(address field) []expr.Any { return f.masked(address, expr.CmpOpNeq) }

// masked compares the network of an address with that of the cloud.
func (f *fence) masked(address field, op expr.CmpOp) []expr.Any {
	mask := net.CIDRMask(f.network.Bits(), f.network.Addr().BitLen())
	return []expr.Any{
		address.load(),
		&expr.Bitwise{SourceRegister: register, DestRegister: register, Len: address.len, Mask: mask, Xor: make([]byte, address.len)},
		compare(op, f.network.Addr().AsSlice()),
	}
}

// notOfHost tells that the host does not have the target's address.
func notOfHost() []expr.Any {
	return []expr.Any{
		&expr.Fib{Register: register, ResultADDRTYPE: true, FlagDADDR: true},
		compare(expr.CmpOpNeq, binaryutil.NativeEndian.PutUint32(unix.RTN_LOCAL)),
	}
}

// ownedBy tells that a frame comes from an instance of a tenant.
func (f *fence) ownedBy(tenant string) []expr.Any {
	return []expr.Any{
		frameSource.load(),
		&expr.Lookup{SourceRegister: register, DestRegister: register, IsDestRegSet: true, SetName: f.owners.Name, SetID: f.owners.ID},
		compare(expr.CmpOpEq, digest(tenant)),
	}
}
