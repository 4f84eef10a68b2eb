// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"net/netip"
	"testing"

	. "github.com/onsi/gomega"
)

func TestCheckFree(t *testing.T) {
	g := NewWithT(t)
	loopback := netip.MustParsePrefix("127.0.0.0/16")
	g.Expect(CheckFree(loopback, "no-bridge")).To(MatchError(
		"network 127.0.0.0/16 is in use: interface lo has 127.0.0.1/8; choose another network with --network, for example 10.78.0.0/16"))
	g.Expect(CheckFree(loopback, "lo")).To(Succeed(), "what a bridge of ours has is no matter")
	g.Expect(CheckFree(netip.MustParsePrefix("203.0.113.0/24"), "no-bridge")).To(Succeed())
}
