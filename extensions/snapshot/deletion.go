// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/ptr"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/internal/etcdsnapshot"
)

// lastTry is how long a try may take if it begins when the time for a deletion is almost or
// completely over, as after a restart.
const lastTry = time.Minute

// deletion is the task of the hook BeforeClusterDelete.
type deletion struct {
	taker taker
	now   func() time.Time
}

// BeforeClusterDelete returns the task that takes an etcd snapshot before a Cluster is deleted. It
// always ends: once finalSnapshotTimeout has passed since the first call of the hook, the Cluster
// is deleted without a snapshot, and the message says so.
func BeforeClusterDelete(etcd Etcd) hooks.Task {
	return deletion{taker: taker{etcd: etcd}, now: time.Now}
}

// FinalBound returns the maximum time for which a deletion is held for its snapshot, from the first
// call of the hook and including the last try. It returns 0 if the settings ask for no snapshot.
func FinalBound(settings hooks.Settings) time.Duration {
	if !settings.FinalSnapshot {
		return 0
	}
	return settings.FinalSnapshotTimeout + lastTry
}

// Wanted implements hooks.Task.
func (deletion) Wanted(settings hooks.Settings) bool { return settings.FinalSnapshot }

// Run implements hooks.Task.
func (d deletion) Run(ctx context.Context, job hooks.Job) (hooks.Outcome, error) {
	if !ptr.Deref(job.Cluster.Status.Initialization.ControlPlaneInitialized, false) {
		return hooks.Outcome{Done: true, Message: "no final etcd snapshot was taken: the control plane was never initialized"}, nil
	}
	end := job.Since.Add(job.Settings.FinalSnapshotTimeout)
	timeout := min(job.Settings.SnapshotTimeout, max(end.Sub(d.now()), lastTry))
	came := d.taker.take(ctx, job, timeout, etcdsnapshot.Name{
		UID: job.Cluster.UID, Cluster: job.Key(), Version: "final", Occasion: "before-deletion",
	})
	return d.outcome(came, job.Settings.FinalSnapshotTimeout, end), nil
}

// outcome allows the deletion if there is a snapshot, if there cannot be one, or if the time is
// over.
func (d deletion) outcome(came result, given time.Duration, end time.Time) hooks.Outcome {
	left := end.Sub(d.now())
	switch {
	case came.problem == "":
		return came.stored
	case came.external:
		// External etcd is not deleted with the Cluster.
		return hooks.Outcome{Done: true, Message: "no final etcd snapshot was taken: " + came.problem}
	case left <= 0:
		return hooks.Outcome{Done: true, Message: fmt.Sprintf("no final etcd snapshot was taken within %s: %s", given, came.problem)}
	}
	return hooks.Outcome{
		Message:    fmt.Sprintf("waiting at most %s for a final etcd snapshot: %s", given, came.problem),
		RetryAfter: min(came.next(), left),
	}
}
