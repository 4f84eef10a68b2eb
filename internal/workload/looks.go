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
	// patience is how long a caller waits for a look at a cluster. A cluster that works answers much sooner.
	patience = time.Second
	// freshFor is how long the result of a look waits for its caller, who is woken when there is one.
	freshFor = 10 * time.Second
)

// ErrPending is returned while a workload cluster has not answered yet. It says nothing about the cluster: the answer, or
// why there is none, is there when the caller is woken.
var ErrPending = errors.New("the workload cluster has not answered yet")

// errNoAnswer is why a look ends at its deadline.
var errNoAnswer = errors.New("the workload cluster did not answer in time")

// looks run in the background, at most one at each cluster at a time, each with its own deadline. Callers wait only for
// clusters that answered soon the last time, and not for long, so clusters that do not answer never hold up the others.
type looks[T any] struct {
	// limit bounds one look.
	limit time.Duration
	clock clock.Clock
	// wake is called when a look ends that a caller did not wait for.
	wake func(cluster client.ObjectKey)

	mu      sync.Mutex
	current map[client.ObjectKey]*look[T]
	// slow are the clusters whose last look somebody waited for in vain.
	slow map[client.ObjectKey]bool
}

// look is one look at a cluster. All but done belongs to the lock of the looks.
type look[T any] struct {
	// done is closed when the look has ended.
	done    chan struct{}
	cancel  context.CancelFunc
	awaited bool
	ended   time.Time
	result  T
	err     error
}

func newLooks[T any](limit time.Duration, clock clock.Clock, wake func(client.ObjectKey)) *looks[T] {
	return &looks[T]{
		limit: limit, clock: clock, wake: wake,
		current: map[client.ObjectKey]*look[T]{}, slow: map[client.ObjectKey]bool{},
	}
}

// at returns what do returns, which looks at the cluster, or ErrPending if that takes too long. After ErrPending, the caller
// is woken when the look has ended, and the next call returns its result.
func (l *looks[T]) at(ctx context.Context, cluster client.ObjectKey, do func(context.Context) (T, error)) (T, error) {
	one, slow := l.join(ctx, cluster, do)
	if !slow {
		timer := l.clock.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-one.done:
		case <-ctx.Done():
		case <-timer.C():
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if one.ended.IsZero() {
		one.awaited, l.slow[cluster] = true, true
		var none T
		return none, ErrPending
	}
	if l.current[cluster] == one {
		delete(l.current, cluster)
	}
	return one.result, one.err
}

// join returns the current look at a cluster, which it begins if there is none, and whether the cluster is slow.
func (l *looks[T]) join(ctx context.Context, cluster client.ObjectKey, do func(context.Context) (T, error)) (*look[T], bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one, ok := l.current[cluster]
	if !ok || !one.ended.IsZero() && l.clock.Since(one.ended) > freshFor {
		looking, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), l.limit, errNoAnswer)
		one = &look[T]{done: make(chan struct{}), cancel: cancel}
		l.current[cluster] = one
		go l.run(looking, cluster, one, do)
	}
	return one, l.slow[cluster]
}

func (l *looks[T]) run(ctx context.Context, cluster client.ObjectKey, one *look[T], do func(context.Context) (T, error)) {
	defer one.cancel()
	began := l.clock.Now()
	result, err := do(ctx)
	l.mu.Lock()
	one.result, one.err, one.ended = result, err, l.clock.Now()
	if one.ended.Sub(began) < patience {
		delete(l.slow, cluster)
	}
	wake := one.awaited && l.current[cluster] == one
	l.mu.Unlock()
	close(one.done)
	if wake {
		l.wake(cluster)
	}
}

// forget ends the look at a cluster.
func (l *looks[T]) forget(cluster client.ObjectKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one, ok := l.current[cluster]; ok {
		one.cancel()
	}
	delete(l.current, cluster)
	delete(l.slow, cluster)
}
