// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"
	"sync"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// watch delivers events to one watcher in order, without ever making the cloud wait for it.
type watch struct {
	lock    sync.Mutex
	pending []cloud.Event
	wake    chan struct{}
	closed  chan struct{}
	once    sync.Once
}

func (w *watch) add(event cloud.Event) {
	w.lock.Lock()
	w.pending = append(w.pending, event)
	w.lock.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watch) take() []cloud.Event {
	w.lock.Lock()
	defer w.lock.Unlock()
	events := w.pending
	w.pending = nil
	return events
}

func (w *watch) close() { w.once.Do(func() { close(w.closed) }) }

func (w *watch) run(ctx context.Context, out chan<- cloud.Event) {
	defer close(out)
	for {
		for _, event := range w.take() {
			select {
			case out <- event:
			case <-ctx.Done():
				return
			case <-w.closed:
				return
			}
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
			return
		case <-w.closed:
			return
		}
	}
}

// Watch streams events; see cloud.Cloud.
func (c *Cloud) Watch(ctx context.Context) (<-chan cloud.Event, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := c.enter(ctx, CallWatch); err != nil {
		return nil, err
	}
	w := &watch{wake: make(chan struct{}, 1), closed: make(chan struct{})}
	w.add(cloud.Event{Kind: cloud.EventSynced})
	c.watches[w] = struct{}{}
	context.AfterFunc(ctx, func() { c.forget(w) })
	out := make(chan cloud.Event)
	go w.run(ctx, out)
	return out, nil
}

// DropWatches closes all watches, like a lost connection. Events before the next Watch are missed.
func (c *Cloud) DropWatches() {
	c.lock.Lock()
	defer c.lock.Unlock()
	for w := range c.watches {
		w.close()
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

// emit sends an event to all watchers. Callers must hold the lock.
func (c *Cloud) emit(event cloud.Event) {
	for w := range c.watches {
		w.add(event)
	}
}

func (c *Cloud) emitInstance(i *instance) {
	c.emit(cloud.Event{Kind: cloud.EventInstance, Name: i.Name, ID: i.ID, Pool: i.Pool, Tags: i.Tags})
}

func (c *Cloud) emitPool(p *pool) {
	c.emit(cloud.Event{Kind: cloud.EventPool, Name: p.Name, Tags: p.Tags})
}

func (c *Cloud) emitLoadBalancer(lb *loadBalancer) {
	c.emit(cloud.Event{Kind: cloud.EventLoadBalancer, Name: lb.Name, Tags: lb.Tags})
}
