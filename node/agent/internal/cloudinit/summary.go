// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// tailSize is how many bytes of a command's output are kept to find out why it failed.
	tailSize = 8 * 1024
	// maxQuote is the maximum length in bytes of what a message quotes from a command or its
	// output.
	maxQuote = 300

	stopSignal = syscall.SIGTERM
	stopGrace  = 2 * time.Second
)

// tail is a writer that keeps the last tailSize bytes.
type tail struct {
	mu   sync.Mutex
	data []byte
}

// Write appends data and drops what exceeds tailSize.
func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, data...)
	if over := len(t.data) - tailSize; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(data), nil
}

// Lines returns the kept lines that are not empty.
func (t *tail) Lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for line := range strings.Lines(string(t.data)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// complaints match the lines that explain why a command failed, the more specific kind first:
// kubeadm's failed checks, and the usual prefixes of error messages. Hints or a stack trace may
// follow such lines.
var complaints = []*regexp.Regexp{
	regexp.MustCompile(`^\[ERROR `),
	regexp.MustCompile(`(?i)^(error|fatal|panic)\b`),
}

// summary returns the line of a failed command's output that explains the failure: the last line
// that looks like a complaint, or else the last line.
func summary(lines []string) string {
	if len(lines) == 0 {
		return "it wrote nothing"
	}
	for _, complaint := range complaints {
		for _, line := range slices.Backward(lines) {
			if complaint.MatchString(line) {
				return shorten(line)
			}
		}
	}
	return shorten(lines[len(lines)-1])
}

func shorten(text string) string {
	if len(text) <= maxQuote {
		return text
	}
	return strings.ToValidUTF8(text[:maxQuote], "") + "..."
}
