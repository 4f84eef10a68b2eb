// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
)

// others are what other ExtensionConfigs ask for before the deletion of the same Cluster. Each has a job
// of its own, but the clean-up of one must not delete the volumes that another backs up. So a task begins
// once the tasks that come before it have ended in all of these jobs.
type others []other

type other struct {
	config   string
	settings Settings
	// job is nil if it is not recorded yet.
	job *extensionv1.HookJob
}

// others returns what other ExtensionConfigs ask for. It returns nothing for other hooks, whose tasks do
// not destroy what another one saves.
func (w *worker) others(ctx context.Context, known *extensionv1.HookJob, cluster *clusterv1.Cluster) (others, error) {
	if known.Spec.Hook != BeforeClusterDelete {
		return nil, nil
	}
	configs, err := registeredIn(ctx, w.cached)
	if err != nil {
		return nil, err
	}
	var found others
	for i := range configs {
		config := &configs[i]
		if config.Name == known.Spec.ExtensionConfig || !handles(config, known.Spec.Hook) {
			continue
		}
		one, err := w.other(ctx, config, cluster)
		if err != nil {
			return nil, err
		}
		if one.config != known.Spec.ExtensionConfig {
			found = append(found, one)
		}
	}
	return found, nil
}

// other returns what an ExtensionConfig asks for. It asks for nothing if it does not select the Cluster.
func (w *worker) other(ctx context.Context, config *runtimev1.ExtensionConfig, cluster *clusterv1.Cluster) (other, error) {
	call := call{cluster: cluster, hook: BeforeClusterDelete, settings: config.Spec.Settings}
	names, err := configsOf(ctx, w.cached, call)
	if errors.Is(err, errUnregistered) {
		return other{}, nil
	}
	if err != nil {
		return other{}, err
	}
	found := other{config: config.Name, settings: Settings{given: config.Spec.Settings}}
	asked := settingsOf(w.tasks.wanted(call.hook, found.settings))
	// Its own job exists if it was created before an ExtensionConfig with the same settings and an earlier
	// name. Calls now ask for the job of that one, so what its own job lacks once it is completed is done there.
	for _, name := range []string{config.Name, names[0]} {
		job := newJob(call, name, time.Time{})
		err := w.cached.Get(ctx, client.ObjectKeyFromObject(job), job)
		if client.IgnoreNotFound(err) != nil {
			return other{}, fmt.Errorf("reading the HookJob of the ExtensionConfig %s: %w", name, err)
		}
		found.config = name
		if err == nil && (name == names[0] || !lacks(job, asked...)) {
			found.job = job
			break
		}
	}
	return found, nil
}

// before returns what a task waits for, or why it must not run, given the settings of the tasks that come
// before it; nil if it may run. It also returns when the last of them ended.
func (o others) before(settings []string) (held *Outcome, ended time.Time) {
	for _, one := range o {
		for _, setting := range settings {
			if !one.settings.asksFor(setting) {
				continue
			}
			held, at := one.past(setting)
			if held != nil {
				return held, ended
			}
			if at.After(ended) {
				ended = at
			}
		}
	}
	return nil, ended
}

// past returns why tasks that follow the one of a setting must not begin; nil if they may. It also returns
// when that one ended, if this is recorded.
func (o other) past(setting string) (*Outcome, time.Time) {
	if o.job != nil {
		if _, ended, known := endedAs(endedTasks(o.job), setting); known {
			return nil, ended.Time
		}
	}
	// If the settings have asked for the task since the job was completed, its hook's next call begins another
	// attempt.
	if o.job == nil || !o.job.IsCompleted() || lacks(o.job, setting) {
		return &Outcome{Message: fmt.Sprintf("waiting for %s of the ExtensionConfig %s", setting, o.config)}, time.Time{}
	}
	// A job that ends early, because its next task needs what this one failed to do, has no record of it.
	if conditions.GetReason(o.job, extensionv1.HookJobCompletedCondition) == extensionv1.HookJobIncompleteReason {
		return &Outcome{Done: true, Incomplete: true, Last: true, Message: fmt.Sprintf("nothing more is done, because of %s of the ExtensionConfig %s: %s", setting, o.config, messageOf(o.job))}, time.Time{}
	}
	return nil, time.Time{}
}
