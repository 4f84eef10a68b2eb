// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"net"
	"net/netip"
	"testing"

	. "github.com/onsi/gomega"
)

func TestFirstOverlap(t *testing.T) {
	network := netip.MustParsePrefix("10.77.0.0/16")
	for _, test := range []struct {
		prefix   string
		overlaps bool
	}{
		{"0.0.0.0/0", false},
		{"192.168.0.0/24", false},
		{"10.78.0.0/16", false},
		{"10.77.3.0/24", true},
		{"10.0.0.0/8", true},
		{"10.77.0.1/32", true},
	} {
		t.Run(test.prefix, func(t *testing.T) {
			g := NewWithT(t)
			found, ok := firstOverlap(network, []use{{netip.MustParsePrefix(test.prefix), "eth7"}}, 1)
			g.Expect(ok).To(Equal(test.overlaps))
			if ok {
				g.Expect(found.what).To(Equal("eth7"))
			}
		})
	}
}

func TestToPrefix(t *testing.T) {
	g := NewWithT(t)
	_, parsed, err := net.ParseCIDR("10.1.0.0/16")
	g.Expect(err).NotTo(HaveOccurred())
	prefix, ok := toPrefix(parsed)
	g.Expect(ok).To(BeTrue())
	g.Expect(prefix.String()).To(Equal("10.1.0.0/16"))
	_, ok = toPrefix(nil)
	g.Expect(ok).To(BeFalse())
}
