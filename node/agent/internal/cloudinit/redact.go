// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"sync"
)

// maxHeldLine is how much of a line without its end is held back, in bytes.
const maxHeldLine = 64 * 1024

var (
	bootstrapToken = regexp.MustCompile(`\b[a-z0-9]{6}\.[a-z0-9]{16}\b`)
	hexKey         = regexp.MustCompile(`\b(sha256:)?[0-9a-f]{64}\b`)
	secretFlag     = regexp.MustCompile(`(?i)(--?[a-z-]*(?:password|token|secret|key)[= ]+)([^-\s]\S*)`)
)

// redact hides what looks like a secret: bootstrap tokens, certificate keys, values of flags that carry them.
func redact(text string) string {
	text = secretFlag.ReplaceAllString(text, "${1}<redacted>")
	text = bootstrapToken.ReplaceAllString(text, "<redacted>")
	return hexKey.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "sha256:") {
			return found // the hash of a public key, which is no secret
		}
		return "<redacted>"
	})
}

// redactor passes on whole lines with what looks like a secret hidden. kubeadm, for one, prints a token with which any machine can join.
type redactor struct {
	mu     sync.Mutex
	output io.Writer
	held   []byte
}

// Write passes on the lines that are whole. It never fails, since a log that can not be written must not stop a command.
func (r *redactor) Write(data []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = append(r.held, data...)
	end := bytes.LastIndexByte(r.held, '\n') + 1
	if len(r.held)-end > maxHeldLine {
		end = len(r.held)
	}
	if end > 0 {
		_, _ = io.WriteString(r.output, redact(string(r.held[:end])))
		r.held = append(r.held[:0], r.held[end:]...)
	}
	return len(data), nil
}
