// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package service

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// notifySocket receives a program's status notifications, in systemd's protocol.
type notifySocket struct {
	path string
	conn *net.UnixConn

	mu      sync.Mutex
	current chan struct{}
}

func listenNotify(folder, name string) (*notifySocket, error) {
	path := filepath.Join(folder, name+"-notify.sock")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, fmt.Errorf("notify socket: %w", err)
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("notify socket: %w", err)
	}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return nil, fmt.Errorf("notify socket: %w", err)
	}
	n := &notifySocket{path: path, conn: conn, current: make(chan struct{})}
	go n.receive()
	return n, nil
}

// reset discards the notification of an earlier program.
func (n *notifySocket) reset() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.current = make(chan struct{})
}

// ready returns a channel that is closed when the program that was started after the last reset has
// reported that it is ready.
func (n *notifySocket) ready() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.current
}

func (n *notifySocket) receive() {
	buffer := make([]byte, 4096)
	for {
		length, err := n.conn.Read(buffer)
		if err != nil {
			return
		}
		for line := range strings.Lines(string(buffer[:length])) {
			if strings.TrimSpace(line) == "READY=1" {
				n.signal()
			}
		}
	}
}

func (n *notifySocket) signal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.current:
	default:
		close(n.current)
	}
}
