// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hold

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// A client connects and speaks before the backend is known, and before it listens.
func TestConnectionIsHeld(t *testing.T) {
	front := listen(t, "127.0.0.1:0")
	place := listen(t, "127.0.0.1:0")
	address := place.Addr().String()
	_ = place.Close() // nothing listens there now
	var known atomic.Bool
	asked := make(chan struct{}, 1)
	go func() {
		_ = serve(front, func() (string, error) {
			select {
			case asked <- struct{}{}:
			default:
			}
			if !known.Load() {
				return "", errors.New("no backend yet")
			}
			return address, nil
		})
	}()
	client, err := net.Dial("tcp", front.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := client.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	<-asked
	known.Store(true)
	<-asked
	<-asked // it was refused once

	backend := listen(t, address)
	server, err := backend.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(server); err != nil || string(got) != "hello" {
		t.Errorf("the backend got %q, %v", got, err)
	}
	// The other direction is still open.
	if _, err := server.Write([]byte("welcome")); err != nil {
		t.Fatal(err)
	}
	_ = server.Close()
	if got, err := io.ReadAll(client); err != nil || string(got) != "welcome" {
		t.Errorf("the client got %q, %v", got, err)
	}
}

func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}
