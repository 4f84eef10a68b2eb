// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
)

// Balancers fakes load balancers. They forward nothing.
type Balancers struct {
	mu       sync.Mutex
	pid      int
	running  map[string]*fakeProcess
	backends map[string][]cloud.Backend
	startErr error
	findErr  error
	setErr   error
}

var _ engine.Balancers = &Balancers{}

// NewBalancers returns a Balancers without running load balancers.
func NewBalancers() *Balancers {
	return &Balancers{running: map[string]*fakeProcess{}, backends: map[string][]cloud.Backend{}}
}

// FailStarts makes every later start fail with err; nil ends that.
func (b *Balancers) FailStarts(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.startErr = err
}

// FailBackends makes every later SetBackends fail with err; nil ends that.
func (b *Balancers) FailBackends(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.setErr = err
}

// Starts returns how many processes were started, including processes that have ended.
func (b *Balancers) Starts() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pid
}

// FailNextFind makes the next Find fail with err.
func (b *Balancers) FailNextFind(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.findErr = err
}

// KillAll ends all processes.
func (b *Balancers) KillAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.running {
		p.kill("killed")
	}
}

// Running returns the number of running load balancers.
func (b *Balancers) Running() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	count := 0
	for _, p := range b.running {
		if !p.ended() {
			count++
		}
	}
	return count
}

// Addresses returns the addresses of all backends that the load balancers were given, sorted.
func (b *Balancers) Addresses() []string {
	backends := b.Backends()
	list := make([]string, 0, len(backends))
	for _, backend := range backends {
		list = append(list, backend.Address)
	}
	slices.Sort(list)
	return list
}

// Backends returns all backends that the load balancers were given.
func (b *Balancers) Backends() []cloud.Backend {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []cloud.Backend
	for _, backends := range b.backends {
		list = append(list, backends...)
	}
	return list
}

// Start implements engine.Balancers.
func (b *Balancers) Start(_ context.Context, spec engine.BalancerSpec, commit engine.Commit) (engine.Process, error) {
	b.mu.Lock()
	b.pid++
	p, err := newProcess(b.pid), b.startErr
	b.mu.Unlock()
	if err = errors.Join(err, commit(p.identity)); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running[spec.ID], b.backends[spec.ID] = p, spec.Backends
	return p, nil
}

// Find implements engine.Balancers.
func (b *Balancers) Find(id string, identity process.Identity) (engine.Process, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.findErr; err != nil {
		b.findErr = nil
		return nil, err
	}
	p, ok := b.running[id]
	if !ok || p.ended() || p.identity != identity {
		return nil, process.ErrGone
	}
	return p, nil
}

// SetBackends implements engine.Balancers.
func (b *Balancers) SetBackends(id string, backends []cloud.Backend) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.setErr != nil {
		return b.setErr
	}
	b.backends[id] = backends
	return nil
}

// Remove implements engine.Balancers.
func (b *Balancers) Remove(_ context.Context, spec engine.BalancerSpec, _ *process.Identity) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p, ok := b.running[spec.ID]; ok {
		p.kill("removed")
	}
	delete(b.running, spec.ID)
	delete(b.backends, spec.ID)
	return nil
}
