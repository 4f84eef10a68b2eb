// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package management

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"
)

const (
	loopback = "127.0.0.1"

	// Ports are chosen below the range that the kernel assigns to outgoing connections. No such
	// connection can take a port between its choice and the start of the program that listens on
	// it.
	firstPort = 20000
	portCount = 10000
	// portStride makes concurrently running programs start at different ports.
	portStride = 61
)

// tried counts the ports that this program has checked, so that it hands out none twice.
var tried atomic.Int32

// freePorts returns count TCP ports that nothing listens on at this moment.
func freePorts(ctx context.Context, count int) ([]int, error) {
	ports := make([]int, 0, count)
	for range portCount {
		port := firstPort + (os.Getpid()*portStride+int(tried.Add(1)))%portCount
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", hostPort(port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		if ports = append(ports, port); len(ports) == count {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("find %d free ports on %s: not enough of %d to %d are free", count, loopback, firstPort, firstPort+portCount-1)
}

func hostPort(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

func secureURL(port int) string { return "https://" + hostPort(port) }
