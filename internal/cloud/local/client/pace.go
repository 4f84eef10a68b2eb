// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
)

// How a call is tried again after an answer of 500 or more, or none: up to four times within about a second in all. Every call of
// the API is idempotent, so it does no harm if the one before was carried out.
const (
	attempts    = 4
	firstDelay  = 100 * time.Millisecond
	delayFactor = 2
	// delayJitter spreads the delays, by up to this part of each, so that many clients do not come at once.
	delayJitter = 0.5
)

// pace keeps a client from asking too often. It is safe for concurrent use.
type pace struct {
	mu sync.Mutex
	// until is when the cloud lets itself be asked again.
	until time.Time
	// troubled says that the last call has failed after all attempts. Until one succeeds, each call is made once: the cloud is
	// down for longer than a moment, and whoever waits for it should wait elsewhere.
	troubled bool
}

// serverError is an error of the server that has no type. It may not happen again.
type serverError struct {
	message string
}

func (e *serverError) Error() string { return e.message }

// isPassing reports whether the same call may succeed a moment later.
func isPassing(err error) bool {
	var server *serverError
	return cloud.IsUnavailable(err) || errors.As(err, &server)
}

// admit returns a ThrottledError while the cloud has asked not to be asked, without asking it.
func (p *pace) admit(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if left := p.until.Sub(now); left > 0 {
		return &cloud.ThrottledError{RetryAfter: left}
	}
	return nil
}

// note remembers how a call ended.
func (p *pace) note(err error, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.troubled = isPassing(err)
	if after, throttled := cloud.RetryAfter(err); throttled && now.Add(after).After(p.until) {
		p.until = now.Add(after)
	}
}

// patience returns how the next call may be tried again.
func (p *pace) patience() wait.Backoff {
	p.mu.Lock()
	defer p.mu.Unlock()
	backoff := wait.Backoff{Duration: firstDelay, Factor: delayFactor, Jitter: delayJitter, Steps: attempts - 1}
	if p.troubled {
		backoff.Steps = 0
	}
	return backoff
}

// persist makes a call, and makes it again where that may help. It waits no longer than ctx lasts.
func (p *pace) persist(ctx context.Context, call func() error) error {
	if err := p.admit(time.Now()); err != nil {
		return err
	}
	backoff := p.patience()
	for {
		err := call()
		if !isPassing(err) || backoff.Steps == 0 || !pause(ctx, backoff.Step()) {
			p.note(err, time.Now())
			return err
		}
	}
}

// pause reports whether the whole delay has passed.
func pause(ctx context.Context, delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
