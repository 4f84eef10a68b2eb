// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cleanup

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// patience bounds one look at a workload cluster and the deletions that follow, so that an API
// server that hangs cannot hold a Cluster.
const patience = 30 * time.Second

// Task cleans up before a Cluster is deleted.
type Task struct{ hooks.Clusters }

// Run deletes what must be deleted, and returns what it waits for. It is done once a look finds
// nothing more, or once its time is over.
func (t Task) Run(ctx context.Context, job hooks.Job) (hooks.Outcome, error) {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	planned, refused, err := t.cleanUp(bounded, job.Key())
	if err != nil {
		return unreached(ctx, job, err), nil
	}
	return planned.outcome(job, refused), nil
}

// cleanUp does what can be done now.
func (t Task) cleanUp(ctx context.Context, cluster client.ObjectKey) (plan, map[ref]string, error) {
	workload, err := t.Workload(ctx, cluster)
	if err != nil {
		return plan{}, nil, err
	}
	found, err := look(ctx, workload)
	if err != nil {
		return plan{}, nil, err
	}
	planned := decide(&found)
	return planned, remove(ctx, workload, planned.remove), nil
}

// remove deletes objects and returns why some could not be deleted. It ignores objects that are
// gone or were replaced.
func remove(ctx context.Context, from client.Client, objects []ref) map[ref]string {
	refused := map[ref]string{}
	for _, one := range objects {
		object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: one.namespace, Name: one.name}}
		object.SetGroupVersionKind(one.kind)
		err := from.Delete(ctx, object, client.Preconditions{UID: &one.uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if ctx.Err() != nil {
			// There was not enough time to delete everything; the next look continues.
			return refused
		}
		if client.IgnoreNotFound(err) == nil || apierrors.IsConflict(err) {
			continue
		}
		refused[one] = hooks.Cause(err)
		ctrl.LoggerFrom(ctx).Error(err, "Failed to delete an object of a workload cluster", "object", one.String())
	}
	return refused
}

// unreached returns the outcome for a Cluster whose API server cannot be reached.
func unreached(ctx context.Context, job hooks.Job, err error) hooks.Outcome {
	ctrl.LoggerFrom(ctx).Error(err, "Failed to find what a workload cluster has in the cloud")
	reason := hooks.Cause(err)
	if hooks.NeverInitialized(job.Cluster) {
		return hooks.Outcome{Done: true, Message: "nothing was cleaned up: the control plane was never initialized"}
	}
	given, left := job.Settings.CleanUpTimeout, job.Left(job.Settings.CleanUpTimeout)
	if left <= 0 {
		return hooks.Outcome{
			Done: true, Incomplete: true,
			Message: fmt.Sprintf("the workload cluster could not be cleaned up within %s, and what it created in the cloud may be left over: %s", given, reason),
			Report:  "left over: unknown, because the workload API server cannot be queried; look in the cloud for load balancers and volumes of the cluster",
		}
	}
	return hooks.Outcome{Message: "waiting for the workload API server before cleaning up: " + reason, RetryAfter: min(later, left)}
}
