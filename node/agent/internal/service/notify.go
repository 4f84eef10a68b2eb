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

package service

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// notifySocket receives what a program says of itself, in systemd's protocol.
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

// reset forgets what an earlier program said.
func (n *notifySocket) reset() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.current = make(chan struct{})
}

// ready is closed when the program that was started after the last reset has said that it has started.
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
