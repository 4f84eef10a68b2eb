// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/connlimit"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/dns"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/instance"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/registry"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

const (
	// imagesFolder is the folder in the state folder that holds container images.
	imagesFolder = "images"
	// maxPulls is the maximum number of connections that pull images at the same time, and
	// maxPullsEach how many of them one instance may have.
	maxPulls     = 512
	maxPullsEach = 64
	// pullIdleTimeout is how long a connection that pulls images may stay idle.
	pullIdleTimeout = time.Minute
)

// gateway is what instances find at the first address of the network: DNS, a registry, both or
// neither.
type gateway struct {
	address  netip.Addr
	names    *dns.Server
	images   *registry.Registry
	listener net.Listener
	mirror   *instance.Mirror
}

// openGateway opens what the options ask for, but serves nothing yet. It must run in the cloud's
// network namespace, to which its sockets then belong. They answer from anywhere.
func (c *checked) openGateway(ctx context.Context, state *store.Store) (*gateway, error) {
	g := &gateway{address: store.Gateway(c.network)}
	if c.DNS {
		table := &tableOf{state: state}
		var err error
		g.names, err = dns.Listen(ctx, dns.Options{Address: netip.AddrPortFrom(g.address, dns.Port), Network: c.network, Table: table.now})
		if err != nil {
			return nil, err
		}
	}
	if c.RegistryPort == 0 {
		return g, nil
	}
	if err := c.openRegistry(ctx, g); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

func (c *checked) openRegistry(ctx context.Context, g *gateway) error {
	endpoint := net.JoinHostPort(g.address.String(), strconv.Itoa(int(c.RegistryPort)))
	signer, err := authority(c.StateDir)
	if err != nil {
		return err
	}
	certificate, err := sign(signer, g.address.String())
	if err != nil {
		return err
	}
	if g.images, err = registry.Open(registry.Options{Folder: filepath.Join(c.StateDir, imagesFolder), Network: c.network}); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", endpoint)
	if errors.Is(err, unix.EADDRINUSE) {
		return fmt.Errorf("--registry-port: DNS uses %s: choose another port, or 0 for no registry", endpoint)
	}
	if err != nil {
		return fmt.Errorf("--registry-port: %w", err)
	}
	g.listener = tls.NewListener(connlimit.New(listener, maxPulls, maxPullsEach), &tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
	})
	g.mirror = &instance.Mirror{
		Endpoint: "https://" + endpoint,
		CA:       pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signer.Certificate[0]}),
	}
	return nil
}

func (g *gateway) close() {
	if g.names != nil {
		_ = g.names.Close()
	}
	if g.listener != nil {
		_ = g.listener.Close()
	}
}

// serve answers instances until ctx ends.
func (g *gateway) serve(parent context.Context) error {
	group, ctx := errgroup.WithContext(parent)
	if g.names != nil {
		group.Go(func() error { return g.names.Serve(ctx) })
	}
	if g.listener != nil {
		web := &http.Server{
			Handler: g.images, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: pullIdleTimeout,
			// Errors caused by instances do not belong in the host's log.
			ErrorLog:    log.New(io.Discard, "", 0),
			BaseContext: func(net.Listener) context.Context { return ctx },
		}
		group.Go(func() error { return web.Serve(g.listener) })
		group.Go(func() error {
			<-ctx.Done()
			return web.Close()
		})
		klog.Background().Info("Serving images", "endpoint", g.mirror.Endpoint)
	}
	if err := group.Wait(); err != nil && parent.Err() == nil {
		return fmt.Errorf("at %s: %w", g.address, err)
	}
	return nil
}

// tableOf caches the table of the names in a state until the state changes.
type tableOf struct {
	state *store.Store

	mu      sync.Mutex
	version int
	table   *dns.Table
}

func (t *tableOf) now() (*dns.Table, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.state.View(func(tx *store.Tx) error {
		if t.table != nil && t.version == tx.Version() {
			return nil
		}
		instances, err := tx.Instances("")
		if err != nil {
			return err
		}
		balancers, err := tx.LoadBalancers("")
		if err != nil {
			return err
		}
		t.version, t.table = tx.Version(), dns.NewTable(records(instances, balancers))
		return nil
	})
	return t.table, err
}

// records returns the names of the objects that have an address. Objects that failed or are being
// deleted leave their names to their replacements.
func records(instances []store.Instance, balancers []store.LoadBalancer) []dns.Record {
	list := make([]dns.Record, 0, len(instances)+len(balancers))
	for i := range instances {
		record := &instances[i]
		address, err := netip.ParseAddr(record.Address)
		if err == nil && record.State != cloud.InstanceDeleting && record.State != cloud.InstanceFailed {
			list = append(list, dns.Record{Tenant: record.Tenant, Name: record.Hostname, Address: address, Instance: true})
		}
	}
	for i := range balancers {
		record := &balancers[i]
		address, err := netip.ParseAddr(record.Address)
		if err == nil && !record.Deleting {
			list = append(list, dns.Record{Tenant: record.Tenant, Name: record.Name, Address: address})
		}
	}
	return list
}
