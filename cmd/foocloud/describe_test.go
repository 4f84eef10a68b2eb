// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"
)

// An instance reports its own messages.
func TestDescriptionsDoNotControlTheTerminal(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	g.Expect(writeFields(&out, []field{{"Name", "one"}, {"Empty", ""}, {"Message", "\x1b]0;title\x07first\nsecond\r"}})).To(Succeed())
	g.Expect(out.String()).To(Equal("Name:      one\nMessage:   ^[]0;title\x07first\n           second\n"))
}
