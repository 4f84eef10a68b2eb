// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"maps"
	"time"
)

const (
	// firstBackoff is how long an effect that failed is left alone. It doubles with each failure.
	firstBackoff = 2 * time.Second
	// maxBackoff bounds that, and so for how long the end of what made it fail may go unnoticed.
	maxBackoff = 2 * time.Minute
)

// maxStale is how often in a row an effect may find that the cache is behind before that counts as a failure.
const maxStale = 50

// attempts are effects that failed. Each is tried again ever more rarely, whatever else has the control plane reconciled in
// between. One that is forgotten is tried at once.
type attempts map[string]attempt

// attempt is the last try of an effect, which failed, or found that the cache is behind.
type attempt struct {
	failures, stale int
	until           time.Time
	err             error
}

// postponedError is the error of an effect that is not tried again yet.
type postponedError struct {
	err   error
	until time.Time
}

func (e *postponedError) Error() string { return e.err.Error() }

func (e *postponedError) Unwrap() error { return e.err }

// run tries an effect, unless it has failed and it is too early to try again: then it returns the same error as before.
func (a attempts) run(effect string, now time.Time, try func() error) error {
	// What was not tried again when it was time is no longer wanted, or failed for a reason of its own.
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
		if errors.Is(err, errStale) { // it is no longer one of those that pass
			err = errors.New(err.Error())
		}
		wait := min(firstBackoff<<min(last.failures, 16), maxBackoff)
		a[effect] = attempt{failures: last.failures + 1, stale: last.stale, until: now.Add(wait), err: err}
	}
	return err
}

// postponed returns when to try again what failed; zero if any of it failed just now, or is not tried by a backoff.
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
