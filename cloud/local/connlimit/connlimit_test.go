// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package connlimit

import (
	"io"
	"net"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestAClientDoesNotKeepOutOthers(t *testing.T) {
	g := NewWithT(t)
	const perClient = 2
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	listener := New(inner, perClient+1, perClient)
	accepted := make(chan net.Conn)
	go func() {
		defer close(accepted)
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			accepted <- conn
		}
	}()
	t.Cleanup(func() {
		g.Expect(listener.Close()).To(Succeed())
		g.Eventually(accepted).Should(BeClosed())
	})
	dial := func(source string) net.Conn {
		conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}).Dial("tcp", inner.Addr().String())
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	var held []net.Conn
	for range perClient {
		dial("127.0.0.2")
		held = append(held, <-accepted)
	}
	more := dial("127.0.0.2")
	g.Expect(more.SetReadDeadline(time.Now().Add(time.Minute))).To(Succeed())
	_, err = more.Read(make([]byte, 1))
	g.Expect(err).To(MatchError(io.EOF), "one too many is closed")
	dial("127.0.0.3")
	other := <-accepted
	g.Expect(Client(other).String()).To(Equal("127.0.0.3"))

	dial("127.0.0.4")
	g.Consistently(accepted).ShouldNot(Receive(), "at the total, clients wait")
	g.Expect(other.Close()).To(Succeed())
	g.Expect(Client(<-accepted).String()).To(Equal("127.0.0.4"))

	g.Expect(held[0].Close()).To(Succeed())
	g.Expect(held[0].Close()).NotTo(Succeed(), "a second close counts for nothing")
	again := dial("127.0.0.2")
	conn := <-accepted
	g.Expect(Client(conn).String()).To(Equal("127.0.0.2"))
	_, err = io.WriteString(conn, "x")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = again.Read(make([]byte, 1))
	g.Expect(err).NotTo(HaveOccurred())
}
