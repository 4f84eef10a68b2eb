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
	// patience is how long a caller waits for a look at a cluster. A healthy cluster answers much
	// sooner.
	patience = time.Second
	// freshFor is how long the result of a look is kept for its caller, who is woken when the look
	// ends.
	freshFor = 10 * time.Second
)

// ErrPending is returned while a workload cluster has not answered yet. It says nothing about the
// cluster. The caller is woken once there is an answer or an error.
var ErrPending = errors.New("the workload cluster has not answered yet")

// errNoAnswer is the error of a look that reached its deadline.
var errNoAnswer = errors.New("the workload cluster did not answer in time")

// looks run in the background, at most one per cluster at a time, each with its own deadline. A
// caller waits, briefly, only for a cluster that answered quickly the last time. So clusters that
// do not answer never delay the others.
type looks[T any] struct {
	// limit bounds one look.
	limit time.Duration
	clock clock.Clock
	// wake is called at the end of a look that a caller did not wait for.
	wake func(cluster client.ObjectKey)

	mu      sync.Mutex
	current map[client.ObjectKey]*look[T]
	// slow holds the clusters whose last look took longer than a caller waited.
	slow map[client.ObjectKey]bool
}

// look is one look at a cluster. The lock of looks guards all fields but done.
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

// at returns the result of do, which looks at the cluster, or ErrPending if that takes too long.
// After ErrPending, the caller is woken when the look ends, and the next call returns its result.
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

// join returns the current look at a cluster, and whether the cluster is slow. It starts a look if
// there is none.
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

// forget cancels the look at a cluster.
func (l *looks[T]) forget(cluster client.ObjectKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one, ok := l.current[cluster]; ok {
		one.cancel()
	}
	delete(l.current, cluster)
	delete(l.slow, cluster)
}
