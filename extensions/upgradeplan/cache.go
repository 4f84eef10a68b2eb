// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package upgradeplan

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// fresh is for how long an answer is taken as it is.
	fresh = time.Minute
	// forgotten is after how long nobody has asked an answer is dropped.
	forgotten = time.Hour
	// patience is how long a caller waits for an answer. Handlers must be done within 200 ms.
	patience = 100 * time.Millisecond
	// allowance is how long a slow source may take.
	allowance = 30 * time.Second
)

// ErrNotKnownYet says that a source has not answered yet. Whoever calls again later learns what it answered.
var ErrNotKnownYet = errors.New("no answer yet, which is asked for again")

// Cached returns a source that asks another one at most once a minute for each cluster, and answers within a tenth of a second
// whatever that takes: with what it said last, or with ErrNotKnownYet if it has not said anything. Versions seldom change, so its
// last answer counts while it fails.
func Cached(source Source, clock clock.Clock) Source {
	return (&cached{source: source, clock: clock, answers: map[client.ObjectKey]*answer{}}).versions
}

type cached struct {
	source  Source
	clock   clock.Clock
	mu      sync.Mutex
	answers map[client.ObjectKey]*answer
}

// answer is what a source said last of a cluster.
type answer struct {
	versions []string
	err      error
	// known is when it gave the versions, and used when somebody asked for them.
	known, used time.Time
	// asked is closed once it has answered; nil if it is not asked now.
	asked chan struct{}
}

func (c *cached) versions(ctx context.Context, cluster client.ObjectKey) ([]string, error) {
	asked := c.ask(ctx, cluster)
	if asked != nil {
		timer := c.clock.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-asked:
		case <-timer.C():
		case <-ctx.Done():
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	said := c.answers[cluster]
	switch {
	case !said.known.IsZero():
		return slices.Clone(said.versions), nil
	case said.err != nil:
		return nil, said.err
	default:
		return nil, ErrNotKnownYet
	}
}

// ask has the source asked unless it has answered just now, and returns what is closed once it has answered.
func (c *cached) ask(ctx context.Context, cluster client.ObjectKey) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	c.forget(now)
	said, found := c.answers[cluster]
	if !found {
		said = &answer{}
		c.answers[cluster] = said
	}
	said.used = now
	if !said.known.IsZero() && now.Sub(said.known) < fresh {
		return nil
	}
	if said.asked == nil {
		said.asked = make(chan struct{})
		// The answer is for later callers too, so it is waited for when this one has gone.
		go c.read(context.WithoutCancel(ctx), cluster, said)
	}
	return said.asked
}

// forget drops the answers that nobody has asked for in a long time.
func (c *cached) forget(now time.Time) {
	for cluster, said := range c.answers {
		if said.asked == nil && now.Sub(said.used) > forgotten {
			delete(c.answers, cluster)
		}
	}
}

func (c *cached) read(ctx context.Context, cluster client.ObjectKey, into *answer) {
	ctx, cancel := context.WithTimeout(ctx, allowance)
	defer cancel()
	versions, err := c.source(ctx, cluster)
	c.mu.Lock()
	defer c.mu.Unlock()
	into.err = err
	if err == nil {
		into.versions, into.known = versions, c.clock.Now()
	}
	close(into.asked)
	into.asked = nil
}
