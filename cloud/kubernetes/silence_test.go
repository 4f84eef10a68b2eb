// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

type transport func() (*http.Response, error)

func (t transport) RoundTrip(*http.Request) (*http.Response, error) { return t() }

func TestSilence(t *testing.T) {
	g := NewWithT(t)
	next := transport(func() (*http.Response, error) { return nil, context.DeadlineExceeded })
	s := &silence{next: transport(func() (*http.Response, error) { return next() })}
	call := func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://outer", strings.NewReader("body"))
		g.Expect(err).NotTo(HaveOccurred())
		response, err := s.RoundTrip(request)
		if response != nil {
			_ = response.Body.Close()
		}
		return err
	}
	g.Expect(call()).To(MatchError(context.DeadlineExceeded))

	began, answer := make(chan struct{}), make(chan error)
	next = func() (*http.Response, error) {
		close(began)
		if err := <-answer; err != nil {
			return nil, err
		}
		return &http.Response{Body: http.NoBody}, nil
	}
	asked := make(chan error)
	for _, result := range []error{context.DeadlineExceeded, context.Canceled, nil} {
		began = make(chan struct{})
		go func() { asked <- call() }()
		<-began
		g.Expect(call()).To(MatchError(HavePrefix("no answer since ")), "another call is waiting for the answer")
		answer <- result
		if result == nil {
			g.Expect(<-asked).NotTo(HaveOccurred())
		} else {
			g.Expect(<-asked).To(MatchError(result))
		}
	}
	refused := errors.New("connection refused")
	next = func() (*http.Response, error) { return nil, refused }
	g.Expect(call()).To(MatchError(refused))
	g.Expect(call()).To(MatchError(refused), "an error that comes at once keeps nobody waiting")
}
