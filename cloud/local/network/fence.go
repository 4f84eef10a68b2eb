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
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// fence is the packet filter around the cards of instances. It is an nftables table in the cloud's
// namespace with two chains per card: one for what the instance sends, and one for what it receives.
//
// An instance can send only under its own identity: from the hardware address and IP address that
// it was given, or from a pod's address, which is outside the cloud's network. It receives traffic,
// including broadcasts, only from the bridge, from the host and from instances of its own tenant.
type fence struct {
	options Options
	ns      netns.NsHandle
	table   *nftables.Table
	// owners maps the hardware address of each card to the digest of its tenant's name.
	owners *nftables.Set
}

const (
	// fenceRemedy describes how to give a machine what a fence needs.
	fenceRemedy = "load it with `modprobe nf_tables`, or run a kernel (5.17 or newer) that is built with " +
		"CONFIG_NF_TABLES_NETDEV, CONFIG_NETFILTER_INGRESS and CONFIG_NETFILTER_EGRESS"
	sendsSuffix, receivesSuffix = "-sends", "-receives"
	// digestSize is the size in bytes of an nftables register.
	digestSize = 16
	register   = unix.NFT_REG_1
)

// hardwareAddress returns the hardware address of the interface with the given IP address. It is
// locally administered, and stays the same when the IP address is assigned again, so that cached
// entries remain valid.
func hardwareAddress(address netip.Addr) net.HardwareAddr {
	four := address.As4()
	return net.HardwareAddr{0x02, 0xf0, four[0], four[1], four[2], four[3]}
}

// newFence returns the fence in a namespace. Call ensure to create it.
func newFence(options Options, ns netns.NsHandle) *fence {
	table := &nftables.Table{Name: "foocloud", Family: nftables.TableFamilyNetdev}
	return &fence{options: options, ns: ns, table: table, owners: &nftables.Set{
		Table: table, Name: "owners", IsMap: true, KeyType: nftables.TypeEtherAddr,
		DataType: nftables.TypeIP6Addr, // nftables has no type for digests; this one has the same length
	}}
}

func (f *fence) open() (*nftables.Conn, error) {
	conn, err := nftables.New(nftables.WithNetNSFd(int(f.ns)))
	if err != nil {
		return nil, fmt.Errorf("open nftables: %w", err)
	}
	return conn, nil
}

// ensure creates the table if it does not exist. It tries the rules on the bridge's own interface
// to find out whether the kernel supports them.
func (f *fence) ensure() error {
	conn, err := f.open()
	if err != nil {
		return err
	}
	tables, err := conn.ListTablesOfFamily(f.table.Family)
	if err != nil {
		return fmt.Errorf("list the tables of nftables: %w", err)
	}
	if slices.ContainsFunc(tables, func(table *nftables.Table) bool { return table.Name == f.table.Name }) {
		return nil
	}
	conn.AddTable(f.table)
	if err := conn.AddSet(f.owners, nil); err != nil {
		return fmt.Errorf("make the map of tenants: %w", err)
	}
	trial := f.chains(bridgeName)
	f.add(conn, trial, f.options.Gateway, "")
	for _, chain := range trial {
		conn.FlushChain(chain)
		conn.DelChain(chain)
	}
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("try the packet filter that separates instances: nftables: %w: %s", err, fenceRemedy)
	}
	return nil
}

// chains returns the two chains of a card.
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
	conn, err := f.open()
	if err != nil {
		return err
	}
	owner := []nftables.SetElement{{Key: hardwareAddress(address), Val: digest(tenant)}}
	enclose := func(changes ...func(*nftables.Set, []nftables.SetElement) error) error {
		f.add(conn, f.chains(card), address, tenant)
		for _, change := range changes {
			if err := change(f.owners, owner); err != nil {
				return err
			}
		}
		return conn.Flush()
	}
	err = enclose(conn.SetAddElements)
	// An earlier card with this address belonged to another tenant.
	if errors.Is(err, unix.EEXIST) {
		err = enclose(conn.SetDeleteElements, conn.SetAddElements)
	}
	if err != nil {
		return fmt.Errorf("filter the packets of network interface %s: %w", card, err)
	}
	return nil
}

// remove removes the chains of the cards that some selects.
func (f *fence) remove(some func(card string) bool) error {
	conn, err := f.open()
	if err != nil {
		return err
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
	// The kernel removes a card's chains with the card, possibly after they were listed.
	if err := conn.Flush(); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove the packet filter of network interfaces: %w", err)
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

// sends returns the rules for what the instance with the given address sends. Traffic that none of
// them accepts is dropped, including IPv6.
func (f *fence) sends(address netip.Addr) [][]expr.Any {
	own, ip := hardwareAddress(address), address.AsSlice()
	bridge, host := hardwareAddress(f.options.Gateway), hardwareAddress(f.options.Host)
	accept, drop := expr.VerdictAccept, expr.VerdictDrop
	return [][]expr.Any{
		rule(drop, not(frameSource, own)),
		rule(drop, is(protocolARP), not(arpHardware, own)),
		rule(accept, is(protocolARP), equals(arpAddress, ip)),
		rule(accept, is(protocolARP), f.outside(arpAddress)),
		// Bridge and host answer to whoever a packet says that it is from. The host may also
		// forward packets, so it gets none for others in the cloud's network: it would send them
		// to any tenant's instance.
		rule(drop, is(protocolIP), equals(frameTarget, bridge), not(ipSource, ip)),
		rule(drop, is(protocolIP), equals(frameTarget, host), not(ipSource, ip)),
		rule(drop, is(protocolIP), equals(frameTarget, host), f.inside(ipTarget), not(ipTarget, f.options.Host.AsSlice())),
		rule(accept, is(protocolIP), equals(ipSource, ip)),
		rule(accept, is(protocolIP), f.outside(ipSource)),
	}
}

// receives returns the rules for what an instance of the given tenant receives.
func (f *fence) receives(tenant string) [][]expr.Any {
	return [][]expr.Any{
		rule(expr.VerdictAccept, equals(frameSource, hardwareAddress(f.options.Gateway))),
		rule(expr.VerdictAccept, equals(frameSource, hardwareAddress(f.options.Host))),
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

// Fields of Ethernet frames, of ARP for IPv4 (RFC 826), and of IPv4 (RFC 791).
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

// is matches packets of a protocol.
func is(protocol uint16) []expr.Any {
	return []expr.Any{&expr.Meta{Key: expr.MetaKeyPROTOCOL, Register: register}, compare(expr.CmpOpEq, binaryutil.BigEndian.PutUint16(protocol))}
}

func (f *fence) inside(address field) []expr.Any  { return f.masked(address, expr.CmpOpEq) }
func (f *fence) outside(address field) []expr.Any { return f.masked(address, expr.CmpOpNeq) }

// masked compares the network part of an address with the cloud's network.
func (f *fence) masked(address field, op expr.CmpOp) []expr.Any {
	network := f.options.Network.Masked()
	mask := net.CIDRMask(network.Bits(), network.Addr().BitLen())
	return []expr.Any{
		address.load(),
		&expr.Bitwise{SourceRegister: register, DestRegister: register, Len: address.len, Mask: mask, Xor: make([]byte, address.len)},
		compare(op, network.Addr().AsSlice()),
	}
}

// ownedBy matches frames that an instance of the tenant sent.
func (f *fence) ownedBy(tenant string) []expr.Any {
	return []expr.Any{
		frameSource.load(),
		&expr.Lookup{SourceRegister: register, DestRegister: register, IsDestRegSet: true, SetName: f.owners.Name, SetID: f.owners.ID},
		compare(expr.CmpOpEq, digest(tenant)),
	}
}
