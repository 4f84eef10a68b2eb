// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// tenant is the only tenant of a fake cloud.
const tenant = ""

// watch is an open watch.
type watch struct{ end context.CancelFunc }

// Watch streams events; see cloud.Cloud.
func (c *Cloud) Watch(ctx context.Context) (<-chan cloud.Event, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := c.enter(ctx, CallWatch); err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(ctx)
	w := &watch{end: end}
	c.watches[w] = struct{}{}
	context.AfterFunc(ctx, func() { c.forget(w) })
	return c.events.Watch(ctx, tenant), nil
}

// DropWatches closes all watches, like a lost connection. Events before the next Watch are missed.
func (c *Cloud) DropWatches() {
	c.lock.Lock()
	defer c.lock.Unlock()
	for w := range c.watches {
		w.end()
	}
	clear(c.watches)
}

// Watches returns the number of open watches.
func (c *Cloud) Watches() int {
	c.lock.Lock()
	defer c.lock.Unlock()
	return len(c.watches)
}

func (c *Cloud) forget(w *watch) {
	c.lock.Lock()
	defer c.lock.Unlock()
	delete(c.watches, w)
}

func (c *Cloud) emitInstance(i *instance) {
	c.events.Publish(tenant, cloud.Event{Kind: cloud.EventInstance, Name: i.Name, ID: i.ID, Pool: i.Pool, Tags: i.Tags})
}

func (c *Cloud) emitPool(p *pool) {
	c.events.Publish(tenant, cloud.Event{Kind: cloud.EventPool, Name: p.Name, Tags: p.Tags})
}

func (c *Cloud) emitLoadBalancer(lb *loadBalancer) {
	c.events.Publish(tenant, cloud.Event{Kind: cloud.EventLoadBalancer, Name: lb.Name, Tags: lb.Tags})
}
