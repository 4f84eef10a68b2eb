// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/tls"
	"net"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/connlimit"
)

// Nobody reads while a command leaves its input alone.
func TestACallerThatGoesIsNoticedWithoutReading(t *testing.T) {
	listen := func(network, address string) net.Listener {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), network, address)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { _ = listener.Close() })
		return listener
	}
	for name, listener := range map[string]net.Listener{
		"socket":  listen("unix", t.TempDir()+"/cloud.sock"),
		"network": tls.NewListener(connlimit.New(listen("tcp", "127.0.0.1:0"), 1, 1), &tls.Config{MinVersion: tls.VersionTLS12}),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			caller, err := (&net.Dialer{}).DialContext(t.Context(), listener.Addr().Network(), listener.Addr().String())
			g.Expect(err).NotTo(HaveOccurred())
			conn, err := listener.Accept()
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { _ = conn.Close() })
			gone := make(chan struct{})
			watched := &watchedConn{Conn: conn, gone: func() { close(gone) }}
			go watched.watch(t.Context().Done())
			g.Consistently(gone, 2*goneInterval).ShouldNot(BeClosed())
			g.Expect(caller.Close()).To(Succeed())
			g.Eventually(gone, time.Minute).Should(BeClosed())
		})
	}
}
