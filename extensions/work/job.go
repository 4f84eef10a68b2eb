// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Job is what a call of a hook asks for. Two calls with the same Cluster, UID, Hook, From and To ask for the same job.
type Job struct {
	// Cluster is the key of the Cluster that the hook was called for.
	Cluster client.ObjectKey
	// UID of the Cluster. A Cluster that is made anew under the same name gets jobs of its own.
	UID types.UID
	// Hook is the name of the hook, for example BeforeControlPlaneUpgrade.
	Hook string
	// From is the version before the step that the hook is about, and empty for hooks that have none.
	From string
	// To is the version after the step that the hook is about, and empty for hooks that have none.
	To string
	// Plan are the versions that the upgrade passes through, the last one included, and empty for hooks that have none.
	Plan []string
	// Settings are those of the ExtensionConfig: as of the call when the job is asked for, and as they are now when it is done.
	// They hold no secrets.
	Settings map[string]string
	// Since is when the hook was first called for this job. Bounds of time count from it, so that a restart gives no extra.
	Since time.Time

	// config is the name of the ExtensionConfig that has the settings.
	config string
	// owner is the UID of the Cluster that owns the job. It is another one than UID when both were moved.
	owner types.UID
}

// Outcome is how far a job has come.
type Outcome struct {
	// Done says that nothing remains to do. The hook is then let go, for good.
	Done bool
	// Message says what is waited for, or how it ended. Users see it in a condition of the Cluster, so the same state gives
	// the same message: no times, no counters of tries, no order that changes, and never a secret.
	Message string
	// Report is what was found, over several lines, for whoever reads the job's ConfigMap; it may be empty.
	Report string
	// RetryAfter is when to look again at a job that is not done. Zero is 5 seconds.
	RetryAfter time.Duration
}

// Task does the jobs of one hook. Implementations are safe for concurrent use.
type Task interface {
	// Wanted reports whether the settings ask for anything that the task does, or what is wrong with them. It is called in
	// each call of the hook and does nothing but read the settings.
	Wanted(settings map[string]string) (bool, error)
	// Run does what can be done now and says how far that got. It is called again until the job is done, also after a
	// restart, and with other settings if these changed: what was done before must be found, not repeated. An error is
	// shown like a Message that is waited for, so it holds to the same rules; it is tried again after a backoff of at most 15 seconds.
	Run(ctx context.Context, job Job) (Outcome, error)
}

// Workload returns a client of a workload cluster that asks the API server each time, made from the kubeconfig Secret.
type Workload func(ctx context.Context, cluster client.ObjectKey) (client.Client, error)
