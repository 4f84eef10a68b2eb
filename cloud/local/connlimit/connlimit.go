// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package connlimit limits what clients do at the same time, such as the connections of a listener, in
// total and per client, so that one client cannot keep out all others.
//
// Limits: clients are told apart by their IP address.
package connlimit

import (
	"net"
	"net/netip"
	"sync"
)

// New returns a listener with at most total connections at the same time, and at most perClient from
// the same IP address. At the total, clients wait. A connection above perClient is closed at once.
func New(inner net.Listener, total, perClient int) net.Listener {
	closed := make(chan struct{})
	return &listener{
		Listener: inner, open: NewCounter(total, perClient), room: make(chan struct{}, total),
		closed: closed, close: sync.OnceFunc(func() { close(closed) }),
	}
}

type listener struct {
	net.Listener
	open *Counter
	// room holds one element for each open connection.
	room   chan struct{}
	closed chan struct{}
	close  func()
}

// Accept returns the next connection of a client that may have one more.
func (l *listener) Accept() (net.Conn, error) {
	for {
		select {
		case l.room <- struct{}{}:
		case <-l.closed:
			return nil, net.ErrClosed
		}
		accepted, err := l.Listener.Accept()
		if err != nil {
			<-l.room
			return nil, err
		}
		client := Client(accepted)
		if l.open.Enter(client) {
			return &conn{Conn: accepted, leave: sync.OnceFunc(func() {
				l.open.Leave(client)
				<-l.room
			})}, nil
		}
		_ = accepted.Close()
		<-l.room
	}
}

// Close stops listening. Connections stay open.
func (l *listener) Close() error {
	l.close()
	return l.Listener.Close()
}

// Client returns the IP address of a connection's client; the zero value if it has none.
func Client(conn net.Conn) netip.Addr {
	address, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return address.Addr().Unmap()
}

type conn struct {
	net.Conn
	leave func()
}

// NetConn returns the connection that is limited, as the method of crypto/tls.Conn does.
func (c *conn) NetConn() net.Conn { return c.Conn }

// Close closes the connection.
func (c *conn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// Counter limits how much clients do at the same time, in total and each.
type Counter struct {
	total, perClient int

	mu  sync.Mutex
	all int
	by  map[netip.Addr]int
}

// NewCounter returns a counter that lets in at most total, and at most perClient of one client.
func NewCounter(total, perClient int) *Counter {
	return &Counter{total: total, perClient: perClient, by: map[netip.Addr]int{}}
}

// Enter reports whether a client may do one more thing. If so, call Leave after it.
func (c *Counter) Enter(client netip.Addr) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= c.total || c.by[client] >= c.perClient {
		return false
	}
	c.all++
	c.by[client]++
	return true
}

// Leave ends what Enter let in.
func (c *Counter) Leave(client netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.by[client]--; c.by[client] == 0 {
		delete(c.by, client)
	}
}
