// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/events"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

// Options configures an engine.
type Options struct {
	// Store of the state.
	Store *store.Store
	// Machines and Balancers that run what is stored.
	Machines  Machines
	Balancers Balancers
	// Network that addresses are taken from.
	Network netip.Prefix
	// Zones and InstanceTypes on offer.
	Zones         []cloud.Zone
	InstanceTypes []cloud.InstanceType
	// Images returns the images that are currently on offer, sorted as in cloud.Catalog.
	Images func() ([]cloud.Image, error)
	// NoDisks explains why no instance can get a disk of limited size; empty if every instance can.
	NoDisks string
	// Boots is how many instances may boot at the same time; 0 if any number may.
	Boots int
	// Limits per tenant. A tenant that is missing here has none, and only its own fault rules can
	// name it. Its pools get no instances, unless this is nil.
	Limits map[string]cloud.Resources
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// Engine is the local cloud.
type Engine struct {
	options Options
	catalog rules.Catalog
	hub     *events.Hub
	boots   *boots

	mu        sync.Mutex
	ctx       context.Context
	actors    map[string]*actor
	actorsEnd sync.WaitGroup
	// retrying are the pools that wait for a retry.
	retrying map[poolKey]bool
}

// New returns an engine that does nothing yet.
func New(options Options) *Engine {
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Engine{
		options: options, catalog: catalogOf(options), hub: events.NewHub(),
		boots: newBoots(options.Boots), actors: map[string]*actor{}, retrying: map[poolKey]bool{},
	}
}

// catalogOf returns what tenants can order, except for the images.
func catalogOf(options Options) rules.Catalog {
	zones, types := slices.Clone(options.Zones), slices.Clone(options.InstanceTypes)
	slices.SortFunc(zones, func(a, b cloud.Zone) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(types, func(a, b cloud.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	for i := range types {
		types[i].Architecture = runtime.GOARCH
		if options.NoDisks != "" {
			types[i].DiskBytes = 0
		}
	}
	return rules.Catalog{Zones: zones, InstanceTypes: types, NoDisks: options.NoDisks}
}

// Start finds what ran before, finishes what was half done, and supervises everything until ctx
// ends.
func (e *Engine) Start(ctx context.Context) error {
	e.mu.Lock()
	e.ctx = ctx
	e.mu.Unlock()
	return e.update(func(c *change) error {
		instances, err := c.Instances("")
		if err != nil {
			return err
		}
		for i := range instances {
			c.wake(instanceActor(&instances[i]))
		}
		balancers, err := c.LoadBalancers("")
		if err != nil {
			return err
		}
		for i := range balancers {
			c.wake(balancerActor(&balancers[i]))
		}
		return e.fillWaiting(c)
	})
}

// Wait returns when all supervisors have ended. They end after the context of Start.
func (e *Engine) Wait() { e.actorsEnd.Wait() }

// Remove stops and removes all machines and load balancers of all tenants. The engine must not have been started.
func (e *Engine) Remove(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e.ctx = ctx
	err := e.update(func(c *change) error {
		if err := each(c, (*store.Tx).Pools, e.deletePool); err != nil {
			return err
		}
		if err := each(c, (*store.Tx).Instances, e.deleteInstance); err != nil {
			return err
		}
		return each(c, (*store.Tx).LoadBalancers, e.deleteBalancer)
	})
	if err != nil {
		return err
	}
	e.Wait()
	return ctx.Err()
}

// actor supervises one instance or load balancer.
type actor struct {
	// id is never reused.
	id   string
	run  func(ctx context.Context, woken <-chan struct{})
	woke chan struct{}
}

// actorOf describes how to create the actor of an ID if there is none.
type actorOf struct {
	id  string
	new func(e *Engine) func(ctx context.Context, woken <-chan struct{})
}

func (e *Engine) wake(of actorOf) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx == nil || e.ctx.Err() != nil {
		return
	}
	a, ok := e.actors[of.id]
	if !ok {
		a = &actor{id: of.id, run: of.new(e), woke: make(chan struct{}, 1)}
		e.actors[of.id] = a
		e.actorsEnd.Add(1)
		go e.supervise(e.ctx, a)
		return
	}
	select {
	case a.woke <- struct{}{}:
	default:
	}
}

func (e *Engine) supervise(ctx context.Context, a *actor) {
	defer e.actorsEnd.Done()
	a.run(ctx, a.woke)
	e.mu.Lock()
	delete(e.actors, a.id)
	e.mu.Unlock()
}

func (e *Engine) log(tenant, kind, name string) klog.Logger {
	return klog.Background().WithValues("tenant", tenant, kind, name)
}
