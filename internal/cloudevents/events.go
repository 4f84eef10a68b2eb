// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudevents

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// Watcher is the part of cloud.Cloud that this package needs.
type Watcher interface {
	// Watch streams the changes in the cloud; see cloud.Cloud.
	Watch(ctx context.Context) (<-chan cloud.Event, error)
}

// MapFunc returns the objects that an event is about.
type MapFunc func(event cloud.Event) []reconcile.Request

// Scope returns which objects a watch is about now. A nil Scope includes all objects.
type Scope func(ctx context.Context) (contains func(client.Object) bool, err error)

// ListFunc returns the objects of a controller for which contains is true.
type ListFunc func(ctx context.Context, contains func(client.Object) bool) ([]reconcile.Request, error)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

type subscriber struct {
	mapEvent MapFunc
	list     ListFunc
	queue    queue
}

// Events is one watch of the cloud, and of other clouds that are followed, shared by the
// controllers of a manager. Add it to the manager.
type Events struct {
	watcher Watcher
	scope   Scope
	backoff wait.Backoff
	// started is closed when Start begins, and followers ends when Start does.
	started      chan struct{}
	followers    context.Context
	endFollowers context.CancelFunc

	lock        sync.RWMutex
	subscribers map[*subscriber]struct{}
}

var (
	_ manager.Runnable               = &Events{}
	_ manager.LeaderElectionRunnable = &Events{}
)

// DefaultBackoff paces attempts to start a watch: from 200 ms to 30 s, doubling, with jitter. It begins
// again after a watch that lasted longer than 30 s.
func DefaultBackoff() wait.Backoff {
	return wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 9, Cap: 30 * time.Second}
}

// New returns an Events that watches the watcher and paces attempts to reconnect by backoff. The
// scope returns which objects belong to that cloud.
func New(watcher Watcher, scope Scope, backoff wait.Backoff) *Events {
	followers, end := context.WithCancel(context.Background())
	return &Events{
		watcher: watcher, scope: scope, backoff: backoff,
		started: make(chan struct{}), followers: followers, endFollowers: end,
		subscribers: map[*subscriber]struct{}{},
	}
}

// NeedLeaderElection returns true: only the leader watches, because only its controllers run.
func (e *Events) NeedLeaderElection() bool { return true }

// Start watches until ctx ends, and restarts the watch whenever it is lost.
func (e *Events) Start(ctx context.Context) error {
	defer e.endFollowers()
	close(e.started)
	e.follow(ctx, e.watcher, e.scope)
	return nil
}

// Follow also reports the events of another watcher to the controllers, from Start until stop is
// called. The scope returns which objects belong to that cloud.
func (e *Events) Follow(watcher Watcher, scope Scope) (stop func()) {
	ctx, stop := context.WithCancel(e.followers)
	go func() {
		select {
		case <-e.started:
			e.follow(ctx, watcher, scope)
		case <-ctx.Done():
		}
	}()
	return stop
}

func (e *Events) follow(ctx context.Context, watcher Watcher, scope Scope) {
	backoff := e.backoff
	for ctx.Err() == nil {
		lasted, err := e.watchOnce(ctx, watcher, scope)
		if lasted > e.backoff.Cap {
			backoff = e.backoff
		}
		if ctx.Err() == nil {
			delay := delayAfter(err, backoff.Step())
			ctrl.LoggerFrom(ctx).Error(err, "Watch of the cloud ended, restarting it", "delay", delay.String())
			select {
			case <-ctx.Done():
			case <-time.After(delay):
			}
		}
	}
}

// watchOnce serves one watch until it ends, and returns how long it lasted after it had synced.
func (e *Events) watchOnce(ctx context.Context, watcher Watcher, scope Scope) (time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := watcher.Watch(ctx)
	if err != nil {
		return 0, fmt.Errorf("watch the cloud: %w", err)
	}
	var synced time.Time
	for event := range events {
		if event.Kind == cloud.EventSynced {
			synced = time.Now()
			e.enqueueAll(ctx, scope)
			continue
		}
		e.enqueue(event)
	}
	ended := fmt.Errorf("watch the cloud: %w", &cloud.UnavailableError{Message: "the event stream was closed"})
	if synced.IsZero() {
		return 0, ended
	}
	return time.Since(synced), ended
}

func (e *Events) enqueue(event cloud.Event) {
	for _, s := range e.current() {
		for _, request := range s.mapEvent(event) {
			s.queue.Add(request)
		}
	}
}

// enqueueAll enqueues all objects in the scope, or all objects if the scope is unknown.
func (e *Events) enqueueAll(ctx context.Context, scope Scope) {
	contains := func(client.Object) bool { return true }
	if scope != nil {
		known, err := scope(ctx)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Reconciling all objects, because it is unknown which belong to the cloud whose watch began")
		} else {
			contains = known
		}
	}
	for _, s := range e.current() {
		requests, err := s.list(ctx, contains)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Objects could not be listed after the watch of the cloud began")
			continue
		}
		for _, request := range requests {
			s.queue.Add(request)
		}
	}
}

func (e *Events) current() []*subscriber {
	e.lock.RLock()
	defer e.lock.RUnlock()
	all := make([]*subscriber, 0, len(e.subscribers))
	for s := range e.subscribers {
		all = append(all, s)
	}
	return all
}

// Source returns a source for one controller. mapEvent returns the objects that an event is about,
// and list returns all objects of the controller.
func (e *Events) Source(mapEvent MapFunc, list ListFunc) source.Source {
	return source.Func(func(ctx context.Context, q queue) error {
		s := &subscriber{mapEvent: mapEvent, list: list, queue: q}
		e.lock.Lock()
		e.subscribers[s] = struct{}{}
		e.lock.Unlock()
		context.AfterFunc(ctx, func() {
			e.lock.Lock()
			defer e.lock.Unlock()
			delete(e.subscribers, s)
		})
		return nil
	})
}

// delayAfter returns the delay of the backoff, or the cloud's own if that is longer.
func delayAfter(err error, backoff time.Duration) time.Duration {
	after, _ := cloud.RetryAfter(err)
	return max(after, backoff)
}

// ListAll returns a ListFunc for the objects of the kind of list that the reader knows. With the
// cached client of a manager, it costs no API request.
func ListAll(reader client.Reader, list client.ObjectList) ListFunc {
	return func(ctx context.Context, contains func(client.Object) bool) ([]reconcile.Request, error) {
		objects, ok := list.DeepCopyObject().(client.ObjectList)
		if !ok {
			return nil, fmt.Errorf("%T is not a list of objects", list)
		}
		if err := reader.List(ctx, objects); err != nil {
			return nil, fmt.Errorf("list %T: %w", list, err)
		}
		var requests []reconcile.Request
		err := meta.EachListItem(objects, func(item runtime.Object) error {
			object, ok := item.(client.Object)
			if !ok {
				return fmt.Errorf("%T is not an API object", item)
			}
			if contains(object) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)})
			}
			return nil
		})
		return requests, err
	}
}
