// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

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

	"golang.org/x/time/rate"
	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// pool holds the backends, their health, and their connections.
type pool struct {
	// port of the backends.
	port int32

	mu       sync.Mutex
	backends []*backend
	turn     uint
	// changed is closed and replaced whenever a held connection or a waiting check should look
	// again.
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
	// asked is when the current check began; zero if no check is running.
	asked time.Time
	// answered is when the backend last reported that it is ready.
	answered time.Time
	// changes limits how often a change of health is logged. An instance can cause that as often as it
	// is checked.
	changes rate.Sometimes
}

// loggedChanges is how many changes of a backend are logged in any case. After that, one is logged each
// loggedInterval.
const loggedChanges = 100

// state returns the backend's health as it matters for routing connections.
func (b *backend) state() health {
	if b.Draining && b.health == ready {
		return leaving
	}
	return b.health
}

func newPool(port int32) *pool { return &pool{port: port, changed: make(chan struct{})} }

// set replaces the set of backends. Backends that stay keep their health, and also their
// connections unless they are to be drained.
func (p *pool) set(ctx context.Context, want []cloud.Backend) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]*backend, 0, len(want))
	for _, w := range want {
		list = append(list, p.keep(ctx, w))
	}
	for _, b := range p.backends {
		if !slices.Contains(list, b) {
			b.cancel()
			b.closeConns()
		}
	}
	slices.SortFunc(list, func(a, b *backend) int { return strings.Compare(a.InstanceID, b.InstanceID) })
	p.backends = list
	p.settle()
}

// keep returns the existing backend, or a new one. The caller holds the lock.
func (p *pool) keep(ctx context.Context, want cloud.Backend) *backend {
	for _, b := range p.backends {
		if b.InstanceID == want.InstanceID && b.Address == want.Address {
			b.Draining = want.Draining
			return b
		}
	}
	return p.add(ctx, want)
}

func (p *pool) add(ctx context.Context, want cloud.Backend) *backend {
	ctx, cancel := context.WithCancel(ctx)
	b := &backend{
		Backend: want, ctx: ctx, cancel: cancel, conns: map[io.Closer]struct{}{},
		target:  net.JoinHostPort(want.Address, strconv.Itoa(int(p.port))),
		changes: rate.Sometimes{First: loggedChanges, Interval: loggedInterval},
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
		p.ask(b, checked)
		suspicion := time.AfterFunc(suspectAfter, func() { p.suspect(b, checked) })
		found, late := c.check(ctx)
		suspicion.Stop()
		if ctx.Err() != nil {
			return
		}
		if late {
			p.miss(b, found)
		} else {
			p.report(b, found)
		}
		p.awaitNext(ctx, checked)
	}
}

// awaitNext waits until it is time to check a backend again that was last checked at the given
// time.
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
	states := p.states()
	switch {
	case !slices.Contains(states, ready) && !slices.Contains(states, leaving):
		return urgentInterval, p.changed
	case len(states) == 1:
		return loneInterval, p.changed
	default:
		return checkInterval, p.changed
	}
}

// ask records that a check of a backend begins.
func (p *pool) ask(b *backend, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b.asked = now
}

// suspect takes a ready backend out of use if its check, which began at the given time, is still
// running while another ready backend has answered since. The check continues, and an answer to it
// makes the backend ready again.
func (p *pool) suspect(b *backend, asked time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answers := func(other *backend) bool { return other != b && other.state() == ready && other.answered.After(asked) }
	if b.asked.Equal(asked) && b.health == ready && slices.ContainsFunc(p.backends, answers) {
		p.change(b, accepting)
	}
}

// report records the health that a check found.
func (p *pool) report(b *backend, found health) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b.asked = time.Time{}
	if found == ready {
		b.answered = time.Now()
	}
	if b.health != found {
		p.change(b, found)
	}
}

// miss records that a backend answered late. That alone does not make a ready backend unready: on a
// busy machine all backends are late, and disconnecting all clients would add even more load. If
// other backends did answer, suspect has already acted.
func (p *pool) miss(b *backend, found health) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b.asked = time.Time{}
	if b.health != ready && b.health != found {
		p.change(b, found)
	}
}

// change records a backend's health. The caller holds the lock.
func (p *pool) change(b *backend, found health) {
	b.changes.Do(func() {
		klog.Background().Info("Backend changed", "id", b.InstanceID, "address", b.target, "from", b.health.String(), "to", found.String())
	})
	b.health = found
	p.settle()
}

// settle closes connections to backends that are not ready or are to be drained, if there is a
// ready backend that they can move to, and wakes all waiters. The caller holds the lock.
func (p *pool) settle() {
	for _, place := range drained(p.states()) {
		p.backends[place].closeConns()
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *pool) states() []health {
	states := make([]health, 0, len(p.backends))
	for _, b := range p.backends {
		states = append(states, b.state())
	}
	return states
}

// next returns the backends to try for a new connection, and a channel that is closed when the
// result may have changed.
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

// attach ties a connection to a backend: when the backend is removed, the connection is closed. It
// returns false if the backend has already been removed.
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

func (b *backend) closeConns() {
	for conn := range b.conns {
		// The goroutines that copy on the connection notice, and close the other end.
		_ = conn.Close()
	}
}
