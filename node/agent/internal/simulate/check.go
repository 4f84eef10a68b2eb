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
	"fmt"
	"net/netip"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// checkRange is what Check serves: a range set aside for documentation (RFC 5737). Nothing connects to it.
var checkRange = netip.MustParsePrefix("192.0.2.0/24")

// Check returns an error that says what this machine lacks for simulated pods to answer, and what to do. It serves a range in a
// network namespace of its own, which ends with the call.
func Check() error {
	done := make(chan error)
	go func() {
		// Never unlocked: a thread in another network namespace must not run anything else.
		runtime.LockOSThread()
		done <- checkHere()
	}()
	if err := <-done; err != nil {
		return fmt.Errorf("try whether simulated pods would answer: %w", err)
	}
	return nil
}

func checkHere() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("make a network namespace: %w", err)
	}
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find the loopback interface: %w", err)
	}
	if err := netlink.LinkSetUp(loopback); err != nil {
		return fmt.Errorf("set the loopback interface up: %w", err)
	}
	if err := NewNetwork(1).Serve([]netip.Prefix{checkRange}); err != nil {
		return fmt.Errorf("%w; instances need nftables with NAT: load it with `modprobe -a nf_tables nft_chain_nat nft_redir`, or run a "+
			"kernel that is built with CONFIG_NF_TABLES_INET, CONFIG_NFT_NAT and CONFIG_NFT_REDIR", err)
	}
	return nil
}
