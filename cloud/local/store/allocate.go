// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

const (
	sequenceWidth = 4
	randomWidth   = 4
)

// NewID returns an ID that was never handed out before: lower-case letters and digits, nine
// characters for the first 1.6 million. The sequence makes it unique; the random part distinguishes
// it from IDs of other state files.
func (t *Tx) NewID() (string, error) {
	sequence, err := t.tx.Bucket(instances).NextSequence()
	if err != nil {
		return "", fmt.Errorf("new ID: %w", err)
	}
	text := strconv.FormatUint(sequence, 36)
	if missing := sequenceWidth - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	return "i" + text + utilrand.String(randomWidth), nil
}

// NewAddress assigns a free address of the network to the owner. The first address belongs to the
// bridge, the second one to the host, and the last one is the broadcast address. Addresses are
// assigned in turn, so an address is not reused soon after it was freed.
func (t *Tx) NewAddress(network netip.Prefix, owner string) (string, error) {
	taken := t.tx.Bucket(addresses)
	host := Host(network)
	last, err := netip.ParseAddr(string(t.tx.Bucket(meta).Get(lastAddressKey)))
	if err != nil || !network.Contains(last) {
		last = host
	}
	next := last
	for range 1 << (network.Addr().BitLen() - network.Bits()) {
		next = next.Next()
		if !usable(network, next) {
			next = host.Next()
		}
		if taken.Get([]byte(next.String())) == nil {
			return t.takeAddress(next, owner)
		}
	}
	return "", &cloud.UnavailableError{Message: fmt.Sprintf("network %s has no free address", network)}
}

func (t *Tx) takeAddress(address netip.Addr, owner string) (string, error) {
	text := address.String()
	if err := t.tx.Bucket(addresses).Put([]byte(text), []byte(owner)); err != nil {
		return "", fmt.Errorf("take address %s: %w", text, err)
	}
	if err := t.tx.Bucket(meta).Put(lastAddressKey, []byte(text)); err != nil {
		return "", fmt.Errorf("take address %s: %w", text, err)
	}
	return text, nil
}

// Gateway returns the first address of a network, which belongs to the bridge.
func Gateway(network netip.Prefix) netip.Addr { return network.Masked().Addr().Next() }

// Host returns the second address of a network, at which instances reach the host.
func Host(network netip.Prefix) netip.Addr { return Gateway(network).Next() }

func usable(network netip.Prefix, address netip.Addr) bool {
	// The last address of the network is the one whose successor is outside the network.
	return network.Contains(address) && network.Contains(address.Next())
}
