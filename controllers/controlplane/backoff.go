// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"maps"
	"time"
)

const (
	// firstBackoff is how long to wait after the first failure. The wait doubles with each failure.
	firstBackoff = 2 * time.Second
	// maxBackoff limits the wait, and so how long a fixed cause may go unnoticed.
	maxBackoff = 2 * time.Minute
)

// maxStale is how often in a row an effect may find the cache stale before that counts as a
// failure.
const maxStale = 50

// attempts holds the effects that failed. Each has its own backoff, however often the control plane
// is reconciled meanwhile.
type attempts map[string]attempt

// attempt is the last try of an effect, which failed or found the cache stale.
type attempt struct {
	failures, stale int
	until           time.Time
	err             error
}

// postponedError is the error of an effect whose backoff has not passed yet.
type postponedError struct {
	err   error
	until time.Time
}

func (e *postponedError) Error() string { return e.err.Error() }

func (e *postponedError) Unwrap() error { return e.err }

// run tries an effect. During its backoff it returns the last error instead.
func (a attempts) run(effect string, now time.Time, try func() error) error {
	// An effect that was not tried when its backoff ended is no longer wanted.
	maps.DeleteFunc(a, func(_ string, one attempt) bool { return now.Sub(one.until) > maxBackoff })
	last := a[effect]
	if now.Before(last.until) {
		return &postponedError{err: last.err, until: last.until}
	}
	err := try()
	switch {
	case err == nil:
		delete(a, effect)
	case errors.Is(err, errStale) && last.stale < maxStale:
		a[effect] = attempt{failures: last.failures, stale: last.stale + 1, until: now}
	default:
		if errors.Is(err, errStale) { // from now on it counts as a failure like any other
			err = errors.New(err.Error())
		}
		wait := min(firstBackoff<<min(last.failures, 16), maxBackoff)
		a[effect] = attempt{failures: last.failures + 1, stale: last.stale, until: now.Add(wait), err: err}
	}
	return err
}

// postponed returns when to retry what failed; zero if any of it failed just now or has no backoff.
func postponed(failure error) time.Time {
	switch typed := failure.(type) { //nolint:errorlint // it looks into every error that is joined in the failure
	case *postponedError:
		return typed.until
	case interface{ Unwrap() []error }:
		var first time.Time
		for _, err := range typed.Unwrap() {
			until := postponed(err)
			if until.IsZero() {
				return until
			}
			if first.IsZero() || until.Before(first) {
				first = until
			}
		}
		return first
	case interface{ Unwrap() error }:
		return postponed(typed.Unwrap())
	}
	return time.Time{}
}
