// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

// change is one transaction and the actions to take once it is committed to disk.
type change struct {
	*store.Tx
	events []tenantEvent
	actors []actorOf
	// retry is when to try again after an instance was refused for a reason whose end no event
	// announces; zero for other reasons.
	retry time.Duration
	// refill has the pools to fill again, and when.
	refill map[poolKey]time.Duration
	// used caches the resources of tenants, so that they are added up once and not for each
	// instance of a pool.
	used map[string]*cloud.Resources
	// changedPools are the pools that already have an event in this change.
	changedPools map[poolKey]bool
}

type poolKey struct{ tenant, name string }

type tenantEvent struct {
	tenant string
	event  cloud.Event
}

// update runs fn as one transaction, then sends the events to watchers and wakes the actors.
func (e *Engine) update(fn func(*change) error) error {
	var c *change
	err := e.options.Store.Update(func(tx *store.Tx) error {
		c = &change{Tx: tx, refill: map[poolKey]time.Duration{}, used: map[string]*cloud.Resources{}, changedPools: map[poolKey]bool{}}
		return fn(c)
	})
	if err != nil {
		return err
	}
	for _, event := range c.events {
		e.hub.Publish(event.tenant, event.event)
	}
	for _, actor := range c.actors {
		e.wake(actor)
	}
	for pool, delay := range c.refill {
		e.fillLater(pool, delay)
	}
	return nil
}

func (e *Engine) view(fn func(*store.Tx) error) error { return e.options.Store.View(fn) }

// each calls a function for the records of all tenants, until it fails.
func each[R any](c *change, all func(*store.Tx, string) ([]R, error), do func(*change, *R) error) error {
	records, err := all(c.Tx, "")
	for i := range records {
		if err := do(c, &records[i]); err != nil {
			return err
		}
	}
	return err
}

// resources returns a tenant's resources. Callers that add resources must add them to the result.
func (c *change) resources(tenant string) (*cloud.Resources, error) {
	if known, ok := c.used[tenant]; ok {
		return known, nil
	}
	sum, err := used(c.Tx, tenant)
	if err != nil {
		return nil, err
	}
	c.used[tenant] = &sum
	return &sum, nil
}

func (c *change) wake(actor actorOf) { c.actors = append(c.actors, actor) }

func (c *change) instanceChanged(record *store.Instance) error {
	c.events = append(c.events, tenantEvent{record.Tenant, cloud.Event{
		Kind: cloud.EventInstance, Name: record.Name, ID: record.ID, Pool: record.Pool, Tags: record.Tags,
	}})
	c.wake(instanceActor(record))
	if record.Pool != "" {
		pool, err := c.Pool(record.Tenant, record.Pool)
		if err != nil {
			return err
		}
		if pool != nil {
			c.poolChanged(pool)
		}
	}
	return c.backendChanged(record)
}

// backendChanged wakes the load balancers whose selector matches the instance.
func (c *change) backendChanged(record *store.Instance) error {
	balancers, err := c.LoadBalancers(record.Tenant)
	for i := range balancers {
		if record.Tags.Contains(balancers[i].Selector) {
			c.wake(balancerActor(&balancers[i]))
		}
	}
	return err
}

func (c *change) putInstance(record *store.Instance) error {
	if err := c.PutInstance(record); err != nil {
		return err
	}
	return c.instanceChanged(record)
}

func (c *change) putPool(record *store.Pool) error {
	c.poolChanged(record)
	return c.PutPool(record)
}

func (c *change) poolChanged(record *store.Pool) {
	key := poolKey{record.Tenant, record.Name}
	if c.changedPools[key] {
		return
	}
	c.changedPools[key] = true
	c.events = append(c.events, tenantEvent{record.Tenant, cloud.Event{
		Kind: cloud.EventPool, Name: record.Name, Tags: record.Tags,
	}})
}

func (c *change) putBalancer(record *store.LoadBalancer) error {
	c.balancerChanged(record)
	return c.PutLoadBalancer(record)
}

func (c *change) balancerChanged(record *store.LoadBalancer) {
	c.events = append(c.events, tenantEvent{record.Tenant, cloud.Event{
		Kind: cloud.EventLoadBalancer, Name: record.Name, Tags: record.Tags,
	}})
	c.wake(balancerActor(record))
}
