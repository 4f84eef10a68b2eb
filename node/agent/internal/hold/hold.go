// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hold accepts connections for an API server that does not listen yet, and forwards them once
// it does. A client that is refused may wait long before it tries again.
//
// Limits: the API server sees the address of the holder, not that of the client.
package hold

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// patience is how long a connection is held.
	patience = time.Minute
	// interval is the time between attempts to reach the backend.
	interval = 50 * time.Millisecond
	// dialTimeout is how long an attempt may take.
	dialTimeout = time.Second
)

// Serve holds connections to a port and forwards them to the same port of the address in a file,
// which may come later. It returns only if it cannot. A request to stop is ignored: connections go on
// until the process is killed.
func Serve(port, file string) error {
	signal.Ignore(unix.SIGTERM)
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", ":"+port)
	if err != nil {
		return fmt.Errorf("hold connections: %w", err)
	}
	return serve(listener, func() (string, error) {
		address, err := os.ReadFile(file)
		if err == nil && len(address) == 0 {
			err = errors.New("no backend yet")
		}
		return net.JoinHostPort(strings.TrimSpace(string(address)), port), err
	})
}

func serve(listener net.Listener, backend func() (string, error)) error {
	for {
		client, err := listener.Accept()
		if err != nil {
			return fmt.Errorf("hold connections: %w", err)
		}
		go forward(client, backend)
	}
}

// forward connects a client with the backend until both have closed the connection.
func forward(client net.Conn, backend func() (string, error)) {
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	server, err := await(ctx, backend)
	if err != nil {
		fmt.Fprintf(os.Stderr, "foonode: connection from %s was held for %s: %v\n", client.RemoteAddr(), patience, err)
		return
	}
	defer func() { _ = server.Close() }()
	var both sync.WaitGroup
	both.Go(func() { transfer(server, client) })
	both.Go(func() { transfer(client, server) })
	both.Wait()
}

// await connects to the backend as soon as it listens. It returns the last problem if ctx ends first.
func await(ctx context.Context, backend func() (string, error)) (net.Conn, error) {
	dialer, again := net.Dialer{Timeout: dialTimeout}, time.NewTicker(interval)
	defer again.Stop()
	for {
		address, err := backend()
		if err == nil {
			var server net.Conn
			if server, err = dialer.DialContext(ctx, "tcp", address); err == nil {
				return server, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-again.C:
		}
	}
}

// transfer copies one direction of a connection, and its end.
func transfer(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(*net.TCPConn); ok && err == nil {
		_ = half.CloseWrite()
		return
	}
	_ = to.Close()
}
