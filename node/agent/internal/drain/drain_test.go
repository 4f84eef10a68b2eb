//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process/processtest"
)

// An API server listens for IPv6 and IPv4 on one socket.
func TestClientsGoElsewhere(t *testing.T) {
	// Never unlocked: the thread ends with the test, and so does its network.
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"link set lo up",
		"address add 192.0.2.1/32 dev lo", "address add 192.0.2.2/32 dev lo",
		"address add 2001:db8::1/128 dev lo nodad", "address add 2001:db8::2/128 dev lo nodad",
	} {
		if output, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", args, err, output)
		}
	}
	table := processtest.NewTable(t) // from here on, it reaps all children
	server, err := net.Listen("tcp", "[::]:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go echo(server)
	_, port, err := net.SplitHostPort(server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	connect := func(from, to string) net.Conn {
		t.Helper()
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		conn, err := dialer.Dial("tcp", net.JoinHostPort(to, port))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if !answers(t, conn) {
			t.Fatalf("the server does not answer %s", from)
		}
		return conn
	}

	for own, client := range map[string]string{"192.0.2.1": "192.0.2.2", "2001:db8::1": "2001:db8::2"} {
		kept := []net.Conn{connect(own, own), connect("127.0.0.1", "127.0.0.1"), connect("::1", "::1")}
		cut := connect(client, own)
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			defer stop()
			_, _ = cut.Read(make([]byte, 1)) // until it is closed
		}()
		if err := Disconnect(ctx, table, port, netip.MustParseAddr(own)); err != nil {
			t.Error(err)
		}
		if ctx.Err() == nil {
			t.Errorf("the connection of %s to %s is still there", client, own)
		}
		for _, conn := range kept {
			if !answers(t, conn) {
				t.Errorf("the connection of the instance itself, from %s, was closed", conn.LocalAddr())
			}
		}
	}
}

func echo(server net.Listener) {
	for {
		conn, err := server.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = conn.Close() }()
			_, _ = io.Copy(conn, conn)
		}()
	}
}

func answers(t *testing.T, conn net.Conn) bool {
	t.Helper()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	_, err := conn.Write([]byte("x"))
	if err == nil {
		_, err = conn.Read(make([]byte, 1))
	}
	return err == nil && conn.SetDeadline(time.Time{}) == nil
}
