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
	// tailSize is how much of a command's output is kept to tell why it failed, in bytes.
	tailSize = 8 * 1024
	// maxQuote is the longest piece of a command or of its output that a message quotes, in bytes.
	maxQuote = 300

	stopSignal = syscall.SIGTERM
	stopGrace  = 2 * time.Second
)

// tail is a writer that keeps the end of what was written.
type tail struct {
	mu   sync.Mutex
	data []byte
}

// Write keeps the end of data.
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

// complaints recognise the lines that say why a command failed, the more telling kind first: kubeadm's failed checks, and what
// programs begin their last words with. After these, hints or a stack trace may follow.
var complaints = []*regexp.Regexp{
	regexp.MustCompile(`^\[ERROR `),
	regexp.MustCompile(`(?i)^(error|fatal|panic)\b`),
}

// summary chooses the line of a failed command's output that says why: the last that looks like a complaint, or the last.
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
