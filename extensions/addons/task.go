// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"cmp"
	"context"
	"fmt"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// Options configures the tasks.
type Options struct {
	// Client reads ConfigMaps and Secrets of the management cluster. It must see those with the
	// label AddonLabel, which are not in the caches of Foo's manager.
	Client client.Reader
	// Workload returns clients for workload clusters. They must find kinds that were defined
	// after the clients were created.
	Workload hooks.Workload
}

// Task applies the add-ons that a Cluster gets at one moment.
type Task struct {
	Options

	wanted func(hooks.Settings) bool
	moment Moment
}

var _ hooks.Task = &Task{}

// +kubebuilder:rbac:groups="",resources=configmaps;secrets,verbs=list

// NewInstallation returns the task that applies add-ons once the control plane is initialized. It
// uses the variants for the version of the Cluster's topology.
func NewInstallation(options Options) *Task {
	return &Task{Options: options, wanted: func(s hooks.Settings) bool { return s.Addons }, moment: AfterInitialization}
}

// NewPreUpgrade returns the task that applies add-ons before a step of an upgrade. It uses the
// variants for the version that the step leads to.
func NewPreUpgrade(options Options) *Task {
	return &Task{Options: options, wanted: func(s hooks.Settings) bool { return s.PreUpgradeAddons }, moment: BeforeUpgrade}
}

// Wanted reports whether the settings ask for the add-ons.
func (t *Task) Wanted(settings hooks.Settings) bool { return t.wanted(settings) }

// Run applies the add-ons. It also applies again what was applied before, which changes nothing
// unless somebody else changed it.
func (t *Task) Run(ctx context.Context, job hooks.Job) (hooks.Outcome, error) {
	found, err := t.choose(ctx, job)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Failed to find the add-ons of a Cluster")
		return hooks.Outcome{Message: "add-ons are not applied yet: " + hooks.Message(err)}, nil
	}
	var objects []object
	objects, found.problems = read(found.choice.chosen)
	if len(objects) == 0 {
		return found.outcome(), nil
	}
	workload, err := t.Workload(ctx, job.Key())
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Failed to reach the workload cluster")
		return hooks.Outcome{Message: "add-ons are not applied yet: the workload cluster cannot be reached: " + hooks.Cause(err)}, nil
	}
	found.results = apply(ctx, workload, objects)
	return found.outcome(), nil
}

// choose lists the sources and picks what to apply.
func (t *Task) choose(ctx context.Context, job hooks.Job) (findings, error) {
	sources, err := list(ctx, t.Client, job.Cluster.Namespace)
	if err != nil {
		return findings{}, err
	}
	name := cmp.Or(job.To, job.Cluster.Spec.Topology.Version)
	version, err := semver.ParseTolerant(name)
	if err != nil {
		return findings{}, fmt.Errorf("the Cluster's version is %q, want one like v1.36.3: %w", name, err)
	}
	made := choose(sources, target{labels: labels.Set(job.Cluster.Labels), version: version, moment: t.moment})
	return findings{choice: made, version: name}, nil
}
