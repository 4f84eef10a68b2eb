// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/workloadjob"
)

// lookAgain is when to look again at a Job that has not succeeded.
const lookAgain = 5 * time.Second

// Options configures the task.
type Options struct {
	// Client reads ConfigMaps of the management cluster.
	Client client.Reader
	// Workload connects to workload clusters. Its clients must know core and batch.
	Workload hooks.Workload
	// Clock tells the time. Nil means the real clock.
	Clock clock.PassiveClock
}

// task is the task of the hook BeforeClusterDelete.
type task struct {
	volumes workloadjob.Supplied
	clock   clock.PassiveClock
}

// New returns the task for BeforeClusterDelete. It must come before the clean-up.
func New(options Options) hooks.Task {
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	return task{
		volumes: workloadjob.Supplied{Client: options.Client, Workload: options.Workload, Purpose: "volume-backup", Setting: "volumeBackupJob"},
		clock:   options.Clock,
	}
}

// Setting implements hooks.Task.
func (task) Setting() string { return "volumeBackupJob" }

// Run implements hooks.Task.
func (t task) Run(ctx context.Context, job hooks.Job) (hooks.Outcome, error) {
	if !ptr.Deref(job.Cluster.Status.Initialization.ControlPlaneInitialized, false) {
		return hooks.Outcome{Done: true, Message: "no volumes were backed up: the control plane was never initialized"}, nil
	}
	result := t.volumes.Run(ctx, job, job.Settings.VolumeBackupJob)
	if ctx.Err() != nil {
		// The caller is stopping. That says nothing about the Job.
		return hooks.Outcome{}, ctx.Err()
	}
	return outcome(result, job, t.clock.Now()), nil
}

// outcome decides whether the deletion may continue, and whether the clean-up may follow.
func outcome(result workloadjob.Result, job hooks.Job, now time.Time) hooks.Outcome {
	given, end := job.Settings.VolumeBackupTimeout, job.Since.Add(job.Settings.VolumeBackupTimeout)
	text, report := result.Text, strings.Join(append([]string{"volume backup: " + result.Text}, result.Conditions...), "\n")
	if result.State == workloadjob.Failed {
		text += "; delete the Job there to run it again"
	}
	switch {
	case result.State == workloadjob.Complete:
		return hooks.Outcome{Done: true, Message: "the volumes were backed up: " + text, Report: report, Final: true}
	case now.Before(end):
		return hooks.Outcome{
			Message: fmt.Sprintf("waiting for the backup of the volumes: %s", text), Report: report, RetryAfter: min(lookAgain, end.Sub(now)),
		}
	case job.Settings.VolumeBackupOnTimeout == hooks.Continue:
		return hooks.Outcome{
			Done: true, Incomplete: true, Last: true, Report: report,
			Message: fmt.Sprintf("the volumes were not backed up within %s, so they are not deleted either: %s", given, text),
		}
	}
	return hooks.Outcome{
		Message: fmt.Sprintf("the deletion is held, because the volumes were not backed up within %s: %s; to delete the Cluster without a backup and without a clean-up, name %s in the annotation %s",
			given, text, hooks.BeforeClusterDelete, hooks.SkipAnnotation),
		Report: report, RetryAfter: lookAgain,
	}
}
