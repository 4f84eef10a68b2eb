// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// patience is how long a caller waits for an inspection. A healthy cluster answers much sooner.
	patience = time.Second
	// freshFor is how long the result of an inspection is kept for its caller, who is woken when the
	// inspection ends.
	freshFor = 10 * time.Second
)

// ErrPending is returned while a workload cluster has not answered yet. It says nothing about the
// cluster. The caller is woken once there is an answer or an error.
var ErrPending = errors.New("the workload cluster has not answered yet")

// errNoAnswer is the error of an inspection that reached its deadline.
var errNoAnswer = errors.New("the workload cluster did not answer in time")

// inspections run in the background, at most one per cluster at a time, each with its own deadline.
// A caller waits, briefly, only for a cluster that answered quickly the last time. So clusters that
// do not answer never delay the others.
type inspections[T any] struct {
	// limit bounds one inspection.
	limit time.Duration
	clock clock.Clock
	// wake is called at the end of an inspection that a caller did not wait for.
	wake func(cluster client.ObjectKey)

	mu      sync.Mutex
	current map[client.ObjectKey]*inspection[T]
	// slow holds the clusters whose last inspection took longer than a caller waited.
	slow map[client.ObjectKey]bool
}

// inspection is one inspection of a cluster. The lock of inspections guards all fields but done.
type inspection[T any] struct {
	// done is closed when the inspection has ended.
	done    chan struct{}
	cancel  context.CancelFunc
	awaited bool
	ended   time.Time
	result  T
	err     error
}

func newInspections[T any](limit time.Duration, clock clock.Clock, wake func(client.ObjectKey)) *inspections[T] {
	return &inspections[T]{
		limit: limit, clock: clock, wake: wake,
		current: map[client.ObjectKey]*inspection[T]{}, slow: map[client.ObjectKey]bool{},
	}
}

// inspect returns the result of do, which inspects the cluster, or ErrPending if that takes too
// long. After ErrPending, the caller is woken when the inspection ends, and the next call returns
// its result.
func (i *inspections[T]) inspect(ctx context.Context, cluster client.ObjectKey, do func(context.Context) (T, error)) (T, error) {
	one, slow := i.join(ctx, cluster, do)
	if !slow {
		timer := i.clock.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-one.done:
		case <-ctx.Done():
		case <-timer.C():
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if one.ended.IsZero() {
		one.awaited, i.slow[cluster] = true, true
		var none T
		return none, ErrPending
	}
	if i.current[cluster] == one {
		delete(i.current, cluster)
	}
	return one.result, one.err
}

// join returns the current inspection of a cluster, and whether the cluster is slow. It starts one
// if there is none.
func (i *inspections[T]) join(ctx context.Context, cluster client.ObjectKey, do func(context.Context) (T, error)) (*inspection[T], bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	one, ok := i.current[cluster]
	if !ok || !one.ended.IsZero() && i.clock.Since(one.ended) > freshFor {
		limited, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), i.limit, errNoAnswer)
		one = &inspection[T]{done: make(chan struct{}), cancel: cancel}
		i.current[cluster] = one
		go i.run(limited, cluster, one, do)
	}
	return one, i.slow[cluster]
}

func (i *inspections[T]) run(ctx context.Context, cluster client.ObjectKey, one *inspection[T], do func(context.Context) (T, error)) {
	defer one.cancel()
	began := i.clock.Now()
	result, err := do(ctx)
	i.mu.Lock()
	one.result, one.err, one.ended = result, err, i.clock.Now()
	if one.ended.Sub(began) < patience {
		delete(i.slow, cluster)
	}
	wake := one.awaited && i.current[cluster] == one
	i.mu.Unlock()
	close(one.done)
	if wake {
		i.wake(cluster)
	}
}

// forget cancels the inspection of a cluster.
func (i *inspections[T]) forget(cluster client.ObjectKey) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if one, ok := i.current[cluster]; ok {
		one.cancel()
	}
	delete(i.current, cluster)
	delete(i.slow, cluster)
}
