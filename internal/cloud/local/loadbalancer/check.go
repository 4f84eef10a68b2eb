/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

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
	// checkInterval is the time between two checks of a backend.
	checkInterval = time.Second
	// urgentInterval is that time while no backend is ready.
	urgentInterval = 100 * time.Millisecond
	// checkTimeout is how long one check may take.
	checkTimeout = time.Second
	// maxAnswer is how much of an answer is read to be able to use the connection again.
	maxAnswer = 4 << 10
)

// checker checks one backend. It keeps its connection, so that a check costs no handshake.
type checker struct {
	url       string
	transport *http.Transport
	// last is what the check before found.
	last health
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

// check returns the health of the backend. On a busy machine a ready backend may fail to answer in time once, and
// cutting off all its clients would make the machine busier still; so it is asked a second time, and at once.
func (c *checker) check(ctx context.Context) health {
	found, late := c.ask(ctx)
	if late && c.last == ready {
		found, _ = c.ask(ctx)
	}
	c.last = found
	return found
}

// ask asks once, and reports whether the backend was late to answer.
func (c *checker) ask(ctx context.Context) (found health, late bool) {
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
		return classify(err), ctx.Err() != nil
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

// classify tells a backend that does not even accept a connection from one that does not answer on it.
func classify(err error) health {
	var operation *net.OpError
	if errors.As(err, &operation) && operation.Op == "dial" {
		return down
	}
	return accepting
}
