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
			found, ok := firstOverlap(network, []use{{netip.MustParsePrefix(test.prefix), "eth7"}})
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
