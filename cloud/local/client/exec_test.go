// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestExecEndsAlthoughTheCloudDoesNotAnswer(t *testing.T) {
	g := NewWithT(t)
	socket := filepath.Join(t.TempDir(), "foocloud.sock")
	listener, err := net.Listen("unix", socket)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = listener.Close() })
	called := make(chan struct{})
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = conn.Read(make([]byte, 1))
		close(called)
	}()
	c, err := NewClient(Options{Endpoint: "unix://" + socket, Token: "x"})
	g.Expect(err).NotTo(HaveOccurred())

	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Exec(ctx, "one", ExecOptions{Command: []string{"true"}, Stdout: io.Discard}) }()
	g.Eventually(called, time.Minute).Should(BeClosed())
	leave()
	g.Eventually(ended, time.Minute).Should(Receive(HaveOccurred()))
}
