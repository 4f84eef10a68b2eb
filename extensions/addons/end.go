// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"fmt"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/v1alpha1/extension"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// endWait is when to look again for jobs that end.
const endWait = time.Second

// end waits before a deletion until no job applies add-ons any more.
type end struct{ Options }

// NewEnd returns the task that waits before a deletion until no job applies add-ons any more, so
// that none recreates what the clean-up has deleted. Jobs begin nothing more once the Cluster is
// being deleted.
func NewEnd(options Options) hooks.Task { return end{options} }

// Wanted reports whether the settings ask for both add-ons and the clean-up.
func (end) Wanted(settings hooks.Settings) bool { return settings.Addons && settings.CleanUp }

// Run looks for jobs that have not ended.
func (e end) Run(ctx context.Context, job hooks.Job) (hooks.Outcome, error) {
	var jobs extensionv1.HookJobList
	err := e.Client.List(ctx, &jobs, client.InNamespace(job.Cluster.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: job.Cluster.Name})
	if err != nil {
		return hooks.Outcome{}, fmt.Errorf("listing HookJobs: %w", err)
	}
	for i := range jobs.Items {
		if other := &jobs.Items[i]; other.Spec.Hook != job.Hook && hooks.Owns(job.Cluster, other) && !other.IsCompleted() {
			return hooks.Outcome{Message: "waiting for the HookJob " + other.Name + " to end", RetryAfter: endWait}, nil
		}
	}
	return hooks.Outcome{Done: true}, nil
}
