// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/workloadjob"
)

// lookAgain is when to look again at a Job that has not succeeded.
const lookAgain = 5 * time.Second

// Task is the task of BeforeClusterDelete. It must come before the clean-up.
type Task struct{ hooks.Clusters }

// Run creates the Job of the backup, and returns its progress.
func (t Task) Run(ctx context.Context, job hooks.Job) (hooks.Outcome, error) {
	if hooks.NeverInitialized(job.Cluster) {
		return hooks.Outcome{Done: true, Message: "no volumes were backed up: the control plane was never initialized"}, nil
	}
	volumes := workloadjob.Supplied{Clusters: t.Clusters, Purpose: "volume-backup", Setting: "volumeBackupJob"}
	return outcome(volumes.Run(ctx, job, job.Settings.VolumeBackupJob), job), nil
}

// outcome decides whether the deletion may continue, and whether the clean-up may follow.
func outcome(result workloadjob.Result, job hooks.Job) hooks.Outcome {
	given, left := job.Settings.VolumeBackupTimeout, job.Left(job.Settings.VolumeBackupTimeout)
	text, report := result.Text, strings.Join(append([]string{"volume backup: " + result.Text}, result.Conditions...), "\n")
	if result.State == workloadjob.Failed {
		text += "; delete the Job there to run it again"
	}
	switch {
	case result.State == workloadjob.Complete:
		return hooks.Outcome{Done: true, Message: "the volumes were backed up: " + text, Report: report}
	case left > 0:
		return hooks.Outcome{
			Message: fmt.Sprintf("waiting for the backup of the volumes: %s", text), Report: report, RetryAfter: min(lookAgain, left),
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
