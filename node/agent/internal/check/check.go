// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"net/netip"
	"runtime"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// tableName is the table of the rules under test.
const tableName = "foo-check"

// somewhere is an address set aside for documentation (RFC 5737).
var somewhere = netip.MustParseAddr("192.0.2.1")

// remedy describes how to give a machine what instances need.
const remedy = "load it with `modprobe -a nf_tables nft_chain_nat nft_nat nft_masq nft_ct nft_fib_ipv4 nft_numgen nft_reject_ipv4`, " +
	"or run a kernel that is built with CONFIG_NF_TABLES_IPV4, CONFIG_NFT_NAT, CONFIG_NFT_MASQ, CONFIG_NFT_CT, CONFIG_NFT_FIB_IPV4, " +
	"CONFIG_NFT_NUMGEN and CONFIG_NFT_REJECT_IPV4"

// Machine returns an error that describes what instances need that this machine lacks, and how to
// fix it. It tests this in a temporary network namespace.
func Machine() error {
	done := make(chan error)
	go func() {
		// Never unlocked: a thread in another network namespace must not run anything else.
		runtime.LockOSThread()
		done <- tryHere()
	}()
	if err := <-done; err != nil {
		return fmt.Errorf("try whether pods of instances would reach each other: %w", err)
	}
	return nil
}

func tryHere() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("make a network namespace: %w", err)
	}
	for i, rule := range rules() {
		if err := rule.try(fmt.Sprintf("try-%d", i)); err != nil {
			return fmt.Errorf("nftables: %s: %w; instances need nftables with NAT: %s", rule.what, err, remedy)
		}
	}
	return nil
}

// rule is a rule that kube-proxy or the pod network creates.
type rule struct {
	what  string
	kind  nftables.ChainType
	hook  *nftables.ChainHook
	exprs []expr.Any
}

func rules() []rule {
	const register = 1
	return []rule{
		{"send connections to another address", nftables.ChainTypeNAT, nftables.ChainHookPrerouting, []expr.Any{
			&expr.Immediate{Register: register, Data: somewhere.AsSlice()},
			&expr.NAT{Type: expr.NATTypeDestNAT, Family: unix.NFPROTO_IPV4, RegAddrMin: register},
		}},
		{"hide the address of a sender", nftables.ChainTypeNAT, nftables.ChainHookPostrouting, []expr.Any{&expr.Masq{FullyRandom: true}}},
		{"choose one of several pods", nftables.ChainTypeNAT, nftables.ChainHookOutput, []expr.Any{
			&expr.Numgen{Register: register, Modulus: 2, Type: unix.NFT_NG_RANDOM},
		}},
		{"tell the instance's own addresses", nftables.ChainTypeNAT, nftables.ChainHookPrerouting, []expr.Any{
			&expr.Fib{Register: register, ResultADDRTYPE: true, FlagDADDR: true},
		}},
		{"tell new connections", nftables.ChainTypeFilter, nftables.ChainHookForward, []expr.Any{
			&expr.Ct{Register: register, Key: expr.CtKeySTATE},
		}},
		{"refuse connections", nftables.ChainTypeFilter, nftables.ChainHookForward, []expr.Any{
			&expr.Reject{Type: unix.NFT_REJECT_ICMP_UNREACH},
		}},
	}
}

func (r rule) try(chainName string) error {
	conn, err := nftables.New()
	if err != nil {
		return err
	}
	table := conn.AddTable(&nftables.Table{Name: tableName, Family: nftables.TableFamilyIPv4})
	chain := conn.AddChain(&nftables.Chain{
		Name: chainName, Table: table, Type: r.kind, Hooknum: r.hook, Priority: nftables.ChainPriorityFilter,
	})
	conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: r.exprs})
	return conn.Flush()
}
