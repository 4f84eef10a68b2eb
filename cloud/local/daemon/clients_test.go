// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

// pipes is a listener whose connections are pipes in this program.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// A client that has nothing to say does not keep its connection, whether it has called before or
// not.
func TestIdleClientsAreCutOff(t *testing.T) {
	for name, first := range map[string]string{
		"sends nothing":       "",
		"sends half a header": "GET / HTTP/1.1\r\nHost:",
		"sends half a body":   "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{",
		"has called before":   "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				listener := make(pipes)
				web := newWebServer(t.Context(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
				}))
				ended := make(chan error)
				go func() { ended <- web.Serve(listener) }()
				client, conn := net.Pipe()
				listener <- conn
				began := time.Now()
				go func() { _, _ = io.WriteString(client, first) }()
				_, err := io.Copy(io.Discard, bufio.NewReader(client))
				g.Expect(err).NotTo(HaveOccurred(), "the server ends the connection")
				g.Expect(time.Since(began)).To(BeNumerically("<=", idleTimeout+readTimeout))
				close(listener)
				g.Expect(errors.Is(<-ended, net.ErrClosed)).To(BeTrue())
			})
		})
	}
}

// The machine's root has a socket of its own, so clients from elsewhere cannot use up all
// connections of the cloud.
func TestClientsOfAPortAreLimited(t *testing.T) {
	g := NewWithT(t)
	c := &checked{Options: Options{StateDir: t.TempDir(), Listen: []string{"https://127.0.0.1:0"}}}
	listeners, err := c.listen(t.Context(), c.outside)
	g.Expect(err).NotTo(HaveOccurred())
	accepted := make(chan net.Conn)
	go func() {
		for {
			conn, err := listeners[0].Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	t.Cleanup(func() { _ = listeners[0].Close() })
	dial := func(client int) net.Conn {
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+client))}}
		conn, err := dialer.Dial("tcp", listeners[0].Addr().String())
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	var last net.Conn
	for i := range maxClients {
		if i == maxClientsEach {
			one := dial(0)
			g.Expect(one.SetReadDeadline(time.Now().Add(time.Minute))).To(Succeed())
			_, err := one.Read(make([]byte, 1))
			g.Expect(err).To(MatchError(io.EOF), "one client cannot take all")
		}
		dial(i / maxClientsEach)
		conn := <-accepted
		t.Cleanup(func() { _ = conn.Close() })
		last = conn
	}
	dial(maxClients / maxClientsEach)
	g.Consistently(accepted, "100ms").ShouldNot(Receive(), "one more has to wait")
	g.Expect(last.Close()).To(Succeed())
	g.Eventually(accepted, "1m").Should(Receive(), "until another leaves")
}
