// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"fmt"

	"github.com/blang/semver/v4"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/lifecycle"
	"github.com/capfoo/cluster-api-provider-foo/extensions/work"
	"github.com/capfoo/cluster-api-provider-foo/internal/etcdsnapshot"
)

// upgrade is the task of the hook BeforeControlPlaneUpgrade.
type upgrade struct {
	clusters client.Reader
	taker    taker
}

// BeforeControlPlaneUpgrade returns the task that takes an etcd snapshot before a step of an
// upgrade of the control plane. The step is held until the snapshot is stored. If the step has
// begun anyway, for example because the hook was skipped, no snapshot is taken: it would not be
// from before the step.
func BeforeControlPlaneUpgrade(clusters client.Reader, etcd Etcd) work.Task {
	return upgrade{clusters: clusters, taker: taker{etcd: etcd}}
}

// Wanted implements work.Task.
func (u upgrade) Wanted(given map[string]string) (bool, error) {
	_, wanted, err := readTerms(given, snapshots)
	return wanted, err
}

// Run implements work.Task.
func (u upgrade) Run(ctx context.Context, job work.Job) (work.Outcome, error) {
	terms, wanted, err := readTerms(job.Settings, snapshots)
	if err != nil || !wanted {
		return work.Outcome{Done: err == nil}, err
	}
	newer, err := u.begun(ctx, job)
	if err != nil {
		return work.Outcome{}, err
	}
	if newer != "" {
		return work.Outcome{Done: true, Message: "no etcd snapshot was taken: the control plane already has version " + newer}, nil
	}
	came := u.taker.take(ctx, job, etcdsnapshot.Name{
		UID: job.UID, Cluster: job.Cluster, Version: job.From, Occasion: "before-" + job.To,
	}, terms)
	setting := snapshotExternalEtcd.Doc().Name
	switch {
	case came.problem == "":
		return came.stored, nil
	case came.unreachable && terms.etcd == skip:
		return work.Outcome{Done: true, Message: fmt.Sprintf("no etcd snapshot was taken, as the setting %s allows: %s", setting, came.problem)}, nil
	case came.unreachable:
		return work.Outcome{RetryAfter: patience, Message: fmt.Sprintf(
			"no etcd snapshot can be taken: %s; take one yourself, then name %s in the annotation %s, or set %s to %s",
			came.problem, lifecycle.BeforeControlPlaneUpgrade, work.SkipAnnotation, setting, skip)}, nil
	}
	return work.Outcome{RetryAfter: patience, Message: "waiting for an etcd snapshot: " + came.problem}, nil
}

// begun returns a version of the control plane that is newer than the one before the step. It is
// empty if there is none.
func (u upgrade) begun(ctx context.Context, job work.Job) (string, error) {
	cluster := &clusterv1.Cluster{}
	if err := u.clusters.Get(ctx, job.Cluster, cluster); err != nil {
		return "", fmt.Errorf("reading the Cluster: %w", err)
	}
	from, err := semver.ParseTolerant(job.From)
	if err != nil {
		return "", fmt.Errorf("the version before the step is %q, want a semantic version: %w", job.From, err)
	}
	if cluster.Status.ControlPlane == nil {
		return "", nil
	}
	for _, found := range cluster.Status.ControlPlane.Versions {
		if has, err := semver.ParseTolerant(found.Version); err == nil && has.GT(from) {
			return found.Version, nil
		}
	}
	return "", nil
}
