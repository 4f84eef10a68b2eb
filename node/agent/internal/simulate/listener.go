/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package simulate

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

const (
	// notice is what an HTTP client reads.
	notice = "simulated by Foo: nothing runs in this pod\n"

	// idleTimeout ends connections whose client does nothing.
	idleTimeout = time.Minute

	// tlsHandshake is the first byte of a TLS connection.
	tlsHandshake = 0x16
)

// http2Preface is how a client of HTTP/2 without TLS, such as gRPC's, begins.
var http2Preface = []byte("PRI * HTTP/2.0")

// Answerer answers connections to simulated pods.
type Answerer struct {
	listener net.Listener
	web      *queue
	rpc      *queue
	config   func() (*tls.Config, error)
}

// Listen opens the listener to which connections are redirected, on a port that the kernel chooses.
func Listen() (*Answerer, error) {
	listener, err := net.ListenTCP("tcp", nil) // every address: what comes from outside is redirected to the instance's own
	if err != nil {
		return nil, fmt.Errorf("listen for simulated pods: %w", err)
	}
	return &Answerer{
		listener: listener,
		web:      newQueue(listener.Addr()),
		rpc:      newQueue(listener.Addr()),
		config:   sync.OnceValues(selfSigned),
	}, nil
}

// Port of the listener.
func (a *Answerer) Port() uint16 {
	address, ok := a.listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0
	}
	return uint16(address.Port)
}

// Serve answers until ctx is done.
func (a *Answerer) Serve(ctx context.Context) {
	web := &http.Server{
		Handler:           http.HandlerFunc(answerHTTP),
		ReadHeaderTimeout: idleTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          log.New(io.Discard, "", 0), // clients that probe and go away are no news
	}
	rpc := grpc.NewServer()
	healthpb.RegisterHealthServer(rpc, anyHealth{Server: health.NewServer()})
	stop := context.AfterFunc(ctx, func() {
		_ = a.listener.Close()
		_ = web.Close()
		rpc.Stop()
	})
	defer stop()
	go func() { _ = web.Serve(a.web) }() // its end is that of ctx
	go func() { _ = rpc.Serve(a.rpc) }()
	a.accept(a.listener)
}

// Answer answers connections to the port of the address, or of every address for the zero one, until it is closed. It is for
// ports of the instance's own addresses, which can not be redirected as those of pods are: processes listen on others of them.
func (a *Answerer) Answer(address netip.AddrPort) (io.Closer, error) {
	listener, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(address))
	if err != nil {
		return nil, fmt.Errorf("listen for a simulated pod: %w", err)
	}
	go a.accept(listener)
	return listener, nil
}

// accept answers the connections of a listener until that is closed.
func (a *Answerer) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			go a.route(conn)
		}
	}
}

func answerHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if req.Method != http.MethodHead {
		_, _ = io.WriteString(w, notice)
	}
}

// anyHealth is a health service that knows every service, and each is serving.
type anyHealth struct{ *health.Server }

// Check answers SERVING, whatever is asked for.
func (anyHealth) Check(context.Context, *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	return &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_SERVING}, nil
}

// route gives a connection to the server for what its client begins with.
func (a *Answerer) route(conn net.Conn) {
	if err := conn.SetReadDeadline(time.Now().Add(idleTimeout)); err != nil {
		_ = conn.Close()
		return
	}
	peeked := &peekedConn{Conn: conn, reader: bufio.NewReader(conn)}
	first, err := peeked.reader.Peek(1)
	if err != nil {
		_ = conn.Close() // it said nothing, as the probes of open ports do
		return
	}
	if first[0] == tlsHandshake {
		config, err := a.config()
		if err != nil {
			_ = conn.Close()
			return
		}
		a.web.put(tls.Server(peeked, config))
		return
	}
	start, _ := peeked.reader.Peek(len(http2Preface)) // a shorter first packet is no preface
	if bytes.Equal(start, http2Preface) {
		a.rpc.put(peeked)
		return
	}
	a.web.put(peeked)
}

// peekedConn is a connection of which the beginning was looked at.
type peekedConn struct {
	net.Conn
	reader *bufio.Reader
}

// Read reads what was looked at first.
func (c *peekedConn) Read(data []byte) (int, error) { return c.reader.Read(data) }

// queue is a listener whose connections are put in by hand.
type queue struct {
	address net.Addr
	conns   chan net.Conn
	closed  chan struct{}
	close   func()
}

func newQueue(address net.Addr) *queue {
	closed := make(chan struct{})
	return &queue{address: address, conns: make(chan net.Conn), closed: closed, close: sync.OnceFunc(func() { close(closed) })}
}

func (q *queue) put(conn net.Conn) {
	_ = conn.SetReadDeadline(time.Time{}) // the server sets its own
	select {
	case q.conns <- conn:
	case <-q.closed:
		_ = conn.Close()
	}
}

// Accept returns the next connection that was put in.
func (q *queue) Accept() (net.Conn, error) {
	select {
	case conn := <-q.conns:
		return conn, nil
	case <-q.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (q *queue) Close() error {
	q.close()
	return nil
}

// Addr is that of the real listener.
func (q *queue) Addr() net.Addr { return q.address }
