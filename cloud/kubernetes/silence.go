// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// silence lets one call at a time through while the API server does not answer, and makes all others
// fail at once. Otherwise each of them would keep a worker of a controller waiting until
// requestTimeout, and the objects of all other clouds with it.
type silence struct {
	next http.RoundTripper

	mu sync.Mutex
	// since is when a call got no answer; zero if the last one got one.
	since time.Time
	// asking is true while a call finds out whether the API server answers again.
	asking bool
}

// RoundTrip implements http.RoundTripper.
func (s *silence) RoundTrip(request *http.Request) (*http.Response, error) {
	leave, err := s.enter()
	if err != nil {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, err
	}
	defer leave()
	response, err := s.next.RoundTrip(request)
	s.note(err)
	return response, err
}

// enter lets a call through, or returns an error. Call leave when the call has ended.
func (s *silence) enter() (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.since.IsZero():
		return func() {}, nil
	case s.asking:
		return nil, fmt.Errorf("no answer since %s", s.since.UTC().Format(time.TimeOnly+"Z"))
	}
	s.asking = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asking = false
	}, nil
}

// note records whether a call got an answer.
func (s *silence) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var problem net.Error
	switch {
	case errors.Is(err, context.Canceled): // says nothing about the API server
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &problem) && problem.Timeout():
		if s.since.IsZero() {
			s.since = time.Now()
		}
	default: // an answer, or an error that comes at once
		s.since = time.Time{}
	}
}
