// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"fmt"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

// lastTry is how long a Job may take that was created when the time for a deletion was almost or
// completely over, as after a restart.
const lastTry = time.Minute

// BeforeClusterDelete takes an etcd snapshot before a Cluster is deleted. It always ends: once
// finalSnapshotTimeout has passed since the first call of the hook, the Cluster is deleted without a snapshot,
// with a warning.
func (t Tasks) BeforeClusterDelete(ctx context.Context, job hooks.Job) (hooks.Outcome, error) {
	if hooks.NeverInitialized(job.Cluster) {
		return hooks.Outcome{Done: true, Message: "no final etcd snapshot was taken: the control plane was never initialized"}, nil
	}
	asked := job
	if deleted := job.Cluster.DeletionTimestamp; deleted != nil {
		// Another job of this deletion, for example under an earlier name of the ExtensionConfig, may have
		// stored a snapshot already. One from after the clean-up must not replace it.
		asked.Since = deleted.Time
	}
	came := t.take(ctx, asked, snapshotjob.Name{
		UID: job.Cluster.UID, Cluster: job.Key(), Version: "final", Occasion: "before-deletion",
	})
	return outcomeOfDeletion(came, job), nil
}

// outcomeOfDeletion allows the deletion if there is a snapshot, if there cannot be one, or if the time is
// over.
func outcomeOfDeletion(came result, job hooks.Job) hooks.Outcome {
	given, left := job.Settings.FinalSnapshotTimeout, job.Left(job.Settings.FinalSnapshotTimeout)
	// The clock of the workload cluster may be ahead.
	if !came.started.IsZero() && !came.started.After(job.Now.Add(lastTry)) {
		left = max(left, came.started.Add(lastTry).Sub(job.Now))
	}
	switch {
	case came.problem == "":
		return came.stored
	case came.unreachable:
		// External etcd is not deleted with the Cluster.
		return hooks.Outcome{Done: true, Incomplete: !came.external, Message: "no final etcd snapshot was taken: " + came.problem}
	case left <= 0:
		return hooks.Outcome{Done: true, Incomplete: true, Message: fmt.Sprintf("no final etcd snapshot was taken within %s: %s", given, came.problem)}
	}
	return hooks.Outcome{
		Message:    fmt.Sprintf("waiting at most %s for a final etcd snapshot: %s", given, came.problem),
		RetryAfter: min(lookAgain, left),
	}
}
