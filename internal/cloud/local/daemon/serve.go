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

package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/config"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/instance"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/loadbalancer"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/network"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/server"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/store"
)

const (
	shutdownTimeout   = 2 * time.Second
	readHeaderTimeout = 10 * time.Second
)

// Serve runs the cloud until ctx ends. Instances and load balancers run on then, and are found again by the next Serve
// of the same state folder.
func Serve(ctx context.Context, options Options) error {
	if err := requireRoot(); err != nil {
		return err
	}
	settings, err := config.Load(options.Config)
	if err != nil {
		return err
	}
	c, err := options.check()
	if err != nil {
		return err
	}
	if err := c.checkRoot(); err != nil {
		return err
	}
	locked, err := lock(c.StateDir)
	if err != nil {
		return err
	}
	defer func() { _ = locked.Close() }()
	state, err := store.Open(filepath.Join(c.StateDir, stateFile))
	if err != nil {
		return err
	}
	defer func() { _ = state.Close() }()
	listeners, err := c.listen(ctx)
	if err != nil {
		return err
	}
	return c.serve(ctx, settings, state, listeners)
}

func (c *checked) checkRoot() error {
	layer, err := instance.CheckRoot(c.StateDir)
	if err != nil {
		return err
	}
	if layer == instance.LayerInMemory {
		klog.Background().Info("What instances write to their root lies in memory; a state folder on ext4, xfs or btrfs takes it to disk",
			"stateDir", c.StateDir)
	}
	return nil
}

func requireImages(folder string) error {
	list, err := images(folder)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("--images-dir %s holds no Kubernetes version; build one with `make node KUBERNETES_VERSION=v<major>.<minor>.<patch>`", folder)
	}
	return nil
}

func (c *checked) serve(ctx context.Context, settings *config.Config, state *store.Store, listeners []net.Listener) error {
	defer func() {
		for _, listener := range listeners {
			_ = listener.Close()
		}
	}()
	bridge, err := c.ensureNetwork(state)
	if err != nil {
		return err
	}
	machines, err := c.machines(state, bridge)
	if err != nil {
		return err
	}
	defer func() { _ = machines.Close() }()
	cloudEngine := engine.New(engine.Options{
		Store: state, Machines: machines, Balancers: loadbalancer.NewDriver(c.StateDir, bridge), Network: c.network,
		Zones: settings.CloudZones(), InstanceTypes: settings.CloudInstanceTypes(), Limits: settings.Limits(),
		Images: func() ([]cloud.Image, error) { return images(c.ImagesDir) },
	})
	handler, err := c.handler(settings, cloudEngine)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cloudEngine.Wait()
	defer cancel()
	if err := cloudEngine.Start(ctx); err != nil {
		return fmt.Errorf("start the cloud: %w", err)
	}
	return c.answer(ctx, handler, listeners)
}

func (c *checked) handler(settings *config.Config, cloudEngine *engine.Engine) (http.Handler, error) {
	var tenants []server.Tenant
	for _, tenant := range settings.Tenants {
		value, err := token(c.StateDir, tenant)
		if err != nil {
			return nil, err
		}
		tenants = append(tenants, server.Tenant{
			Name: tenant.Name, Token: value, Backend: cloudEngine.Tenant(tenant.Name), RequestsPerSecond: tenant.RequestsPerSecond,
		})
	}
	return server.New(tenants)
}

// answer serves on all listeners until ctx ends or one of them fails.
func (c *checked) answer(ctx context.Context, handler http.Handler, listeners []net.Listener) error {
	web := &http.Server{
		Handler: handler, ReadHeaderTimeout: readHeaderTimeout,
		// Streams end with this context; they would hold up the shutdown for ever.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	failed := make(chan error, len(listeners))
	for i, listener := range listeners {
		klog.Background().Info("Serving", "endpoint", c.Listen[i], "bridge", c.Bridge, "network", c.network.String())
		go func() { failed <- web.Serve(listener) }()
	}
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := web.Shutdown(shutdown); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("stop serving: %w", err)
	}
	klog.Background().Info("Stopped; instances and load balancers run on")
	return nil
}

// ensureNetwork makes the bridge and the settings of the host. What it changes is noted before, so that it can be undone
// whenever the daemon is killed; what belongs to others is noticed before that, so that it is never undone.
func (c *checked) ensureNetwork(state *store.Store) (*network.Bridge, error) {
	record, err := c.networkRecord(state)
	if err != nil {
		return nil, err
	}
	options := network.Options{Name: c.Bridge, Network: c.network, Alias: record.Alias}
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
	return bridge, network.HostSettings().Claim(filepath.Join(c.StateDir, stateFile))
}

// networkRecord returns what an earlier run noted, or what is to be noted by this one, the first.
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
	if record.Bridge != c.Bridge || record.CIDR != c.network.String() {
		return nil, fmt.Errorf("state folder %s was made with --bridge %s --network %s: use these, or another state folder", c.StateDir, record.Bridge, record.CIDR)
	}
	return record, nil
}

// machines returns the driver of instances.
func (c *checked) machines(state *store.Store, bridge *network.Bridge) (*instance.Driver, error) {
	agentDir, err := installAgent(c.StateDir, c.Agent)
	if err != nil {
		return nil, err
	}
	ids, err := instanceIDs(state)
	if err != nil {
		return nil, err
	}
	return instance.NewDriver(instance.Options{
		StateDir: c.StateDir, ImagesDir: c.ImagesDir, AgentDir: agentDir, Network: c.network, Bridge: bridge,
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
