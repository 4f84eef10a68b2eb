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

// Package crilog writes container logs in the format that the Container Runtime Interface asks for.
//
// A line is "<time> <stream> <tag> <text>", where the tag F ends a line and P says that the line goes on. The kubelet
// reads these files itself, for kubectl logs among others, rotates them by size and then asks to reopen them.
package crilog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// MaxChunk is the longest text of one log line in bytes; a longer line is written as several with tag P.
const MaxChunk = 16 * 1024

// Stream names where a line came from.
type Stream string

// The streams of a container.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// Log is the log file of one run of a container, safe for use by several goroutines.
type Log struct {
	path string
	now  func() time.Time

	mu   sync.Mutex
	file *os.File
}

// Open opens or makes the log at path, and its folder.
func Open(path string, now func() time.Time) (*Log, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, fmt.Errorf("folder of container log: %w", err)
	}
	l := &Log{path: path, now: now}
	if err := l.Reopen(); err != nil {
		return nil, err
	}
	return l, nil
}

// Reopen opens the path anew, after the file there was moved away.
func (l *Log) Reopen() error {
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open container log: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.file
	l.file = file
	if old != nil {
		return old.Close()
	}
	return nil
}

// Close closes the log. Later lines are lost.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}

// Line writes one whole line that stands for itself.
func (l *Log) Line(stream Stream, text string) error {
	return l.write(appendEntry(nil, l.now(), entry{stream: stream, text: []byte(text), whole: true}))
}

func (l *Log) write(data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.file.Write(data)
	if err == nil {
		return nil
	}
	return errors.Join(fmt.Errorf("write container log: %w", err), l.cut(n))
}

// cut takes away the last n bytes of the file, the beginning of lines that could not be written whole. It needs the lock.
func (l *Log) cut(n int) error {
	if n == 0 {
		return nil
	}
	info, err := l.file.Stat()
	if err != nil {
		return fmt.Errorf("size of container log: %w", err)
	}
	if err := l.file.Truncate(info.Size() - int64(n)); err != nil {
		return fmt.Errorf("shorten container log: %w", err)
	}
	return nil
}

// Copy writes what reader gives as lines of the stream until it ends. A reader that is closed has ended.
//
// Lines that can not be written are lost, and Copy goes on: a process whose output nobody reads any more would be ended by
// SIGPIPE, or stand still, for a disk that was full for a moment. onLoss is called with the first error of each such time.
func (l *Log) Copy(stream Stream, reader io.Reader, onLoss func(error)) error {
	losing := false
	buffer := make([]byte, MaxChunk)
	var out []byte
	held := 0 // bytes at the start of buffer that belong to a line without its end
	for {
		n, err := reader.Read(buffer[held:])
		held += n
		now := l.now()
		var rest []byte
		out, rest = appendLines(out[:0], now, stream, buffer[:held])
		if len(rest) == len(buffer) || (err != nil && len(rest) > 0) {
			out = appendEntry(out, now, entry{stream: stream, text: rest, whole: err != nil})
			rest = nil
		}
		held = copy(buffer, rest)
		if len(out) > 0 {
			werr := l.write(out)
			if werr != nil && !losing {
				onLoss(werr)
			}
			losing = werr != nil
		}
		if err != nil {
			return ending(err)
		}
	}
}

// ending tells the ordinary ends of a pipe from errors.
func ending(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return fmt.Errorf("read container output: %w", err)
}

type entry struct {
	stream Stream
	text   []byte
	whole  bool
}

func appendLines(out []byte, now time.Time, stream Stream, data []byte) (lines, rest []byte) {
	for {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			return out, data
		}
		out = appendEntry(out, now, entry{stream: stream, text: data[:end], whole: true})
		data = data[end+1:]
	}
}

func appendEntry(out []byte, now time.Time, e entry) []byte {
	out = now.AppendFormat(out, time.RFC3339Nano)
	out = append(out, ' ')
	out = append(out, e.stream...)
	if e.whole {
		out = append(out, " F "...)
	} else {
		out = append(out, " P "...)
	}
	out = append(out, e.text...)
	return append(out, '\n')
}
