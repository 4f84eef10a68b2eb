// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"
	"slices"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
)

// Balancers fakes load balancers. They forward nothing.
type Balancers struct {
	processes
	backends map[string][]cloud.Backend
	setErr   error
}

var _ engine.Balancers = &Balancers{}

// NewBalancers returns a Balancers without running load balancers.
func NewBalancers() *Balancers {
	return &Balancers{processes: processes{running: map[string]*fakeProcess{}}, backends: map[string][]cloud.Backend{}}
}

// FailBackends makes every later SetBackends fail with err; nil ends that.
func (b *Balancers) FailBackends(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.setErr = err
}

// KillAll ends all processes.
func (b *Balancers) KillAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.running {
		p.kill("killed")
	}
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
	p, err := b.start(commit)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running[spec.ID], b.backends[spec.ID] = p, spec.Backends
	return p, nil
}

// Find implements engine.Balancers.
func (b *Balancers) Find(id string, identity process.Identity) (engine.Process, error) {
	p, err := b.find(id, identity)
	if err != nil {
		return nil, err
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
