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

package loadbalancer

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"net"

	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
)

// pool is the backends, what is known of their health, and the connections that each has.
type pool struct {
	port int32

	mu       sync.Mutex
	backends []*backend
	turn     uint
	// changed is closed, and replaced, whenever a held connection or a waiting check should look again.
	changed chan struct{}
}

type backend struct {
	cloud.Backend
	target string
	// ctx ends when the backend is removed.
	ctx    context.Context
	cancel context.CancelFunc
	health health
	conns  map[io.Closer]struct{}
}

func newPool(port int32) *pool { return &pool{port: port, changed: make(chan struct{})} }

// set replaces the set of backends. Those that stay keep their health and connections.
func (p *pool) set(ctx context.Context, want []cloud.Backend) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var kept []*backend
	for _, b := range p.backends {
		if slices.Contains(want, b.Backend) {
			kept = append(kept, b)
			continue
		}
		b.cancel()
		b.closeConns()
	}
	for _, w := range want {
		if !slices.ContainsFunc(kept, func(b *backend) bool { return b.Backend == w }) {
			kept = append(kept, p.add(ctx, w))
		}
	}
	slices.SortFunc(kept, func(a, b *backend) int { return strings.Compare(a.InstanceID, b.InstanceID) })
	p.backends = kept
	p.notify()
}

func (p *pool) add(ctx context.Context, want cloud.Backend) *backend {
	ctx, cancel := context.WithCancel(ctx)
	b := &backend{
		Backend: want, ctx: ctx, cancel: cancel, conns: map[io.Closer]struct{}{},
		target: net.JoinHostPort(want.Address, strconv.Itoa(int(p.port))),
	}
	go p.watch(ctx, b)
	return b
}

// watch checks one backend until it is removed.
func (p *pool) watch(ctx context.Context, b *backend) {
	c := newChecker(b.target)
	defer c.close()
	for ctx.Err() == nil {
		checked := time.Now()
		found := c.check(ctx)
		if ctx.Err() != nil {
			return
		}
		p.report(b, found)
		p.awaitNext(ctx, checked)
	}
}

// awaitNext returns when a backend that was checked at the given time is to be checked again.
func (p *pool) awaitNext(ctx context.Context, checked time.Time) {
	for {
		interval, changed := p.pace()
		timer := time.NewTimer(time.Until(checked.Add(interval)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			return
		case <-changed:
			timer.Stop()
		}
	}
}

func (p *pool) pace() (time.Duration, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(p.states(), ready) {
		return checkInterval, p.changed
	}
	return urgentInterval, p.changed
}

// report notes the health of a backend. Connections are moved away from backends that are not ready, if there is one
// to move them to.
func (p *pool) report(b *backend, found health) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.health == found {
		return
	}
	klog.Background().Info("Backend changed", "id", b.InstanceID, "address", b.target, "from", b.health.String(), "to", found.String())
	b.health = found
	for _, place := range drained(p.states()) {
		p.backends[place].closeConns()
	}
	p.notify()
}

func (p *pool) states() []health {
	states := make([]health, 0, len(p.backends))
	for _, b := range p.backends {
		states = append(states, b.health)
	}
	return states
}

// next returns the backends to try for a new connection, and a channel that is closed when there may be others.
func (p *pool) next() ([]*backend, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	places := candidates(p.states(), p.turn)
	p.turn++
	list := make([]*backend, 0, len(places))
	for _, place := range places {
		list = append(list, p.backends[place])
	}
	return list, p.changed
}

// attach ties a connection to a backend, whose end then ends it. It returns false when the backend was removed.
func (p *pool) attach(b *backend, conn io.Closer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.backends, b) {
		return false
	}
	b.conns[conn] = struct{}{}
	return true
}

func (p *pool) detach(b *backend, conn io.Closer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(b.conns, conn)
}

// notify wakes all who wait. The lock is held.
func (p *pool) notify() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (b *backend) closeConns() {
	for conn := range b.conns {
		// Whoever copies on it finds out and closes the other end.
		_ = conn.Close()
	}
}
