// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/connlimit"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

const (
	// maxSocketPath is the kernel's limit for the path of a unix socket, in bytes.
	maxSocketPath = 107
	probeTimeout  = time.Second
)

// endpoint is an open address of the API.
type endpoint struct {
	net.Listener
	address string
}

func closeAll(endpoints []endpoint) {
	for _, open := range endpoints {
		_ = open.Close()
	}
}

// listen opens all addresses that some selects, or none.
func (c *checked) listen(ctx context.Context, some func(address string) bool) ([]endpoint, error) {
	var endpoints []endpoint
	for _, address := range c.Listen {
		if !some(address) {
			continue
		}
		listener, err := c.listenOn(ctx, address)
		if err != nil {
			closeAll(endpoints)
			return nil, err
		}
		endpoints = append(endpoints, endpoint{Listener: listener, address: address})
	}
	return endpoints, nil
}

// inside reports whether an address is the one at which instances find the cloud. It belongs to the
// cloud's network namespace, so it can only be opened there.
func (c *checked) inside(address string) bool {
	endpoint, err := url.Parse(address)
	return err == nil && endpoint.Hostname() == store.Gateway(c.network).String()
}

func (c *checked) outside(address string) bool { return !c.inside(address) }

func (c *checked) listenOn(ctx context.Context, address string) (net.Listener, error) {
	endpoint, err := url.Parse(address)
	switch {
	case err == nil && endpoint.Scheme == "unix" && endpoint.Host == "" && endpoint.Path != "":
		return listenUnix(ctx, endpoint.Path)
	case err == nil && endpoint.Scheme == "https" && endpoint.Host != "" && endpoint.Path == "":
		return c.listenTLS(ctx, endpoint.Host)
	default:
		return nil, fmt.Errorf("--listen %q: must be unix:///path or https://address:port", address)
	}
}

func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("--listen: the path of socket %s is longer than %d characters", path, maxSocketPath)
	}
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	// Create the socket inaccessible to others: changing its mode afterwards would leave a gap.
	before := unix.Umask(0o177)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	unix.Umask(before)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return listener, nil
}

// removeStale removes the socket of a daemon that was killed. If the socket answers, another daemon
// is using it.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if info.Mode().Type() != os.ModeSocket {
		return fmt.Errorf("--listen: %s exists and is not a socket", path)
	}
	conn, err := (&net.Dialer{Timeout: probeTimeout}).DialContext(ctx, "unix", path)
	if err == nil {
		_ = conn.Close()
		return fmt.Errorf("--listen: socket %s is in use by another process: choose another, or stop that one", path)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	return nil
}

func (c *checked) listenTLS(ctx context.Context, address string) (net.Listener, error) {
	certificates, err := c.certificates(address)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, fmt.Errorf("--listen: %s is in use by another process: choose another port", address)
	}
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return tls.NewListener(connlimit.New(listener, maxClients, maxClientsEach), &tls.Config{
		GetCertificate: certificates, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
	}), nil
}
