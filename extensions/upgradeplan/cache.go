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
	// fresh is how long an answer is used without asking again.
	fresh = time.Minute
	// forgotten is how long an answer is kept after it was last used.
	forgotten = time.Hour
	// patience is how long a caller waits for an answer. Handlers must finish within 200 ms.
	patience = 100 * time.Millisecond
	// allowance is how long a slow source may take.
	allowance = 30 * time.Second
)

// ErrNotKnownYet means that a source has not answered yet. A later call returns the answer.
var ErrNotKnownYet = errors.New("no answer yet; the request will be repeated")

// Cached returns a source that keeps the answers of another one for a minute for each cluster. It
// answers within a tenth of a second, however long the other one takes: with the last answer, or
// with ErrNotKnownYet if there is none. Versions seldom change, so the last answer is used while
// the other source fails.
func Cached(source Source, clock clock.Clock) Source {
	return (&cached{source: source, clock: clock, answers: map[client.ObjectKey]*answer{}}).versions
}

type cached struct {
	source  Source
	clock   clock.Clock
	mu      sync.Mutex
	answers map[client.ObjectKey]*answer
}

// answer is the last answer of a source for a cluster.
type answer struct {
	versions []string
	err      error
	// known is when the source returned the versions, and used when somebody asked for them.
	known, used time.Time
	// asked is closed once the source has answered. It is nil if the source is not being asked.
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

// ask starts a request to the source unless one is running, and returns a channel that is closed
// once the source has answered. It returns nil if the last answer is still fresh.
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
		// Later callers need the answer too, so the request continues when this caller is
		// gone.
		go c.read(context.WithoutCancel(ctx), cluster, said)
	}
	return said.asked
}

// forget drops the answers that nobody has used for a long time.
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
