// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/work"
	"github.com/capfoo/cluster-api-provider-foo/internal/etcdsnapshot"
)

// lastTry is how long a try may take if it begins when the time for a deletion is almost or
// completely over, as after a restart.
const lastTry = time.Minute

// deletion is the task of the hook BeforeClusterDelete.
type deletion struct {
	clusters client.Reader
	taker    taker
	now      func() time.Time
}

// BeforeClusterDelete returns the task that takes an etcd snapshot before a Cluster is deleted. It
// always ends: once finalSnapshotTimeout has passed since the first call of the hook, the Cluster
// is deleted without a snapshot, and the message says so.
func BeforeClusterDelete(clusters client.Reader, etcd Etcd) work.Task {
	return deletion{clusters: clusters, taker: taker{etcd: etcd}, now: time.Now}
}

// FinalBound returns the maximum time for which a deletion is held for its snapshot, from the first
// call of the hook and including the last try. It returns 0 if the settings ask for no snapshot.
func FinalBound(given map[string]string) (time.Duration, error) {
	terms, wanted, err := readTerms(given, finalSnapshot)
	if err != nil || !wanted {
		return 0, err
	}
	return terms.final + lastTry, nil
}

// Wanted implements work.Task.
func (d deletion) Wanted(given map[string]string) (bool, error) {
	_, wanted, err := readTerms(given, finalSnapshot)
	return wanted, err
}

// Run implements work.Task.
func (d deletion) Run(ctx context.Context, job work.Job) (work.Outcome, error) {
	terms, wanted, err := readTerms(job.Settings, finalSnapshot)
	if err != nil || !wanted {
		return work.Outcome{Done: err == nil}, err
	}
	initialized, err := d.initialized(ctx, job.Cluster)
	if err != nil {
		return work.Outcome{}, err
	}
	if !initialized {
		return work.Outcome{Done: true, Message: "no final etcd snapshot was taken: the control plane was never initialized"}, nil
	}
	end := job.Since.Add(terms.final)
	terms.timeout = min(terms.timeout, max(end.Sub(d.now()), lastTry))
	came := d.taker.take(ctx, job, etcdsnapshot.Name{
		UID: job.UID, Cluster: job.Cluster, Version: "final", Occasion: "before-deletion",
	}, terms)
	return d.outcome(came, terms, end), nil
}

// outcome allows the deletion if there is a snapshot, if there cannot be one, or if the time is
// over.
func (d deletion) outcome(came result, terms terms, end time.Time) work.Outcome {
	left := end.Sub(d.now())
	switch {
	case came.problem == "":
		return came.stored
	case came.external:
		// External etcd is not deleted with the Cluster.
		return work.Outcome{Done: true, Message: "no final etcd snapshot was taken: " + came.problem}
	case left <= 0:
		return work.Outcome{Done: true, Message: fmt.Sprintf("no final etcd snapshot was taken within %s: %s", terms.final, came.problem)}
	}
	return work.Outcome{
		Message:    fmt.Sprintf("waiting at most %s for a final etcd snapshot: %s", terms.final, came.problem),
		RetryAfter: min(patience, left),
	}
}

// initialized reports whether the Cluster has ever had an etcd. A Cluster that is gone has no etcd
// to take a snapshot of.
func (d deletion) initialized(ctx context.Context, key client.ObjectKey) (bool, error) {
	cluster := &clusterv1.Cluster{}
	if err := d.clusters.Get(ctx, key, cluster); err != nil {
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return false, fmt.Errorf("reading the Cluster: %w", err)
	}
	return ptr.Deref(cluster.Status.Initialization.ControlPlaneInitialized, false), nil
}
