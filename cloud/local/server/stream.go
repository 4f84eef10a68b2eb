// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
)

const (
	// heartbeat is the time between two keepalives on a watch.
	heartbeat = 15 * time.Second
	chunk     = 32 << 10
)

// stream sends content as it arrives.
func stream(w http.ResponseWriter, content io.Reader) {
	flusher := http.NewResponseController(w)
	buffer := make([]byte, chunk)
	// Send the header immediately, so that a client that follows an empty log knows that it exists.
	err := flusher.Flush()
	for err == nil {
		var count int
		var written error
		count, err = content.Read(buffer)
		if count > 0 {
			_, written = w.Write(buffer[:count])
		}
		if written != nil || flusher.Flush() != nil {
			return
		}
	}
}

// watch sends events, one JSON object per line, until the caller disconnects or the server stops.
func watch(b Backend, w http.ResponseWriter, r *http.Request) error {
	events, err := b.Watch(r.Context())
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", api.Lines)
	flusher := http.NewResponseController(w)
	encoder := json.NewEncoder(w)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		alive := false
		select {
		case event, ok := <-events:
			alive = ok && encoder.Encode(event) == nil
		case <-beat.C:
			_, err := w.Write([]byte("\n"))
			alive = err == nil
		}
		if !alive || flusher.Flush() != nil {
			return nil
		}
	}
}
