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

package podip

import "net/netip"

// fallbackNetwork holds the fallback ranges. It is set aside for benchmarks of network devices (RFC 2544), so no network uses it. A
// link-local one would not do: the API server refuses such addresses in EndpointSlices.
var fallbackNetwork = netip.MustParsePrefix("198.18.0.0/15")

// fallbackBits is the size of an instance's part of it.
const fallbackBits = 24

// Fallback returns a range for the pods of a node that was given none. It is made from the instance's address, so that those of 512
// instances with consecutive addresses differ.
func Fallback(instance netip.Addr) netip.Prefix {
	own := instance.AsSlice()
	low := uint16(own[len(own)-2])<<8 | uint16(own[len(own)-1])
	base := fallbackNetwork.Addr().As4()
	base[1] |= byte(low >> 8 & 1)
	base[2] = byte(low)
	return netip.PrefixFrom(netip.AddrFrom4(base), fallbackBits)
}
