// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command manager is Foo: the control plane provider and the infrastructure provider of Cluster
// API, each a role of the manager.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/feature"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	clustercontroller "github.com/capfoo/cluster-api-provider-foo/controllers/cluster"
	identitycontroller "github.com/capfoo/cluster-api-provider-foo/controllers/clusteridentity"
	controlplanecontroller "github.com/capfoo/cluster-api-provider-foo/controllers/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/controllers/crdmigration"
	controlplanekinds "github.com/capfoo/cluster-api-provider-foo/controllers/crdmigration/controlplane"
	infrakinds "github.com/capfoo/cluster-api-provider-foo/controllers/crdmigration/infrastructure"
	machinecontroller "github.com/capfoo/cluster-api-provider-foo/controllers/machine"
	machinepoolcontroller "github.com/capfoo/cluster-api-provider-foo/controllers/machinepool"
	machinetemplatecontroller "github.com/capfoo/cluster-api-provider-foo/controllers/machinetemplate"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/clouds"
	"github.com/capfoo/cluster-api-provider-foo/internal/kubeconfig"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
	controlplaneadmission "github.com/capfoo/cluster-api-provider-foo/webhooks/admission/controlplane"
	infraadmission "github.com/capfoo/cluster-api-provider-foo/webhooks/admission/infrastructure"
)

// name is the name of the manager in user agents.
const name = "foo-manager"

// program runs Foo's controllers and webhooks.
var program = manager.Program{
	Name: name, Command: "manager", Roles: []manager.Provider{manager.ControlPlane, manager.Infrastructure}, Setup: setup,
}

func main() { os.Exit(program.Main(os.Args[1:])) }

func setup(ctx context.Context, mgr ctrl.Manager, opts *manager.Options) error {
	if err := setupRoles(ctx, mgr, opts); err != nil {
		return err
	}
	return setupWebhooks(mgr, opts)
}

// setupRoles adds the controllers of each role.
func setupRoles(ctx context.Context, mgr ctrl.Manager, opts *manager.Options) error {
	var stored []crdmigration.Kinds
	if opts.Runs(manager.ControlPlane) {
		stored = append(stored, controlplanekinds.Kinds())
		if err := setupControlPlane(ctx, mgr, opts); err != nil {
			return err
		}
	}
	if opts.Runs(manager.Infrastructure) {
		stored = append(stored, infrakinds.Kinds())
		if err := setupInfrastructure(ctx, mgr, opts); err != nil {
			return err
		}
	}
	return crdmigration.SetupWithManager(ctx, mgr, opts.SkipCRDMigrationPhases(), stored...)
}

// setupWebhooks adds the webhooks of the roles, and makes the manager ready only once their server
// has started. Without webhooks, nothing asks for the server, so it is never started.
func setupWebhooks(mgr ctrl.Manager, opts *manager.Options) error {
	if opts.Webhook.Port == 0 {
		return nil
	}
	if opts.Runs(manager.ControlPlane) {
		if err := controlplaneadmission.SetupWithManager(mgr); err != nil {
			return err
		}
	}
	if opts.Runs(manager.Infrastructure) {
		if err := infraadmission.SetupWithManager(mgr); err != nil {
			return err
		}
	}
	return mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker())
}

func setupControlPlane(ctx context.Context, mgr ctrl.Manager, opts *manager.Options) error {
	kinds := slices.Collect(maps.Keys(controlplanekinds.Kinds()))
	if err := manager.CheckDefinitions(ctx, mgr.GetAPIReader(), mgr.GetScheme(), kinds...); err != nil {
		return err
	}
	secrets, err := manager.CachedSecretClient(mgr, opts)
	if err != nil {
		return err
	}
	clusters, err := clustercache.SetupWithManager(ctx, mgr, clustercache.Options{
		SecretClient:     kubeconfig.Reader{Reader: secrets},
		WatchFilterValue: opts.WatchFilter,
		// A first connection that fails is retried only after 30 s, so connect when it is sure to
		// succeed.
		ClusterFilter: controlPlaneInitialized,
		Cache:         clustercache.CacheOptions{DefaultTransform: cache.TransformStripManagedFields(), ByObject: workload.CacheByObject()},
		Client: clustercache.ClientOptions{
			QPS: opts.ClusterCacheQPS, Burst: opts.ClusterCacheBurst, UserAgent: name,
			Cache: clustercache.ClientCacheOptions{DisableFor: []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}}},
		},
	}, controller.Options{MaxConcurrentReconciles: opts.ClusterCacheConcurrency})
	if err != nil {
		return fmt.Errorf("cluster cache: %w", err)
	}
	return controlplanecontroller.SetupWithManager(ctx, mgr, controlplanecontroller.Options{
		SecretClient:     secrets,
		ClusterCache:     clusters,
		WatchFilterValue: opts.WatchFilter,
		Concurrency:      opts.Concurrency(manager.FooControlPlane),
		EtcdTimeout:      opts.EtcdCallTimeout,
		UnseenGrace:      opts.RemoteConditionsGracePeriod,
	})
}

func controlPlaneInitialized(cluster *clusterv1.Cluster) bool {
	return cluster.Status.Initialization.ControlPlaneInitialized != nil && *cluster.Status.Initialization.ControlPlaneInitialized
}

func setupInfrastructure(ctx context.Context, mgr ctrl.Manager, opts *manager.Options) error {
	// FooClusterIdentity has had only one version, so there is nothing to migrate.
	kinds := slices.AppendSeq([]client.Object{&infrav1.FooClusterIdentity{}}, maps.Keys(infrakinds.Kinds()))
	if err := manager.CheckDefinitions(ctx, mgr.GetAPIReader(), mgr.GetScheme(), kinds...); err != nil {
		return err
	}
	own, err := clouds.OfFlags(opts)
	if err != nil {
		return err
	}
	if err := manageOnLeader(mgr, own); err != nil {
		return err
	}
	events, resolver, err := followClouds(mgr, own)
	if err != nil {
		return err
	}
	workers := func(kind string) controller.Options {
		return controller.Options{MaxConcurrentReconciles: opts.Concurrency(kind)}
	}
	if err := identitycontroller.SetupWithManager(ctx, mgr, identitycontroller.Options{
		Checker: resolver, WatchFilterValue: opts.WatchFilter, Controller: workers(manager.FooCluster),
	}); err != nil {
		return fmt.Errorf("FooClusterIdentity controller: %w", err)
	}
	if err := clustercontroller.SetupWithManager(ctx, mgr, clustercontroller.Options{
		Clouds: resolver, Events: events, WatchFilterValue: opts.WatchFilter, Controller: workers(manager.FooCluster),
	}); err != nil {
		return fmt.Errorf("FooCluster controller: %w", err)
	}
	if err := machinecontroller.SetupWithManager(ctx, mgr, machinecontroller.Options{
		Clouds: resolver, Events: events, WatchFilterValue: opts.WatchFilter, Controller: workers(manager.FooMachine),
	}); err != nil {
		return fmt.Errorf("FooMachine controller: %w", err)
	}
	if err := machinetemplatecontroller.SetupWithManager(ctx, mgr, machinetemplatecontroller.Options{
		Clouds: resolver, WatchFilterValue: opts.WatchFilter, Controller: workers(manager.FooMachineTemplate),
	}); err != nil {
		return fmt.Errorf("FooMachineTemplate controller: %w", err)
	}
	if !opts.Gates.Enabled(feature.MachinePool) {
		return nil
	}
	if err := machinepoolcontroller.SetupWithManager(ctx, mgr, machinepoolcontroller.Options{
		Clouds: resolver, Events: events, WatchFilterValue: opts.WatchFilter, Controller: workers(manager.FooMachinePool),
	}); err != nil {
		return fmt.Errorf("FooMachinePool controller: %w", err)
	}
	return nil
}

// followClouds returns what reports the events of all clouds, and what finds the cloud of a cluster.
// The manager that leads runs both.
func followClouds(mgr ctrl.Manager, own cloudidentity.Connection) (*cloudevents.Events, *cloudidentity.Resolver, error) {
	events := cloudevents.New(own, cloudidentity.Scope(mgr.GetClient(), ""), cloudevents.DefaultBackoff())
	if err := mgr.Add(events); err != nil {
		return nil, nil, fmt.Errorf("cloud events: %w", err)
	}
	resolver := cloudidentity.NewResolver(cloudidentity.Options{
		Client: mgr.GetClient(), Secrets: mgr.GetAPIReader(), Default: own, Follow: events.Follow, Connect: clouds.ConnectAndManage,
	})
	if err := mgr.Add(resolver); err != nil {
		return nil, nil, fmt.Errorf("clouds of identities: %w", err)
	}
	return events, resolver, nil
}

// manageOnLeader lets the manager that leads do the work that its own cloud leaves to it.
func manageOnLeader(mgr ctrl.Manager, own cloudidentity.Connection) error {
	managed, ok := own.(clouds.Managed)
	if !ok {
		return nil
	}
	err := mgr.Add(ctrlmanager.RunnableFunc(func(ctx context.Context) error {
		managed.Manage()
		<-ctx.Done()
		own.Close()
		return nil
	}))
	if err != nil {
		return fmt.Errorf("cloud: %w", err)
	}
	return nil
}
