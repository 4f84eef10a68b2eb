// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/capfoo/cluster-api-provider-foo/extensions/addons"
	"github.com/capfoo/cluster-api-provider-foo/extensions/backup"
	"github.com/capfoo/cluster-api-provider-foo/extensions/checks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/cleanup"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/snapshot"
	"github.com/capfoo/cluster-api-provider-foo/extensions/upgradeplan"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// Options configures the extension.
type Options struct {
	// Live reads and writes the management cluster without a cache.
	Live client.Client
	// Clusters reaches workload clusters.
	Clusters *workload.Clusters
	// Quota checks, before a Cluster is created, whether its cloud has room.
	Quota hooks.Task
	// SnapshotImage is the image of the Job that takes etcd snapshots.
	SnapshotImage string
	// Versions returns the Kubernetes versions that are available for the machines of a
	// cluster, or nil if they are unknown.
	Versions func(ctx context.Context, cluster client.ObjectKey) ([]string, error)
	// Controller holds the controller options of the jobs. Its workers determine how many jobs
	// are done concurrently.
	Controller controller.Options
}

// Secrets hold the kubeconfigs of workload clusters.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get

// SetupWithManager adds the handlers to the manager's webhook server, which NewServer must have
// created, and the controller that does their jobs.
func SetupWithManager(mgr ctrl.Manager, options Options) error {
	tasks := tasks(options)
	lifecycle := hooks.New(mgr.GetCache(), mgr.GetClient(), tasks)
	if err := Register(mgr, lifecycle, upgradeplan.Planner{Source: options.Versions}); err != nil {
		return fmt.Errorf("runtime extension: %w", err)
	}
	if err := addons.SetupWithManager(mgr, clustersOf(options)); err != nil {
		return fmt.Errorf("runtime extension: %w", err)
	}
	return hooks.SetupWithManager(mgr, hooks.Options{Tasks: tasks, Gone: options.Clusters.Forget, Controller: options.Controller})
}

// tasks returns the tasks of each hook.
func tasks(options Options) hooks.Tasks {
	clusters := clustersOf(options)
	looking := checks.Tasks{Clusters: clusters, Versions: options.Versions}
	etcd := snapshot.Tasks{Clusters: clusters, Image: options.SnapshotImage}
	checking := hooks.Task{Setting: "upgradeChecks", Run: looking.Upgrade}
	smoke := hooks.Task{Setting: "smokeChecks", Run: looking.Smoke}
	applying := hooks.Task{Setting: "addons", Run: addons.Task{Clusters: clusters}.Run}
	return hooks.Tasks{
		hooks.BeforeClusterCreate:          {options.Quota},
		hooks.AfterControlPlaneInitialized: {applying},
		hooks.BeforeClusterUpgrade:         {checking},
		hooks.BeforeControlPlaneUpgrade:    {checking, applying, {Setting: "snapshots", Run: etcd.BeforeControlPlaneUpgrade}},
		hooks.AfterControlPlaneUpgrade:     {applying, smoke},
		hooks.BeforeWorkersUpgrade:         {smoke},
		hooks.AfterWorkersUpgrade:          {smoke},
		hooks.AfterClusterUpgrade:          {{Setting: "conformanceChecks", Run: looking.Conformance}},
		hooks.BeforeClusterDelete: {
			{Setting: "finalSnapshot", Run: etcd.BeforeClusterDelete},
			{Setting: "volumeBackupJob", Run: backup.Task{Clusters: clusters}.Run},
			{Setting: "cleanUp", Run: cleanup.Task{Clusters: clusters}.Run},
		},
	}
}

func clustersOf(options Options) hooks.Clusters {
	return hooks.Clusters{Client: options.Live, Workload: options.Clusters.Client, Config: options.Clusters.Config}
}
