// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/controllers/machine"
	"github.com/capfoo/cluster-api-provider-foo/controllers/machinepool"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
	"github.com/capfoo/cluster-api-provider-foo/internal/observer"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

const (
	// machineWorkers is how many FooMachines are reconciled in parallel, as in the manager.
	machineWorkers = 10
	// looks is how often a settled pool is reconciled again.
	looks = 3
	// quiet is how long there must be no writes before a pool counts as settled.
	quiet = 2 * time.Second
)

// poolEnvironment is a kube-apiserver, a fake cloud, Foo's controllers and a stand-in for Cluster
// API.
type poolEnvironment struct {
	*envtestenv.Environment

	cloud    *fake.Cloud
	requests requestCounter
	pools    *observer.Observer
	end      context.CancelFunc
	ended    chan error
}

// requestCounter counts the requests of Foo's controllers.
type requestCounter struct{ all, writes atomic.Int64 }

type countingTransport struct {
	*requestCounter
	next http.RoundTripper
}

// RoundTrip counts a request.
func (c countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	c.all.Add(1)
	if r.Method != http.MethodGet {
		c.writes.Add(1)
	}
	return c.next.RoundTrip(r)
}

func startPoolEnvironment(ctx context.Context) (*poolEnvironment, error) {
	started, err := envtestenv.Start(ctx)
	if err != nil {
		return nil, err
	}
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	env := &poolEnvironment{
		Environment: started, cloud: fake.New(fake.Options{}), end: end, ended: make(chan error, 2),
	}
	if err := env.startManagers(running); err != nil {
		end()
		return nil, errors.Join(err, started.Stop())
	}
	return env, nil
}

func (e *poolEnvironment) startManagers(ctx context.Context) error {
	foo, err := e.newManager(func(config *rest.Config) {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return countingTransport{requestCounter: &e.requests, next: next}
		})
	})
	if err != nil {
		return err
	}
	if err := e.addControllers(ctx, foo); err != nil {
		return err
	}
	others, err := e.newManager(func(*rest.Config) {})
	if err != nil {
		return err
	}
	if err := addStandIn(others, e.cloud); err != nil {
		return err
	}
	e.pools, err = observer.Start(ctx, direct(rest.CopyConfig(e.Config)), observer.Options{Scheme: e.Scheme}, &infrav1.FooMachinePool{})
	if err != nil {
		return err
	}
	for _, mgr := range []manager.Manager{foo, others} {
		go func() { e.ended <- mgr.Start(ctx) }()
	}
	return nil
}

func (e *poolEnvironment) newManager(change func(*rest.Config)) (ctrl.Manager, error) {
	config := rest.CopyConfig(e.Config)
	config.QPS = -1
	change(config)
	return ctrl.NewManager(config, ctrl.Options{Scheme: e.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
}

func (e *poolEnvironment) addControllers(ctx context.Context, mgr ctrl.Manager) error {
	events := cloudevents.New(e.cloud, nil, wait.Backoff{Duration: 10 * time.Millisecond, Factor: 1, Steps: 1})
	if err := mgr.Add(events); err != nil {
		return err
	}
	workers := controller.Options{MaxConcurrentReconciles: machineWorkers}
	if err := machine.SetupWithManager(ctx, mgr, machine.Options{Clouds: cloudidentity.One(e.cloud), Events: events, Controller: workers}); err != nil {
		return err
	}
	return machinepool.SetupWithManager(ctx, mgr, machinepool.Options{Clouds: cloudidentity.One(e.cloud), Events: events, Controller: workers})
}

// stop ends the controllers before the kube-apiserver.
func (e *poolEnvironment) stop() error {
	e.end()
	return errors.Join(<-e.ended, <-e.ended, e.Stop())
}

// measure scales one pool up to its size and down again.
func (e *poolEnvironment) measure(ctx context.Context, options options, size int32) (*poolCosts, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*options.timeout, errSlow)
	defer cancel()
	machinePool, err := e.createPool(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := e.scale(ctx, machinePool, 0); err != nil {
		return nil, err
	}
	costs := &poolCosts{}
	if costs.up, err = e.counted(costs, func() (time.Duration, error) { return e.scale(ctx, machinePool, size) }); err != nil {
		return nil, err
	}
	if costs.settledWrites, err = e.settled(ctx); err != nil {
		return nil, err
	}
	if costs.down, err = e.counted(costs, func() (time.Duration, error) { return e.scale(ctx, machinePool, 0) }); err != nil {
		return nil, err
	}
	return costs, e.removePool(ctx, machinePool)
}

// removePool clears the cloud for the next pool, so that only that pool is measured.
func (e *poolEnvironment) removePool(ctx context.Context, machinePool *clusterv1.MachinePool) error {
	if err := e.Client.Delete(ctx, infratest.NewFooMachinePool(machinePool)); err != nil {
		return err
	}
	return every(ctx, quiet/20, func() bool {
		pools, err := e.cloud.ListPools(ctx, nil)
		return err == nil && len(pools) == 0
	})
}

// counted adds the usage during an operation.
func (e *poolEnvironment) counted(costs *poolCosts, do func() (time.Duration, error)) (time.Duration, error) {
	requests, writes, cpu := e.requests.all.Load(), e.requests.writes.Load(), ownCPU()
	took, err := do()
	costs.requests += e.requests.all.Load() - requests
	costs.writes += e.requests.writes.Load() - writes
	costs.cpu += ownCPU() - cpu
	return took, err
}

// createPool creates a pool without machines in its own namespace.
func (e *poolEnvironment) createPool(ctx context.Context) (*clusterv1.MachinePool, error) {
	namespace, err := e.CreateNamespace(ctx, benchNamespace)
	if err != nil {
		return nil, err
	}
	cluster := infratest.NewCluster(namespace, "one")
	if err := e.Client.Create(ctx, cluster); err != nil {
		return nil, err
	}
	if err := (&infratest.Suite{Client: e.Client}).SetInfrastructureProvisioned(ctx, cluster); err != nil {
		return nil, err
	}
	machinePool := infratest.NewMachinePool(cluster, "workers", 0)
	if err := e.Client.Create(ctx, infratest.NewSecret(namespace, "workers", infratest.UserData)); err != nil {
		return nil, err
	}
	if err := e.Client.Create(ctx, machinePool); err != nil {
		return nil, err
	}
	return machinePool, e.Client.Create(ctx, infratest.NewFooMachinePool(machinePool))
}

// scale sets the replicas and returns how long the pool took to reach them.
func (e *poolEnvironment) scale(ctx context.Context, machinePool *clusterv1.MachinePool, replicas int32) (time.Duration, error) {
	began := time.Now()
	before := machinePool.DeepCopy()
	machinePool.Spec.Replicas = &replicas
	if err := e.Client.Patch(ctx, machinePool, client.MergeFrom(before)); err != nil {
		return 0, err
	}
	for {
		pool := &infrav1.FooMachinePool{}
		if err := e.pools.Get(ctx, client.ObjectKeyFromObject(machinePool), pool); client.IgnoreNotFound(err) != nil {
			return 0, err
		}
		status := pool.Status
		if ptr.Deref(status.Replicas, -1) == replicas && ptr.Deref(status.AvailableReplicas, -1) == replicas &&
			len(pool.Spec.ProviderIDList) == int(replicas) {
			return time.Since(began), nil
		}
		select {
		case <-e.pools.Changes:
		case <-ctx.Done():
			return 0, fmt.Errorf("%w: the pool has %d machines, %d of them available, want %d", context.Cause(ctx),
				ptr.Deref(status.Replicas, 0), ptr.Deref(status.AvailableReplicas, 0), replicas)
		}
	}
}

// settled makes the controllers reconcile the pool again after writes have stopped, and returns how
// much they then write.
func (e *poolEnvironment) settled(ctx context.Context) (int64, error) {
	if err := e.quiet(ctx); err != nil {
		return 0, err
	}
	before := e.requests.writes.Load()
	for range looks {
		look := e.cloud.Calls(fake.CallListInstances)
		e.cloud.GrowPools() // an event about the pool
		if err := every(ctx, quiet/20, func() bool { return e.cloud.Calls(fake.CallListInstances) > look }); err != nil {
			return 0, fmt.Errorf("waiting for the controller to reconcile the pool: %w", err)
		}
	}
	err := e.quiet(ctx) // longer than the controller pauses between two reconciles
	return e.requests.writes.Load() - before, err
}

// quiet waits until nothing has been written for some time.
func (e *poolEnvironment) quiet(ctx context.Context) error {
	last := int64(-1)
	return every(ctx, quiet, func() bool {
		before := last
		last = e.requests.writes.Load()
		return last == before
	})
}

// every polls until the condition is true.
func every(ctx context.Context, interval time.Duration, done func() bool) error {
	return wait.PollUntilContextCancel(ctx, interval, true, func(context.Context) (bool, error) { return done(), nil })
}

// ownCPU is the CPU seconds that this process has used.
func ownCPU() float64 {
	used := syscall.Rusage{}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0 // it fails only for invalid arguments
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
}
