// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"cmp"
	"context"
	"fmt"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/message"
	"github.com/capfoo/cluster-api-provider-foo/extensions/settings"
	"github.com/capfoo/cluster-api-provider-foo/extensions/work"
)

// Options configures the tasks.
type Options struct {
	// Client reads Clusters, ConfigMaps and Secrets of the management cluster. It must see
	// those with the label AddonLabel, which are not in the caches of Foo's manager.
	Client client.Reader
	// Workload returns clients for workload clusters. They must find kinds that were defined
	// after the clients were created.
	Workload work.Workload
}

// Task applies the add-ons that a Cluster gets at one moment.
type Task struct {
	client   client.Reader
	workload work.Workload
	wanted   settings.Key[bool]
	moment   Moment
}

var _ work.Task = &Task{}

// +kubebuilder:rbac:groups="",resources=configmaps;secrets,verbs=list
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch

// NewInstallation returns the task that applies add-ons once the control plane is initialized. It
// uses the variants for the version of the Cluster's topology.
func NewInstallation(options Options) *Task {
	return &Task{client: options.Client, workload: options.Workload, wanted: install, moment: AfterInitialization}
}

// NewPreUpgrade returns the task that applies add-ons before an upgrade. It uses the variants for
// the version that the job leads to.
func NewPreUpgrade(options Options) *Task {
	return &Task{client: options.Client, workload: options.Workload, wanted: preUpgrade, moment: BeforeUpgrade}
}

// Wanted reports whether the settings ask for the add-ons.
func (t *Task) Wanted(settings map[string]string) (bool, error) { return t.wanted.Get(settings) }

// Run applies the add-ons. It also applies again what was applied before, which changes nothing
// unless somebody else changed it.
func (t *Task) Run(ctx context.Context, job work.Job) (work.Outcome, error) {
	wanted, err := t.wanted.Get(job.Settings)
	if err != nil {
		return work.Outcome{}, err
	}
	if !wanted {
		return work.Outcome{Done: true, Message: fmt.Sprintf("setting %s is off", t.wanted.Doc().Name)}, nil
	}
	found, err := t.choose(ctx, job)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Failed to find the add-ons of a Cluster")
		return work.Outcome{Message: "add-ons are not applied yet: " + message.Of(err)}, nil
	}
	var objects []object
	objects, found.problems = read(found.choice.chosen)
	if len(objects) == 0 {
		return found.outcome(), nil
	}
	workload, err := t.workload(ctx, job.Cluster)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Failed to reach the workload cluster")
		return work.Outcome{Message: "add-ons are not applied yet: the workload cluster cannot be reached: " + message.Cause(err)}, nil
	}
	found.results = apply(ctx, workload, objects)
	return found.outcome(), nil
}

// choose lists the sources and picks what to apply.
func (t *Task) choose(ctx context.Context, job work.Job) (findings, error) {
	cluster := &clusterv1.Cluster{}
	if err := t.client.Get(ctx, job.Cluster, cluster); err != nil {
		return findings{}, fmt.Errorf("reading the Cluster: %w", err)
	}
	sources, err := list(ctx, t.client, job.Cluster.Namespace)
	if err != nil {
		return findings{}, err
	}
	name := cmp.Or(job.To, cluster.Spec.Topology.Version)
	version, err := semver.ParseTolerant(name)
	if err != nil {
		return findings{}, fmt.Errorf("the Cluster's version is %q, want one like v1.36.3: %w", name, err)
	}
	made := choose(sources, target{labels: labels.Set(cluster.Labels), version: version, moment: t.moment})
	return findings{choice: made, version: name}, nil
}
