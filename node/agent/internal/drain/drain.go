// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package drain makes the clients of a drained instance go elsewhere. A load balancer such as kube-proxy
// sends them no new connections, but cannot close those that they have. An API server whose etcd member
// has left answers with errors, and a client that keeps its connection gets them until the instance ends.
//
// Limits: the kernel must have been built with CONFIG_INET_DIAG_DESTROY; otherwise clients stay. Pods of
// the cluster that use the Service kubernetes may come back until the API server has stopped.
package drain

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
)

const (
	// interval is the time between two looks at the file, and between two rounds.
	interval = 500 * time.Millisecond
	// rounds is how many times connections are closed. For a few seconds, a client may be sent here
	// again, until all nodes of the cloud know that it should not.
	rounds = 20
)

// Await waits until the file says that load balancers no longer use the instance, which is final. It
// returns false if ctx is done before that.
func Await(ctx context.Context, file string) bool {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for !isDrained(file) {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
	return true
}

// isDrained reports whether the file is there and empty. Pods of earlier releases do not have it.
func isDrained(file string) bool {
	text, err := os.ReadFile(file)
	return err == nil && len(text) == 0
}

// Disconnect closes the connections to a port several times, except for those from the instance itself,
// which has the address own. It returns after the last round, with its error, or when ctx is done.
func Disconnect(ctx context.Context, table *process.Table, port string, own netip.Addr) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var err error
	for range rounds {
		err = disconnect(table, port, own)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
	return err
}

// disconnect closes the connections that others have to a port. The kubelet and the other static pods
// use the instance's own address, and keep theirs.
func disconnect(table *process.Table, port string, own netip.Addr) error {
	path, err := exec.LookPath("ss")
	if err != nil {
		return err
	}
	address := own.String()
	if own.Is6() {
		address = "[" + address + "]"
	}
	// What the kernel refuses is not in the exit code, but only on the console.
	kill, err := table.Start(process.Spec{Path: path, Stderr: os.Stderr, Args: []string{
		"ss", "--kill", "--tcp", "--numeric", "state", "established",
		"sport", "=", ":" + port, "and", "not", "(", "dst", "127.0.0.0/8", "or", "dst", "[::1]", "or", "dst", address, ")",
	}})
	if err != nil {
		return err
	}
	<-kill.Done()
	if exit := kill.Exit(); exit.Code != 0 {
		return fmt.Errorf("close the connections to port %s: %s: %s", port, path, exit)
	}
	return nil
}
