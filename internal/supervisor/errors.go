// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// ExitedError reports that a process exited although nobody stopped it.
type ExitedError struct {
	// Name of the process.
	Name string
	// Log is the path of its log.
	Log string
	// Err is its exit status or signal.
	Err error
}

func (e *ExitedError) Error() string { return fmt.Sprintf("%s exited: %v", e.Name, e.Err) }

// Unwrap returns the exit status or signal.
func (e *ExitedError) Unwrap() error { return e.Err }

// NotReadyError reports that a process did not become ready.
type NotReadyError struct {
	// Name of the process.
	Name string
	// Log is the path of its log.
	Log string
	// Err wraps an ExitedError if the process died, or else the last error of its readiness check.
	Err error
}

func (e *NotReadyError) Error() string {
	return fmt.Sprintf("%s did not become ready: %v", e.Name, e.Err)
}

// Unwrap returns why the process is not ready.
func (e *NotReadyError) Unwrap() error { return e.Err }

// LogOf returns the path of the log for err, and whether there is one.
func LogOf(err error) (string, bool) {
	var notReady *NotReadyError
	if errors.As(err, &notReady) {
		return notReady.Log, true
	}
	var exited *ExitedError
	if errors.As(err, &exited) {
		return exited.Log, true
	}
	return "", false
}

// tailBytes is how many bytes at the end of a log are read to find its last lines.
const tailBytes = 16 << 10

// LastLines returns the last count lines of a log, oldest first.
func LastLines(path string, count int) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	start := max(0, info.Size()-tailBytes)
	content, err := io.ReadAll(io.NewSectionReader(file, start, info.Size()-start))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(bytes.TrimRight(content, "\n")), "\n")
	if start > 0 {
		lines = lines[1:] // the first is incomplete
	}
	if len(lines) > count {
		lines = lines[len(lines)-count:]
	}
	return lines, nil
}
