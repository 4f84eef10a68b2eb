// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"fmt"

	"github.com/blang/semver/v4"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

// BeforeControlPlaneUpgrade takes an etcd snapshot before a step of an upgrade of the control plane. The step is
// held until the snapshot is stored. If the step has begun anyway, for example because the hook was skipped, no
// snapshot is taken: it would not be from before the step.
func (t Tasks) BeforeControlPlaneUpgrade(ctx context.Context, job hooks.Job) (hooks.Outcome, error) {
	if _, err := semver.ParseTolerant(job.From); err != nil {
		return hooks.Outcome{}, fmt.Errorf("the version before the step is %q, but must be a semantic version: %w", job.From, err)
	}
	if has := hooks.Begun(job.Cluster, job.From, job.To); has != "" {
		return hooks.Outcome{Done: true, Message: "no etcd snapshot was taken: the control plane already has version " + has}, nil
	}
	came := t.take(ctx, job, snapshotjob.Name{
		UID: job.Cluster.UID, Cluster: job.Key(), Version: job.From, Occasion: "before-" + job.To,
	})
	switch {
	case came.problem == "":
		return came.stored, nil
	case came.unreachable && job.Settings.SnapshotExternalEtcd == hooks.Skip:
		return hooks.Outcome{Done: true, Message: "no etcd snapshot was taken, as the setting snapshotExternalEtcd allows: " + came.problem}, nil
	case came.unreachable:
		return hooks.Outcome{RetryAfter: patience, Message: fmt.Sprintf(
			"no etcd snapshot can be taken: %s; take one yourself, then name %s in the annotation %s, or set snapshotExternalEtcd to %s",
			came.problem, hooks.BeforeControlPlaneUpgrade, hooks.SkipAnnotation, hooks.Skip)}, nil
	}
	return hooks.Outcome{RetryAfter: lookAgain, Message: "waiting for an etcd snapshot: " + came.problem}, nil
}
