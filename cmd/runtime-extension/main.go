// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command runtime-extension is Foo's runtime extension: the manager's runtime-extension role as a
// separate program, with permissions of its own.
package main

import (
	"context"
	"fmt"
	"os"

	runtimeserver "sigs.k8s.io/cluster-api/exp/runtime/server"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/capfoo/cluster-api-provider-foo/extensions"
	"github.com/capfoo/cluster-api-provider-foo/extensions/quota"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/clouds"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

var program = manager.Program{
	Name: "foo-runtime-extension", Command: "runtime-extension", Roles: []manager.Provider{manager.RuntimeExtension},
	WebhookServer: newServer, Setup: setup,
}

func main() {
	// This program has only one role. It has the flag because all of Foo's programs share their
	// flags.
	os.Exit(program.Main(append([]string{"--providers=" + string(manager.RuntimeExtension)}, os.Args[1:]...)))
}

func newServer(options webhook.Options) (webhook.Server, error) {
	return extensions.NewServer(runtimeserver.Options{
		Port: options.Port, CertDir: options.CertDir, CertName: options.CertName, KeyName: options.KeyName,
		ClientCAName: options.ClientCAName, TLSOpts: options.TLSOpts,
	})
}

func setup(_ context.Context, mgr ctrl.Manager, opts *manager.Options) error {
	// Reads must see what was released a moment ago, and an occasional live read costs less than
	// caching everything that is read.
	live, err := client.New(mgr.GetConfig(), client.Options{HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return fmt.Errorf("client of the management cluster: %w", err)
	}
	setup := extensions.Options{
		Live: live, SnapshotImage: opts.SnapshotImage, Controller: controller.Options{MaxConcurrentReconciles: opts.Concurrency(manager.HookJob)},
		// Secrets are not cached: each job reads them when it runs.
		Clusters: workload.NewClusters(mgr.GetAPIReader()),
	}
	checked := quota.Options{Client: live, Namespace: opts.Namespace}
	if opts.CloudEndpoint != "" {
		if checked.Clouds, err = newClouds(live, opts); err != nil {
			return err
		}
		setup.Versions = checked.Versions
	}
	setup.Quota = quota.New(checked)
	if err := extensions.SetupWithManager(mgr, setup); err != nil {
		return err
	}
	return mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker())
}

// newClouds returns a resolver that finds the cloud of a cluster.
func newClouds(live client.Client, opts *manager.Options) (cloudidentity.Clouds, error) {
	own, err := clouds.OfFlags(opts)
	if err != nil {
		return nil, err
	}
	return cloudidentity.NewResolver(cloudidentity.Options{
		Client: live, Secrets: live, Default: own, Connect: clouds.Connect,
		// Only the manager checks identities.
		AlwaysReadSecrets: true,
		// Nothing here waits for cloud events.
		Follow: func(cloudevents.Watcher, cloudevents.Scope) func() { return func() {} },
	}), nil
}
