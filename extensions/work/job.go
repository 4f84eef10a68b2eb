// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Job is what a call of a hook asks for. Two calls with the same Cluster, UID, Hook, From and To
// ask for the same job.
type Job struct {
	// Cluster is the key of the Cluster that the hook was called for.
	Cluster client.ObjectKey
	// UID of the Cluster. A Cluster that is recreated under the same name gets its own jobs.
	UID types.UID
	// Hook is the name of the hook, for example BeforeControlPlaneUpgrade.
	Hook string
	// From is the version before the step that the hook is about. It is empty for hooks without
	// one.
	From string
	// To is the version after the step that the hook is about. It is empty for hooks without
	// one.
	To string
	// Plan holds the versions that the upgrade passes through, including the last one. It is
	// empty for hooks without a plan.
	Plan []string
	// Settings are the settings of the ExtensionConfig: as of the hook call when the job is
	// requested, and the current ones when it is done. They hold no secrets.
	Settings map[string]string
	// Since is when the hook was first called for this job. Timeouts count from it, so that a
	// restart does not extend them.
	Since time.Time

	// config is the name of the ExtensionConfig with the settings.
	config string
	// owner is the UID of the Cluster that owns the job. It differs from UID if both were
	// moved.
	owner types.UID
}

// Outcome is the progress of a job.
type Outcome struct {
	// Done means that nothing remains to be done. The hook then never blocks again.
	Done bool
	// Message describes what the job waits for, or how it ended. Users see it in a condition of
	// the Cluster, so the same state must give the same message: no times, no retry counters, a
	// stable order, and never a secret.
	Message string
	// Report describes what was found, in several lines, for readers of the job's ConfigMap. It
	// may be empty.
	Report string
	// RetryAfter is when to look again at a job that is not done. Zero means 5 seconds.
	RetryAfter time.Duration
}

// Task does the jobs of one hook. Implementations must be safe for concurrent use.
type Task interface {
	// Wanted reports whether the settings ask for anything that the task does. It returns an
	// error if they are invalid. It is called on each call of the hook and only reads the
	// settings.
	Wanted(settings map[string]string) (bool, error)
	// Run does what can be done now and returns the progress. It is called again until the job
	// is done, also after a restart, and with other settings if these changed. So it must find
	// what was done before instead of repeating it. An error is shown like the Message of a
	// waiting job, so the same rules apply to it. Run is then retried after a backoff of at
	// most 15 seconds.
	Run(ctx context.Context, job Job) (Outcome, error)
}

// Workload returns a client for a workload cluster, created from the kubeconfig Secret. The client
// does not use a cache.
type Workload func(ctx context.Context, cluster client.ObjectKey) (client.Client, error)
