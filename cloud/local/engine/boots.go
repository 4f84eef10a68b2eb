// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"sync"
	"time"
)

// bootTime is how long an instance counts as one that boots. Others need not wait longer for one
// that hangs.
const bootTime = time.Minute

// boots limits how many instances boot at the same time. kubeadm gives up for good if an API server
// does not answer within seconds. On a machine where all its CPUs are needed by others, none does.
type boots struct {
	limit int // 0 if there is none

	mu      sync.Mutex
	booting map[string]int // instances, by tenant
	waiting []*boot        // the last to come is first
}

// boot is an instance that boots or waits for that.
type boot struct {
	all    *boots
	tenant string
	// turn is closed once the instance may boot.
	turn chan struct{}
	over bool
}

func newBoots(limit int) *boots { return &boots{limit: limit, booting: map[string]int{}} }

// enter makes an instance wait for its turn.
func (b *boots) enter(tenant string) *boot {
	b.mu.Lock()
	defer b.mu.Unlock()
	entered := &boot{all: b, tenant: tenant, turn: make(chan struct{})}
	b.waiting = slices.Insert(b.waiting, 0, entered)
	b.admit()
	return entered
}

// admit gives free places to those who wait. The tenant with the fewest booting instances is next,
// so that none can keep others from booting. Of its instances, the last to come is: the control
// planes of new clusters come first, and the workers of a cluster once it has one. So clusters that
// have begun are completed before others begin, and fewer of them share the CPUs.
func (b *boots) admit() {
	for len(b.waiting) > 0 && (b.limit == 0 || b.total() < b.limit) {
		next := slices.MinFunc(b.waiting, func(x, y *boot) int { return b.booting[x.tenant] - b.booting[y.tenant] })
		b.waiting = slices.DeleteFunc(b.waiting, func(other *boot) bool { return other == next })
		b.booting[next.tenant]++
		close(next.turn)
		time.AfterFunc(bootTime, next.end)
	}
}

func (b *boots) total() int {
	total := 0
	for _, number := range b.booting {
		total += number
	}
	return total
}

// end gives the place to another instance, or gives up waiting for one. It may be called again.
func (e *boot) end() {
	e.all.mu.Lock()
	defer e.all.mu.Unlock()
	if e.over {
		return
	}
	e.over = true
	if waiting := slices.Index(e.all.waiting, e); waiting >= 0 {
		e.all.waiting = slices.Delete(e.all.waiting, waiting, waiting+1)
		return
	}
	if e.all.booting[e.tenant]--; e.all.booting[e.tenant] == 0 {
		delete(e.all.booting, e.tenant)
	}
	e.all.admit()
}

// ended reports whether the place is gone.
func (e *boot) ended() bool {
	e.all.mu.Lock()
	defer e.all.mu.Unlock()
	return e.over
}
