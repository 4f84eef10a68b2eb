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

package cri

import (
	"io"
	"sync"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/crilog"
)

// broadcast gives a process's output to those who are attached to it.
type broadcast struct {
	mu        sync.Mutex
	listeners map[*listener]struct{}
	done      chan struct{}
}

type listener struct {
	writers map[crilog.Stream]io.Writer
}

func newBroadcast() *broadcast {
	return &broadcast{listeners: map[*listener]struct{}{}, done: make(chan struct{})}
}

// tee returns a reader that passes on what it reads to the listeners.
func (b *broadcast) tee(stream crilog.Stream, reader io.Reader) io.Reader {
	return io.TeeReader(reader, teeWriter{broadcast: b, stream: stream})
}

type teeWriter struct {
	broadcast *broadcast
	stream    crilog.Stream
}

// Write never fails, since a listener that went away must not stop the process's log.
func (t teeWriter) Write(data []byte) (int, error) {
	t.broadcast.mu.Lock()
	defer t.broadcast.mu.Unlock()
	for l := range t.broadcast.listeners {
		writer := l.writers[t.stream]
		if writer == nil {
			continue
		}
		if _, err := writer.Write(data); err != nil {
			delete(t.broadcast.listeners, l)
		}
	}
	return len(data), nil
}

// add adds a listener until the returned function is called.
func (b *broadcast) add(writers map[crilog.Stream]io.Writer) (remove func()) {
	l := &listener{writers: writers}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners[l] = struct{}{}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners, l)
	}
}

// close tells listeners that no more output comes.
func (b *broadcast) close() { close(b.done) }
