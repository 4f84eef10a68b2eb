// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/config"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/inotify"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/instance"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/loadbalancer"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/network"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/process"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/server"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

const (
	shutdownTimeout   = 2 * time.Second
	readHeaderTimeout = 10 * time.Second
	// readTimeout is how long a call may take to arrive, unless the server allows it more time.
	readTimeout = 30 * time.Second
	// idleTimeout is how long a connection may stay idle.
	idleTimeout = 2 * time.Minute
	// maxClients is the maximum number of connections of a listener that not only the machine's
	// root can reach, and maxClientsEach how many of them one machine may have: a manager has at least
	// one for each identity that it uses.
	maxClients     = 1024
	maxClientsEach = 768
)

// Serve runs the cloud until ctx ends. Instances and load balancers keep running; the next Serve of
// the same state folder finds them again.
func Serve(ctx context.Context, options Options) error {
	// Users other than root must get into the folders of instances. What is secret has a mode that says so.
	unix.Umask(0o022)
	c, settings, err := options.prepare()
	if err != nil {
		return refuse(err)
	}
	noDisks := c.noDisks(ctx)
	if err := process.Adopt(); err != nil {
		return err
	}
	locked, err := lock(c.StateDir)
	if err != nil {
		return err
	}
	defer func() { _ = locked.Close() }()
	// Upgrades of packages keep an operating system that is open.
	system, err := os.Open(c.SystemDir)
	if err != nil {
		return err
	}
	defer func() { _ = system.Close() }()
	state, err := store.Open(filepath.Join(c.StateDir, stateFile))
	if err != nil {
		return err
	}
	defer func() { _ = state.Close() }()
	endpoints, err := c.listen(ctx, c.outside)
	if err != nil {
		return err
	}
	return c.serve(ctx, settings, noDisks, state, endpoints)
}

// prepare checks the options and this machine.
func (o Options) prepare() (*checked, *config.Config, error) {
	if err := requireRoot(); err != nil {
		return nil, nil, err
	}
	settings, err := config.Load(o.Config)
	if err != nil {
		return nil, nil, err
	}
	c, err := o.check()
	if err != nil {
		return nil, nil, err
	}
	if err := c.checkRoot(); err != nil {
		return nil, nil, err
	}
	return c, settings, c.checkUsers()
}

func (c *checked) checkRoot() error {
	layer, err := instance.CheckRoot(c.StateDir, c.SystemDir)
	if c.full(err) {
		klog.Background().Info("The disk of the state folder is full; delete instances to free space", "stateDir", c.StateDir)
		return nil
	}
	if err != nil {
		return err
	}
	if layer == instance.LayerInMemory {
		klog.Background().Info("Instances keep changes to their root in memory; to keep them on disk, use a state folder on ext4, xfs or btrfs",
			"stateDir", c.StateDir)
	}
	return nil
}

// full reports whether a check failed only because instances have filled the disk. They could not be
// deleted if the daemon did not start then. A new cloud needs the space.
func (o Options) full(err error) bool {
	// On a disk that is almost full, the kernel mounts an overlay read-only.
	return (errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EROFS)) && exists(filepath.Join(o.StateDir, stateFile))
}

// checkUsers decides whether new instances get user namespaces.
func (c *checked) checkUsers() error {
	if c.UserNamespaces != UserNamespacesAuto && c.UserNamespaces != UserNamespacesOn {
		return nil
	}
	err := instance.CheckUserNamespaces(c.StateDir, c.SystemDir)
	if c.full(err) {
		err = nil
	}
	if err != nil && c.UserNamespaces == UserNamespacesOn {
		return fmt.Errorf("--user-namespaces on: this host cannot give instances user namespaces: %w", err)
	}
	if err != nil {
		klog.Background().Info("Instances have no user namespaces, since this host cannot give them", "reason", err.Error())
	}
	c.userNamespaces = err == nil
	return nil
}

// noDisks explains why new instances cannot have disks of limited size; empty if they can.
func (c *checked) noDisks(ctx context.Context) string {
	err := instance.CheckDisks(ctx, c.StateDir)
	if err == nil || c.full(err) {
		return ""
	}
	klog.Background().Info("Nothing limits what instances write to the disk, since this host cannot make disks of limited size", "reason", err.Error())
	return err.Error()
}

func (o Options) requireImages() error {
	list, err := o.images()
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("--images-dir %s holds no Kubernetes version with container images in --system-dir %s; name the folders kubernetes and system of a release, or what `make node` builds",
			o.ImagesDir, o.SystemDir)
	}
	return err
}

func (c *checked) serve(ctx context.Context, settings *config.Config, noDisks string, state *store.Store, endpoints []endpoint) error {
	defer func() { closeAll(endpoints) }()
	bridge, err := c.ensureNetwork(state)
	if err != nil {
		return err
	}
	defer func() { _ = bridge.Close() }()
	var gateway *gateway
	if err := bridge.Do(func() error {
		gateway, err = c.openGateway(ctx, state)
		return err
	}); err != nil {
		return err
	}
	defer gateway.close()
	if err := bridge.Do(func() error {
		inside, err := c.listen(ctx, c.inside)
		endpoints = append(endpoints, inside...)
		return err
	}); err != nil {
		return err
	}
	machines, err := c.machines(ctx, state, bridge, gateway.mirror)
	if err != nil {
		return err
	}
	defer func() { _ = machines.Close() }()
	cloudEngine := engine.New(engine.Options{
		Store: state, Machines: machines, Balancers: loadbalancer.NewDriver(c.StateDir, bridge), Network: c.network,
		Zones: settings.CloudZones(), InstanceTypes: settings.CloudInstanceTypes(), NoDisks: noDisks, Limits: settings.Limits(),
		Boots:  c.ConcurrentBoots,
		Images: c.images,
	})
	handler, err := c.handler(settings, cloudEngine)
	if err != nil {
		return err
	}
	if gateway.images != nil {
		handler.Images = gateway.images
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cloudEngine.Wait()
	defer cancel()
	if err := cloudEngine.Start(ctx); err != nil {
		return fmt.Errorf("start the cloud: %w", err)
	}
	return c.answer(ctx, handler, endpoints, gateway)
}

func (c *checked) handler(settings *config.Config, cloudEngine *engine.Engine) (*server.Server, error) {
	var tenants []server.Tenant
	for _, tenant := range settings.Tenants {
		full, viewer, err := c.tokens(tenant)
		if err != nil {
			return nil, err
		}
		tenants = append(tenants, server.Tenant{
			Name: tenant.Name, Token: full, ViewerToken: viewer, Backend: cloudEngine.Tenant(tenant.Name), RequestsPerSecond: tenant.RequestsPerSecond,
		})
	}
	return server.New(tenants)
}

// newWebServer returns a server of the API. Its streams end with ctx. Otherwise they would block the
// shutdown forever.
func newWebServer(ctx context.Context, handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
}

// answer serves on all endpoints and at the gateway until ctx ends or one of them fails.
func (c *checked) answer(ctx context.Context, handler http.Handler, endpoints []endpoint, gateway *gateway) error {
	ctx, cancel := context.WithCancel(ctx)
	var atGateway sync.WaitGroup
	defer atGateway.Wait()
	defer cancel()
	web := newWebServer(ctx, handler)
	failed := make(chan error, len(endpoints)+1)
	for _, open := range endpoints {
		klog.Background().Info("Serving", "endpoint", open.address, "bridge", c.Bridge, "network", c.network.String())
		go func() { failed <- web.Serve(open) }()
	}
	atGateway.Go(func() {
		if err := gateway.serve(ctx); err != nil {
			failed <- err
		}
	})
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	shutdown, stop := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer stop()
	if err := web.Shutdown(shutdown); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("stop serving: %w", err)
	}
	klog.Background().Info("Stopped; instances and load balancers keep running")
	return nil
}

// ensureNetwork creates the network and raises the host's limit. It records its changes before it
// makes them, so they can be undone if the daemon is killed. Before that, it checks for what
// belongs to others, so that is never undone.
func (c *checked) ensureNetwork(state *store.Store) (*network.Bridge, error) {
	record, err := c.networkRecord(state)
	if err != nil {
		return nil, err
	}
	options, err := networkOptions(c.StateDir, record)
	if err != nil {
		return nil, err
	}
	if err := network.Check(options); err != nil {
		return nil, err
	}
	if err := state.Update(func(tx *store.Tx) error { return tx.PutNetwork(record) }); err != nil {
		return nil, err
	}
	bridge, err := network.Ensure(options)
	if err != nil {
		return nil, err
	}
	return bridge, inotify.HostLimit().Claim(filepath.Join(c.StateDir, stateFile))
}

// networkOptions returns the options of the network that is recorded in a state folder.
func networkOptions(stateDir string, record *store.Network) (network.Options, error) {
	prefix, err := netip.ParsePrefix(record.CIDR)
	if err != nil {
		return network.Options{}, fmt.Errorf("read the network: %w", err)
	}
	return network.Options{
		Name: record.Bridge, Network: prefix, Gateway: store.Gateway(prefix), Host: store.Host(prefix),
		Alias: record.Alias, Space: filepath.Join(stateDir, spaceFile),
	}, nil
}

// networkRecord returns the record of an earlier run, or a new record if this is the first run.
func (c *checked) networkRecord(state *store.Store) (*store.Network, error) {
	var record *store.Network
	err := state.View(func(tx *store.Tx) (err error) {
		record, err = tx.Network()
		return err
	})
	if err != nil {
		return nil, err
	}
	if record == nil {
		record = &store.Network{Bridge: c.Bridge, CIDR: c.network.String(), Alias: "foocloud " + rand.Text()}
	}
	return record, c.checkRecord(record, c.network)
}

// machines returns the instance driver.
func (c *checked) machines(
	ctx context.Context, state *store.Store, bridge *network.Bridge, mirror *instance.Mirror,
) (*instance.Driver, error) {
	agentDir, err := c.agentDir()
	if err != nil {
		return nil, err
	}
	ids, err := instanceIDs(state)
	if err != nil {
		return nil, err
	}
	nameserver := store.Host(c.network)
	if c.DNS {
		nameserver = store.Gateway(c.network)
	}
	return instance.NewDriver(ctx, instance.Options{
		StateDir: c.StateDir, SystemDir: c.SystemDir, ImagesDir: c.ImagesDir, AgentDir: agentDir, Runtime: c.Runtime,
		Network: c.network, Bridge: bridge, Nameserver: nameserver, Mirror: mirror, UserNamespaces: c.userNamespaces,
	}, ids)
}

func instanceIDs(state *store.Store) ([]string, error) {
	var ids []string
	err := state.View(func(tx *store.Tx) error {
		records, err := tx.Instances("")
		for i := range records {
			ids = append(ids, records[i].ID)
		}
		return err
	})
	return ids, err
}
