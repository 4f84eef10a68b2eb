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

// Command manager is Foo: the control plane and the infrastructure provider of Cluster API, each a role of it.
package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	goruntime "runtime"
	"slices"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	logsv1 "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/feature"
	"sigs.k8s.io/cluster-api/util/apiwarnings"
	capiflags "sigs.k8s.io/cluster-api/util/flags"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	controlplanev1beta1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta1/controlplane"
	infrav1beta1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta1/infrastructure"
	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	clustercontroller "github.com/capfoo/cluster-api-provider-foo/controllers/cluster"
	identitycontroller "github.com/capfoo/cluster-api-provider-foo/controllers/clusteridentity"
	controlplanecontroller "github.com/capfoo/cluster-api-provider-foo/controllers/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/controllers/crdmigration"
	controlplanekinds "github.com/capfoo/cluster-api-provider-foo/controllers/crdmigration/controlplane"
	infrakinds "github.com/capfoo/cluster-api-provider-foo/controllers/crdmigration/infrastructure"
	machinecontroller "github.com/capfoo/cluster-api-provider-foo/controllers/machine"
	machinepoolcontroller "github.com/capfoo/cluster-api-provider-foo/controllers/machinepool"
	machinetemplatecontroller "github.com/capfoo/cluster-api-provider-foo/controllers/machinetemplate"
	cloudclient "github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/definitions"
	"github.com/capfoo/cluster-api-provider-foo/internal/options"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
	controlplaneadmission "github.com/capfoo/cluster-api-provider-foo/webhooks/admission/controlplane"
	infraadmission "github.com/capfoo/cluster-api-provider-foo/webhooks/admission/infrastructure"
)

// name of the manager in user agents, logs and the leader election.
const name = "foo-manager"

func main() {
	opts, err := options.Parse(os.Args[1:], feature.MutableGates)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Print(opts.Usage())
		return
	}
	if err == nil {
		err = run(ctrl.SetupSignalHandler(), opts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, opts *options.Options) error {
	if err := opts.Validate(); err != nil {
		return err
	}
	if err := logsv1.ValidateAndApply(opts.Logs, nil); err != nil {
		return err
	}
	ctrl.SetLogger(klog.Background())
	opts.Print()

	mgr, err := newManager(opts)
	if err != nil {
		return err
	}
	if err := setupRoles(ctx, mgr, opts); err != nil {
		return err
	}
	if err := setupWebhooks(mgr, opts); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// setupRoles adds the controllers of each role.
func setupRoles(ctx context.Context, mgr ctrl.Manager, opts *options.Options) error {
	var stored []crdmigration.Kinds
	if opts.Runs(options.ControlPlane) {
		stored = append(stored, controlplanekinds.Kinds())
		if err := setupControlPlane(ctx, mgr, opts); err != nil {
			return err
		}
	}
	if opts.Runs(options.Infrastructure) {
		stored = append(stored, infrakinds.Kinds())
		if err := setupInfrastructure(ctx, mgr, opts); err != nil {
			return err
		}
	}
	if opts.Runs(options.RuntimeExtension) {
		if err := setupRuntimeExtension(ctx, mgr, opts); err != nil {
			return err
		}
	}
	if len(stored) == 0 {
		return nil
	}
	return crdmigration.SetupWithManager(ctx, mgr, opts.SkipCRDMigrationPhases(), stored...)
}

// setupWebhooks adds the webhooks of the roles, and makes the manager ready only when they are. Without them the server
// that they would run in is never asked for, and so never started.
func setupWebhooks(mgr ctrl.Manager, opts *options.Options) error {
	if opts.WebhookPort == 0 {
		return nil
	}
	if opts.Runs(options.ControlPlane) {
		if err := controlplaneadmission.SetupWithManager(mgr); err != nil {
			return err
		}
	}
	if opts.Runs(options.Infrastructure) {
		if err := infraadmission.SetupWithManager(mgr); err != nil {
			return err
		}
	}
	return mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker())
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, clusterv1.AddToScheme, bootstrapv1.AddToScheme,
		controlplanev1.AddToScheme, controlplanev1beta1.AddToScheme, infrav1.AddToScheme, infrav1beta1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("scheme: %w", err)
		}
	}
	return scheme, nil
}

func newManager(opts *options.Options) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	restConfig, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("management cluster: %w", err)
	}
	restConfig.QPS, restConfig.Burst, restConfig.UserAgent = opts.KubeAPIQPS, opts.KubeAPIBurst, name
	restConfig.WarningHandler = apiwarnings.DefaultHandler(klog.Background().WithName("API Server Warning"))
	managerOptions, err := newManagerOptions(scheme, opts)
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(restConfig, managerOptions)
	if err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return mgr, mgr.AddReadyzCheck("ping", healthz.Ping)
}

func newManagerOptions(scheme *runtime.Scheme, opts *options.Options) (ctrl.Options, error) {
	tls, metrics, err := capiflags.GetManagerOptions(opts.Manager)
	if err != nil {
		return ctrl.Options{}, err
	}
	server, err := webhookServer(opts, tls)
	if err != nil {
		return ctrl.Options{}, err
	}
	if opts.ContentionProfiling {
		goruntime.SetBlockProfileRate(1)
	}
	return ctrl.Options{
		Scheme:                     scheme,
		Controller:                 config.Controller{UsePriorityQueue: ptr.To(opts.Gates.Enabled(feature.PriorityQueue))},
		Cache:                      cacheOptions(opts),
		Client:                     clientOptions(),
		Metrics:                    *metrics,
		WebhookServer:              server,
		HealthProbeBindAddress:     opts.HealthAddress,
		PprofBindAddress:           opts.ProfilerAddress,
		LeaderElection:             opts.LeaderElect,
		LeaderElectionID:           opts.LeaderElectName,
		LeaderElectionNamespace:    opts.LeaderElectNamespace,
		LeaderElectionResourceLock: resourcelock.LeasesResourceLock,
		// The process ends as soon as the manager has stopped, so nothing is done after the Lease is given back.
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &opts.LeaseDuration,
		RenewDeadline:                 &opts.RenewDeadline,
		RetryPeriod:                   &opts.RetryPeriod,
	}, nil
}

func setupControlPlane(ctx context.Context, mgr ctrl.Manager, opts *options.Options) error {
	kinds := slices.Collect(maps.Keys(controlplanekinds.Kinds()))
	if err := definitions.Check(ctx, mgr.GetAPIReader(), mgr.GetScheme(), kinds...); err != nil {
		return err
	}
	secrets, err := cachedSecretClient(mgr)
	if err != nil {
		return err
	}
	clusters, err := clustercache.SetupWithManager(ctx, mgr, clustercache.Options{
		SecretClient:     secrets,
		WatchFilterValue: opts.WatchFilter,
		// A first connection that fails is tried again only after 30 s, so connect when it is sure to succeed.
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
		Concurrency:      opts.Concurrency(options.FooControlPlane),
	})
}

func controlPlaneInitialized(cluster *clusterv1.Cluster) bool {
	return cluster.Status.Initialization.ControlPlaneInitialized != nil && *cluster.Status.Initialization.ControlPlaneInitialized
}

func setupInfrastructure(ctx context.Context, mgr ctrl.Manager, opts *options.Options) error {
	// The identity has had one version only, so there is nothing to migrate.
	kinds := slices.AppendSeq([]client.Object{&infrav1.FooClusterIdentity{}}, maps.Keys(infrakinds.Kinds()))
	if err := definitions.Check(ctx, mgr.GetAPIReader(), mgr.GetScheme(), kinds...); err != nil {
		return err
	}
	foocloud, err := cloudclient.NewClient(cloudclient.Options{
		Endpoint: opts.CloudEndpoint, TokenFile: opts.CloudTokenFile, CAFile: opts.CloudCAFile,
	})
	if err != nil {
		return fmt.Errorf("cloud: %w", err)
	}
	events := cloudevents.New(foocloud, cloudevents.DefaultBackoff())
	if err := mgr.Add(events); err != nil {
		return fmt.Errorf("cloud events: %w", err)
	}
	clouds := cloudidentity.NewResolver(cloudidentity.Options{
		Client: mgr.GetClient(), Secrets: mgr.GetAPIReader(), Default: foocloud, Follow: events.Follow,
		Connect: func(account cloudidentity.Account) (cloudidentity.Connection, error) {
			return cloudclient.NewClient(cloudclient.Options{
				Endpoint: account.Endpoint, CA: account.CA, Tenant: account.Tenant, Token: account.Token,
			})
		},
	})
	workers := func(kind string) controller.Options {
		return controller.Options{MaxConcurrentReconciles: opts.Concurrency(kind)}
	}
	if err := identitycontroller.SetupWithManager(ctx, mgr, identitycontroller.Options{
		Checker: clouds, WatchFilterValue: opts.WatchFilter, Controller: workers(options.FooCluster),
	}); err != nil {
		return fmt.Errorf("FooClusterIdentity controller: %w", err)
	}
	if err := clustercontroller.SetupWithManager(ctx, mgr, clustercontroller.Options{
		Clouds: clouds, Events: events, WatchFilterValue: opts.WatchFilter, Controller: workers(options.FooCluster),
	}); err != nil {
		return fmt.Errorf("FooCluster controller: %w", err)
	}
	if err := machinecontroller.SetupWithManager(ctx, mgr, machinecontroller.Options{
		Clouds: clouds, Events: events, WatchFilterValue: opts.WatchFilter, Controller: workers(options.FooMachine),
	}); err != nil {
		return fmt.Errorf("FooMachine controller: %w", err)
	}
	if err := machinetemplatecontroller.SetupWithManager(ctx, mgr, machinetemplatecontroller.Options{
		Cloud: foocloud, WatchFilterValue: opts.WatchFilter, Controller: workers(options.FooMachineTemplate),
	}); err != nil {
		return fmt.Errorf("FooMachineTemplate controller: %w", err)
	}
	if !opts.Gates.Enabled(feature.MachinePool) {
		return nil
	}
	if err := machinepoolcontroller.SetupWithManager(ctx, mgr, machinepoolcontroller.Options{
		Clouds: clouds, Events: events, WatchFilterValue: opts.WatchFilter, Controller: workers(options.FooMachinePool),
	}); err != nil {
		return fmt.Errorf("FooMachinePool controller: %w", err)
	}
	return nil
}
