// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
)

const (
	// silence is how long a watch may send nothing, not even its begin or a keepalive, before it counts as
	// lost.
	silence = 45 * time.Second
	// maxEvent is the maximum length of an event in bytes.
	maxEvent = 1 << 20
)

// Watch implements cloud.Cloud.
func (c *Client) Watch(ctx context.Context) (<-chan cloud.Event, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	watchdog := time.AfterFunc(silence, func() { cancel(errTimeout) })
	end := func() {
		watchdog.Stop()
		cancel(nil)
	}
	stream, err := c.stream(ctx, api.PathWatch)
	if err != nil {
		end()
		return nil, err
	}
	events := make(chan cloud.Event)
	go func() {
		defer end()
		defer close(events)
		defer func() { _ = stream.Close() }()
		read(ctx, watchdog, stream, events)
	}()
	return events, nil
}

// read passes on events until the stream ends. It puts off the watchdog at each sign of life.
func read(ctx context.Context, watchdog *time.Timer, stream io.Reader, events chan<- cloud.Event) {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		watchdog.Reset(silence)
		if !deliver(ctx, lines.Bytes(), events) {
			return
		}
	}
}

// deliver passes on the event in a line; empty lines are keepalives. It returns false to end the
// watch.
func deliver(ctx context.Context, line []byte, events chan<- cloud.Event) bool {
	if len(bytes.TrimSpace(line)) == 0 {
		return true
	}
	var event cloud.Event
	if err := json.Unmarshal(line, &event); err != nil {
		return false
	}
	select {
	case events <- event:
		return true
	case <-ctx.Done():
		return false
	}
}

// Healthy returns nil if the daemon answers.
func (c *Client) Healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, dialTimeout, errTimeout)
	defer cancel()
	response, err := c.send(ctx, http.MethodGet, api.PathHealth, nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}
