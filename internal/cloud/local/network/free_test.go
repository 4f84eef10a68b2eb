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
