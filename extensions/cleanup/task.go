// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cleanup

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/message"
	"github.com/capfoo/cluster-api-provider-foo/extensions/work"
)

// patience bounds one look at a workload cluster and the deletions that follow, so that an API
// server that hangs cannot hold a Cluster.
const patience = 30 * time.Second

// Options configures the task.
type Options struct {
	// Client reads Clusters of the management cluster.
	Client client.Reader
	// Workload returns clients for workload clusters. They must know the kinds of core, apps
	// and batch.
	Workload work.Workload
	// Before returns how long everything before the clean-up may take at most, given the
	// settings. Nil means no time at all.
	Before func(settings map[string]string) (time.Duration, error)
	// Clock tells the time. Nil means the real clock.
	Clock clock.PassiveClock
}

// Task cleans up before a Cluster is deleted.
type Task struct {
	client   client.Reader
	workload work.Workload
	before   func(settings map[string]string) (time.Duration, error)
	clock    clock.PassiveClock
}

var _ work.Task = &Task{}

// New returns the task.
func New(options Options) *Task {
	made := &Task{client: options.Client, workload: options.Workload, before: options.Before, clock: options.Clock}
	if made.before == nil {
		made.before = func(map[string]string) (time.Duration, error) { return 0, nil }
	}
	if made.clock == nil {
		made.clock = clock.RealClock{}
	}
	return made
}

// Wanted reports whether the settings ask for the clean-up.
func (*Task) Wanted(settings map[string]string) (bool, error) {
	if _, err := timeout.Get(settings); err != nil {
		return false, err
	}
	return cleanUp.Get(settings)
}

// Run deletes what must be deleted, and returns what it waits for. It is done once a look finds
// nothing more, or once the time is over.
func (t *Task) Run(ctx context.Context, job work.Job) (work.Outcome, error) {
	wanted, err := t.Wanted(job.Settings)
	if err != nil {
		return work.Outcome{}, err
	}
	if !wanted {
		return work.Outcome{Done: true, Message: fmt.Sprintf("setting %s is off", cleanUp.Doc().Name)}, nil
	}
	given, err := t.bound(job.Settings)
	if err != nil {
		return work.Outcome{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	planned, refused, err := t.cleanUp(bounded, job.Cluster)
	if ctx.Err() != nil {
		// The caller is stopping. That says nothing about the cluster.
		return work.Outcome{}, ctx.Err()
	}
	left := limit{given: given, left: job.Since.Add(given).Sub(t.clock.Now())}
	if err != nil {
		return t.unreached(ctx, job, left, err), nil
	}
	return planned.outcome(left, refused), nil
}

// bound returns how long the hook may be held in total, including everything before the clean-up.
// Even if that uses up its time, the clean-up still has its own.
func (t *Task) bound(settings map[string]string) (time.Duration, error) {
	before, err := t.before(settings)
	if err != nil {
		return 0, err
	}
	own, err := timeout.Get(settings)
	return before + own, err
}

// cleanUp does what can be done now.
func (t *Task) cleanUp(ctx context.Context, cluster client.ObjectKey) (plan, map[ref]string, error) {
	workload, err := t.workload(ctx, cluster)
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
		refused[one] = message.Cause(err)
		ctrl.LoggerFrom(ctx).Error(err, "Failed to delete an object of a workload cluster", "object", one.String())
	}
	return refused
}

// unreached returns the outcome for a Cluster whose API server cannot be reached.
func (t *Task) unreached(ctx context.Context, job work.Job, left limit, err error) work.Outcome {
	ctrl.LoggerFrom(ctx).Error(err, "Failed to find what a workload cluster has in the cloud")
	reason := message.Cause(err)
	if t.neverCameUp(ctx, job.Cluster) {
		return work.Outcome{Done: true, Message: "nothing was cleaned up: the control plane was never initialized"}
	}
	if left.over() {
		return work.Outcome{
			Done:    true,
			Message: fmt.Sprintf("the workload cluster could not be cleaned up within %s, and what it created in the cloud may be left over: %s", left.given, reason),
			Report:  "left over: unknown, because the workload API server cannot be queried; look in the cloud for load balancers and volumes of the cluster",
		}
	}
	return work.Outcome{Message: "waiting for the workload API server before cleaning up: " + reason, RetryAfter: left.next(later)}
}

// neverCameUp reports whether the control plane is known never to have been initialized, so it
// cannot have created anything.
func (t *Task) neverCameUp(ctx context.Context, key client.ObjectKey) bool {
	cluster := &clusterv1.Cluster{}
	if err := t.client.Get(ctx, key, cluster); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Failed to read the Cluster to clean up")
		return false
	}
	initialized := cluster.Status.Initialization.ControlPlaneInitialized
	return initialized == nil || !*initialized
}
