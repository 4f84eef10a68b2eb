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
	// loneInterval is the time between two checks of the only backend: clients have nowhere else to go.
	loneInterval = 5 * time.Second
	// checkInterval is that time where there are several.
	checkInterval = 400 * time.Millisecond
	// urgentInterval is that time while no backend is ready.
	urgentInterval = 100 * time.Millisecond
	// suspectAfter is how long a ready backend may be silent while another answers. Together with the time between two
	// checks it is below a second. On a busy machine all are slow alike, and none is suspected.
	suspectAfter = 500 * time.Millisecond
	// checkTimeout is how long one check may take.
	checkTimeout = time.Second
	// maxAnswer is how much of an answer is read to be able to use the connection again.
	maxAnswer = 4 << 10
)

// checker checks one backend. It keeps its connection, so that a check costs no handshake.
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
			// Only whether it answers counts; the client that is forwarded verifies who answers.
			TLSClientConfig:     &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: checkTimeout,
			MaxIdleConns:        1,
		},
	}
}

func (c *checker) close() { c.transport.CloseIdleConnections() }

// check asks the backend how it is, and reports whether it was late to answer.
func (c *checker) check(ctx context.Context) (found health, late bool) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, http.NoBody)
	if err != nil {
		return down, false
	}
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		// A connection that does not answer any more must not be asked again.
		c.transport.CloseIdleConnections()
		return classify(err), ctx.Err() != nil || isTimeout(err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxAnswer))
	switch response.StatusCode {
	// An API server that does not let anonymous clients ask is up all the same.
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

// classify tells a backend that does not even accept a connection from one that does not answer on it.
func classify(err error) health {
	var operation *net.OpError
	if errors.As(err, &operation) && operation.Op == "dial" {
		return down
	}
	return accepting
}
