// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// A call that gets an answer of 500 or more, or none, is attempted up to four times within about a
// second. Every call of the API is idempotent, so a retry does no harm if the previous attempt was
// carried out.
const (
	attempts    = 4
	firstDelay  = 100 * time.Millisecond
	delayFactor = 2
	// delayJitter lengthens each delay by up to this fraction, so that many clients do not retry
	// simultaneously.
	delayJitter = 0.5
)

// pace keeps a client from sending requests too often. It is safe for concurrent use.
type pace struct {
	mu sync.Mutex
	// until is when the cloud accepts requests again.
	until time.Time
	// troubled means that the last call failed after all attempts. Until one succeeds, each call is
	// attempted only once: the cloud is down for longer than a moment, and callers should wait
	// elsewhere.
	troubled bool
}

// serverError is an untyped server error. A retry may succeed.
type serverError struct {
	message string
}

func (e *serverError) Error() string { return e.message }

// isPassing reports whether the same call may succeed a moment later.
func isPassing(err error) bool {
	var server *serverError
	return cloud.IsUnavailable(err) || errors.As(err, &server)
}

// admit returns a ThrottledError, without calling the cloud, until the wait that the cloud asked
// for has passed.
func (p *pace) admit(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if left := p.until.Sub(now); left > 0 {
		return &cloud.ThrottledError{RetryAfter: left}
	}
	return nil
}

// note records how a call ended.
func (p *pace) note(err error, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.troubled = isPassing(err)
	if after, throttled := cloud.RetryAfter(err); throttled && now.Add(after).After(p.until) {
		p.until = now.Add(after)
	}
}

// patience returns the backoff for retrying the next call.
func (p *pace) patience() wait.Backoff {
	p.mu.Lock()
	defer p.mu.Unlock()
	backoff := wait.Backoff{Duration: firstDelay, Factor: delayFactor, Jitter: delayJitter, Steps: attempts - 1}
	if p.troubled {
		backoff.Steps = 0
	}
	return backoff
}

// persist makes a call and retries it while that may help. It waits no longer than ctx lasts.
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

// pause waits for the delay and reports whether all of it has passed.
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
