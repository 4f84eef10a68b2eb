// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command fakecloud serves the local cloud's API with machines and load balancers that only exist in
// memory, so that Foo's manager can run where nobody is root.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine/fake"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/server"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

const (
	tenant = "default"
	token  = "token-of-the-fake-cloud"
)

// bootstrapped are machines whose bootstrap succeeds as soon as they start.
type bootstrapped struct{ *fake.Machines }

// Start implements engine.Machines.
func (b bootstrapped) Start(ctx context.Context, spec engine.MachineSpec, commit engine.Commit) (engine.Machine, error) {
	machine, err := b.Machines.Start(ctx, spec, commit)
	if err == nil {
		b.Report(spec.ID, cloud.Bootstrap{State: cloud.BootstrapSucceeded})
	}
	return machine, err
}

func main() {
	folder := flag.String("folder", "", "folder for cloud.sock, the file token, and the state")
	health := flag.String("health-addr", "", "address to serve /readyz on")
	version := flag.String("kubernetes-version", "", "Kubernetes version of the only image")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *folder, *health, *version)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakecloud:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, folder, health, version string) error {
	state, err := store.Open(filepath.Join(folder, "cloud.db"))
	if err != nil {
		return err
	}
	defer func() { _ = state.Close() }()
	machines := engine.New(engine.Options{
		Store: state, Machines: bootstrapped{fake.NewMachines()}, Balancers: fake.NewBalancers(), Network: netip.MustParsePrefix("10.91.0.0/16"),
		Zones:         []cloud.Zone{{Name: "zone-a", ControlPlane: true}, {Name: "zone-b", ControlPlane: true}, {Name: "zone-c"}},
		InstanceTypes: []cloud.InstanceType{{Name: "small", CPUs: 2, MemoryBytes: 2 << 30, Architecture: "amd64"}},
		Images:        func() ([]cloud.Image, error) { return []cloud.Image{{KubernetesVersion: version}}, nil },
	})
	engineCtx, stopEngine := context.WithCancel(context.WithoutCancel(ctx))
	defer machines.Wait()
	defer stopEngine()
	if err := machines.Start(engineCtx); err != nil {
		return err
	}
	handler, err := server.New([]server.Tenant{{Name: tenant, Token: token, Backend: machines.Tenant(tenant)}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "token"), []byte(token), 0o600); err != nil {
		return err
	}
	ready := http.NewServeMux()
	ready.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serve(ctx, "unix", filepath.Join(folder, "cloud.sock"), handler) })
	group.Go(func() error { return serve(ctx, "tcp", health, ready) })
	return group.Wait()
}

// serve serves until the context ends.
func serve(ctx context.Context, network, address string, handler http.Handler) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, network, address)
	if err != nil {
		return err
	}
	web := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = web.Close() })
	defer stop()
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
