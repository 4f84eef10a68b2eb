// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAnswer(t *testing.T) {
	g := NewWithT(t)
	g.Expect(readLine(t.Context(), strings.NewReader("y\nmore"))).To(Equal("y\n"))

	// Nobody answers, and the user presses Ctrl-C.
	reader, writer, err := os.Pipe()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _, _ = writer.Close(), reader.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := readLine(ctx, reader)
		ended <- err
	}()
	g.Consistently(ended).ShouldNot(Receive())
	cancel()
	g.Eventually(ended).Should(Receive(MatchError(context.Canceled)))
}
