// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"sync"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// Hub delivers events to watchers. A slow watcher gets fewer events, but never old ones:
// undelivered events about the same object are merged into one.
type Hub struct {
	mu          sync.Mutex
	subscribers map[*subscriber]struct{}
}

// NewHub returns a hub without watchers.
func NewHub() *Hub { return &Hub{subscribers: map[*subscriber]struct{}{}} }

type eventKey struct {
	kind     cloud.EventKind
	name, id string
}

type subscriber struct {
	tenant string
	woke   chan struct{}

	mu      sync.Mutex
	order   []eventKey
	pending map[eventKey]cloud.Event
}

// Publish sends an event to the watchers of a tenant. It never waits for them.
func (h *Hub) Publish(tenant string, event cloud.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subscribers {
		if s.tenant == tenant {
			s.add(event)
		}
	}
}

// Watch returns a channel of a tenant's events from now on, Synced first. It is closed when ctx
// ends.
func (h *Hub) Watch(ctx context.Context, tenant string) <-chan cloud.Event {
	s := &subscriber{tenant: tenant, woke: make(chan struct{}, 1), pending: map[eventKey]cloud.Event{}}
	s.add(cloud.Event{Kind: cloud.EventSynced})
	h.mu.Lock()
	h.subscribers[s] = struct{}{}
	h.mu.Unlock()

	events := make(chan cloud.Event)
	go func() {
		defer close(events)
		defer h.forget(s)
		s.deliver(ctx, events)
	}()
	return events
}

func (h *Hub) forget(s *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.subscribers, s)
}

func (s *subscriber) add(event cloud.Event) {
	key := eventKey{event.Kind, event.Name, event.ID}
	s.mu.Lock()
	if _, ok := s.pending[key]; !ok {
		s.order = append(s.order, key)
	}
	s.pending[key] = event
	s.mu.Unlock()
	select {
	case s.woke <- struct{}{}:
	default:
	}
}

func (s *subscriber) next() (cloud.Event, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) == 0 {
		return cloud.Event{}, false
	}
	key := s.order[0]
	s.order = s.order[1:]
	event := s.pending[key]
	delete(s.pending, key)
	return event, true
}

func (s *subscriber) deliver(ctx context.Context, events chan<- cloud.Event) {
	for {
		event, ok := s.next()
		if !ok {
			select {
			case <-s.woke:
				continue
			case <-ctx.Done():
				return
			}
		}
		select {
		case events <- event:
		case <-ctx.Done():
			return
		}
	}
}
