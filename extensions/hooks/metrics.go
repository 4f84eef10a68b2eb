// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
)

// collectTimeout bounds the wait for a cache that has not been filled yet.
const collectTimeout = 5 * time.Second

// collector reads metrics from the HookJobs in the cache, so that they are right after a restart, and
// gone with the jobs. All replicas have the same values.
type collector struct {
	cached             client.Reader
	blocked, snapshots *prometheus.Desc
}

// registered registers the metrics of HookJobs, and returns the counter of completed ones. Managers
// in the same process share the metrics of the first one.
func registered(registry prometheus.Registerer, cached client.Reader) (*prometheus.CounterVec, error) {
	ended := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "foo_hooks_completed_total", Help: "Jobs of lifecycle hooks that were completed, by hook and by result: Completed or Incomplete.",
	}, []string{"hook", "result"})
	jobs := collector{
		cached: cached,
		blocked: prometheus.NewDesc("foo_hook_blocked_since_timestamp_seconds",
			"When a lifecycle hook was called that still blocks its Cluster, in seconds since 1970.", []string{"namespace", "cluster", "hook"}, nil),
		snapshots: prometheus.NewDesc("foo_etcd_snapshot_timestamp_seconds",
			"When the newest etcd snapshot of a Cluster was taken by a hook, in seconds since 1970.", []string{"namespace", "cluster"}, nil),
	}
	var known prometheus.AlreadyRegisteredError
	err := registry.Register(ended)
	if errors.As(err, &known) {
		if ended, ok := known.ExistingCollector.(*prometheus.CounterVec); ok {
			return ended, nil
		}
	}
	if err := errors.Join(err, registry.Register(jobs)); err != nil {
		return nil, fmt.Errorf("metrics of HookJobs: %w", err)
	}
	return ended, nil
}

// Describe implements prometheus.Collector.
func (c collector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- c.blocked
	descriptions <- c.snapshots
}

// Collect implements prometheus.Collector.
func (c collector) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	var jobs extensionv1.HookJobList
	if err := c.cached.List(ctx, &jobs); err != nil {
		// An error would fail the request for all other metrics too.
		ctrl.Log.Error(err, "Failed to list HookJobs for metrics")
		return
	}
	blocked, snapshots := map[[3]string]float64{}, map[[2]string]float64{}
	for i := range jobs.Items {
		job := &jobs.Items[i]
		if blocks(job) {
			key := [3]string{job.Namespace, job.Spec.ClusterName, job.Spec.Hook}
			since := float64(job.Spec.RequestTime.Unix())
			if first, ok := blocked[key]; !ok || since < first {
				blocked[key] = since
			}
		}
		if !job.Status.SnapshotTime.IsZero() {
			key := [2]string{job.Namespace, job.Spec.ClusterName}
			snapshots[key] = max(snapshots[key], float64(job.Status.SnapshotTime.Unix()))
		}
	}
	for key, since := range blocked {
		metrics <- prometheus.MustNewConstMetric(c.blocked, prometheus.GaugeValue, since, key[:]...)
	}
	for key, taken := range snapshots {
		metrics <- prometheus.MustNewConstMetric(c.snapshots, prometheus.GaugeValue, taken, key[:]...)
	}
}

// blocks reports whether the hook of a job blocks its Cluster.
func blocks(job *extensionv1.HookJob) bool {
	return !job.IsCompleted() && !isResting(job) && job.Spec.Hook != AfterControlPlaneInitialized
}
