// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	// loneInterval is the time between two checks if there is only one backend: clients have no
	// alternative anyway.
	loneInterval = 5 * time.Second
	// checkInterval is the time between two checks if there are several backends.
	checkInterval = 400 * time.Millisecond
	// urgentInterval is the time between two checks while no backend is ready.
	urgentInterval = 100 * time.Millisecond
	// suspectAfter is how long a ready backend may be silent while another one answers. Together
	// with checkInterval it is less than a second. On a busy machine all backends are equally slow,
	// so none is suspected.
	suspectAfter = 500 * time.Millisecond
	// checkTimeout is how long one check may take.
	checkTimeout = time.Second
	// maxAnswer is how many bytes of an answer are read so that the connection can be reused.
	maxAnswer = 4 << 10
)

// checker checks one backend. It reuses its connection to save the handshake.
type checker struct {
	url       string
	transport *http.Transport
}

func newChecker(address string) *checker {
	dialer := &net.Dialer{Timeout: checkTimeout}
	return &checker{
		url: "https://" + address + "/readyz",
		transport: &http.Transport{
			DialContext: dialer.DialContext,
			// Only the answer itself counts here; clients verify the backend's certificate.
			TLSClientConfig:     &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: checkTimeout,
			MaxIdleConns:        1,
		},
	}
}

func (c *checker) close() { c.transport.CloseIdleConnections() }

// check checks the health of the backend, and reports whether the answer was late.
func (c *checker) check(ctx context.Context) (found health, late bool) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, http.NoBody)
	if err != nil {
		return down, false
	}
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		// Do not reuse a connection that no longer answers.
		c.transport.CloseIdleConnections()
		return classify(err), ctx.Err() != nil || isTimeout(err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxAnswer))
	switch response.StatusCode {
	// An API server that rejects anonymous requests is up nevertheless.
	case http.StatusOK, http.StatusUnauthorized, http.StatusForbidden:
		return ready, false
	default:
		return accepting, false
	}
}

func isTimeout(err error) bool {
	var asked net.Error
	return errors.As(err, &asked) && asked.Timeout()
}

// classify distinguishes a backend that does not accept connections from one that accepts them but
// does not answer.
func classify(err error) health {
	var operation *net.OpError
	if errors.As(err, &operation) && operation.Op == "dial" {
		return down
	}
	return accepting
}
