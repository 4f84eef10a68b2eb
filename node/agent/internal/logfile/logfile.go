// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package logfile writes a log file of bounded size.
//
// When the file reaches its limit, it is renamed to <path>.1, which replaces an older one, and a
// new file is started. So at most twice the limit is kept. Limits: one writer per path.
package logfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// File is a log file of bounded size. It is an io.WriteCloser and safe for concurrent use.
type File struct {
	path  string
	limit int64

	mu   sync.Mutex
	file *os.File
	size int64
}

// Open opens or creates the file at path for appending; limit is its maximum size in bytes. Only
// root can read the file.
func Open(path string, limit int64) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, fmt.Errorf("folder of log file: %w", err)
	}
	f := &File{path: path, limit: limit}
	if err := f.open(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *File) open() error {
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open log file: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return fmt.Errorf("size of log file: %w", err)
	}
	f.file, f.size = file, info.Size()
	return nil
}

// Write appends data. It starts a new file if the current one would exceed its limit.
func (f *File) Write(data []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size > 0 && f.size+int64(len(data)) > f.limit {
		if err := f.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := f.file.Write(data)
	f.size += int64(n)
	if err != nil {
		return n, fmt.Errorf("write log file: %w", err)
	}
	return n, nil
}

func (f *File) rotate() error {
	// The file is absent if a user removed it, or if the last rotation could not open a new one.
	if err := os.Rename(f.path, f.path+".1"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("rotate log file: %w", err)
	}
	old := f.file
	if err := f.open(); err != nil {
		return err
	}
	return old.Close()
}

// Close closes the file.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Close()
}

// tailSize is how many bytes at the end of a file Tail reads.
const tailSize = 2 << 10

// Tail returns the last lines of the file at path, at most count, without line ends. It reads at
// most the last tailSize bytes, so the first line may be cut off at its start.
func Tail(path string, count int) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("end of log file: %w", err)
	}
	defer func() { _ = file.Close() }()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("end of log file: %w", err)
	}
	data := make([]byte, min(size, tailSize))
	if _, err := file.ReadAt(data, size-int64(len(data))); err != nil {
		return nil, fmt.Errorf("end of log file: %w", err)
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(data), ""))
	if text == "" {
		return nil, nil
	}
	lines := strings.Split(text, "\n")
	return lines[max(0, len(lines)-count):], nil
}
