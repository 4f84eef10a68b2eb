// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package connlimit

import (
	"net/netip"
	"sync"
)

// Counter limits how much clients do at the same time, in total and each.
type Counter struct {
	total, perClient int

	mu  sync.Mutex
	all int
	by  map[netip.Addr]int
}

// NewCounter returns a counter that lets in at most total, and at most perClient of one client.
func NewCounter(total, perClient int) *Counter {
	return &Counter{total: total, perClient: perClient, by: map[netip.Addr]int{}}
}

// Enter reports whether a client may do one more thing. If so, call Leave after it.
func (c *Counter) Enter(client netip.Addr) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= c.total || c.by[client] >= c.perClient {
		return false
	}
	c.all++
	c.by[client]++
	return true
}

// Leave ends what Enter let in.
func (c *Counter) Leave(client netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.by[client]--; c.by[client] == 0 {
		delete(c.by, client)
	}
}
