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

// Package podip hands out the addresses of pods.
//
// An address that was given back is not given again before all others of its range were, so that what still remembers the
// old pod does not meet a new one. Limits: addresses live in the agent's memory, as all pods of the instance do.
package podip

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
)

// Pool hands out one address of each of its ranges per pod, safe for use by several goroutines.
type Pool struct {
	mu     sync.Mutex
	ranges []*addressRange
	used   map[netip.Addr]struct{}
}

type addressRange struct {
	prefix netip.Prefix
	last   netip.Addr
}

// NewPool returns a pool of the ranges.
func NewPool(prefixes ...netip.Prefix) *Pool {
	p := &Pool{used: map[netip.Addr]struct{}{}}
	p.SetRanges(prefixes)
	return p
}

// SetRanges makes the pool hand out addresses of other ranges from now on, and reports whether they are others. Addresses
// that are in use stay so.
func (p *Pool) SetRanges(prefixes []netip.Prefix) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	current := make([]netip.Prefix, 0, len(p.ranges))
	for _, r := range p.ranges {
		current = append(current, r.prefix)
	}
	if slices.Equal(current, prefixes) {
		return false
	}
	p.ranges = nil
	for _, prefix := range prefixes {
		// The range's own address and the one after it, which a bridge would have, are never handed out.
		p.ranges = append(p.ranges, &addressRange{prefix: prefix.Masked(), last: prefix.Masked().Addr().Next()})
	}
	return true
}

// Allocate returns one address of each range. The error says which range has none left.
func (p *Pool) Allocate() ([]netip.Addr, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	addresses := make([]netip.Addr, 0, len(p.ranges))
	for _, r := range p.ranges {
		address, err := p.next(r)
		if err != nil {
			for _, taken := range addresses {
				delete(p.used, taken)
			}
			return nil, err
		}
		p.used[address] = struct{}{}
		addresses = append(addresses, address)
	}
	return addresses, nil
}

func (p *Pool) next(r *addressRange) (netip.Addr, error) {
	first := r.prefix.Addr().Next().Next()
	candidate := r.last.Next()
	for tries := 0; tries <= len(p.used)+1; tries++ {
		if !usable(r.prefix, candidate) {
			candidate = first
		}
		if _, taken := p.used[candidate]; !taken && usable(r.prefix, candidate) {
			r.last = candidate
			return candidate, nil
		}
		candidate = candidate.Next()
	}
	return netip.Addr{}, fmt.Errorf("no pod address is left in %s", r.prefix)
}

// usable leaves out what is not in the range, and an IPv4 range's last address, which is its broadcast.
func usable(prefix netip.Prefix, address netip.Addr) bool {
	if !prefix.Contains(address) {
		return false
	}
	return address.Is6() || prefix.Contains(address.Next())
}

// Release gives addresses back.
func (p *Pool) Release(addresses []netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, address := range addresses {
		delete(p.used, address)
	}
}
