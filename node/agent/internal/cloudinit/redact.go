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

// maxHeldLine is how many bytes of an unfinished line are held back.
const maxHeldLine = 64 * 1024

var (
	bootstrapToken = regexp.MustCompile(`\b[a-z0-9]{6}\.[a-z0-9]{16}\b`)
	hexKey         = regexp.MustCompile(`\b(sha256:)?[0-9a-f]{64}\b`)
	secretFlag     = regexp.MustCompile(`(?i)(--?[a-z-]*(?:password|token|secret|key)[= ]+)([^-\s]\S*)`)
)

// redact replaces what looks like a secret: bootstrap tokens, certificate keys, and values of flags
// that carry secrets.
func redact(text string) string {
	text = secretFlag.ReplaceAllString(text, "${1}<redacted>")
	text = bootstrapToken.ReplaceAllString(text, "<redacted>")
	return hexKey.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "sha256:") {
			return found // the hash of a public key is not a secret
		}
		return "<redacted>"
	})
}

// redactor redacts what looks like a secret and passes on complete lines. kubeadm, for example,
// prints a token that any machine can join with.
type redactor struct {
	mu     sync.Mutex
	output io.Writer
	held   []byte
}

// Write passes on the complete lines. It never fails, because a log that cannot be written must not
// stop a command.
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
