// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AtDeletion returns a task that runs another one only for a Cluster that is being deleted. Anybody
// who reaches the server may call a hook, and anybody who may write ConfigMaps may record a job.
// Neither must be enough to destroy something that is in use. The reader must bypass the cache.
func AtDeletion(clusters client.Reader, task Task) Task {
	return atDeletion{Task: task, clusters: clusters}
}

type atDeletion struct {
	Task

	clusters client.Reader
}

// Run implements Task.
func (d atDeletion) Run(ctx context.Context, job Job) (Outcome, error) {
	cluster := &clusterv1.Cluster{}
	if err := d.clusters.Get(ctx, job.Cluster, cluster); err != nil {
		return Outcome{}, fmt.Errorf("reading the Cluster: %w", err)
	}
	if cluster.UID != job.UID || cluster.DeletionTimestamp.IsZero() {
		return Outcome{Message: "nothing is done: the Cluster is not being deleted"}, nil
	}
	return d.Task.Run(ctx, job)
}
