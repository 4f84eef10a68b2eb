// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"k8s.io/klog/v2"
)

// mendInterval is how often Guard checks that the fence exists.
const mendInterval = 5 * time.Second

// Guard restores the fence when others have removed it, for example when the nftables service was
// started or stopped. It runs until ctx ends.
func (b *Bridge) Guard(ctx context.Context) {
	tick := time.NewTicker(mendInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		mended, err := b.mend()
		if err != nil {
			klog.Background().Error(err, "Making the packet filter of instances again failed", "bridge", b.options.Name)
		} else if mended {
			klog.Background().Info("The packet filter of instances was gone and is made again", "bridge", b.options.Name)
		}
	}
}

// mend creates the fence, around all cards, if it does not exist. It reports whether it created it.
func (b *Bridge) mend() (bool, error) {
	b.mending.Lock()
	defer b.mending.Unlock()
	if there, err := b.fence.exists(); err != nil || there {
		return false, err
	}
	if err := b.fence.make(); err != nil {
		return false, err
	}
	links, err := netlink.LinkList()
	if err != nil {
		return false, fmt.Errorf("list network cards: %w", err)
	}
	for _, link := range links {
		attrs := link.Attrs()
		card, ok := cardOf(attrs.Alias)
		if attrs.MasterIndex != b.index || !ok {
			continue
		}
		if err := b.fence.surround(attrs.Name, card.Address, card.Tenant); err != nil {
			return false, err
		}
	}
	return true, nil
}

// alias returns the text that records, on the host's end of a card, what its fence needs to know.
func (c Card) alias() string { return c.Address.String() + " of " + c.Tenant }

func cardOf(alias string) (Card, bool) {
	text, tenant, ok := strings.Cut(alias, " of ")
	address, err := netip.ParseAddr(text)
	return Card{Address: address, Tenant: tenant}, ok && err == nil && address.Is4()
}
