// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/workloadjob"
)

// A move or a restore loses the status of a Cluster. Its volumes must not be deleted without a backup.
func TestAClusterThatWasNeverInitialized(t *testing.T) {
	g := NewWithT(t)
	task := Task{Clusters: hooks.Clusters{Client: fake.NewClientBuilder().Build()}}
	cluster := &clusterv1.Cluster{}
	cluster.Spec.ControlPlaneRef.Name = "blue"
	run := func() hooks.Outcome {
		outcome, err := task.Run(t.Context(), hooks.Job{Cluster: cluster, Settings: hooks.Settings{VolumeBackupJob: "velero", VolumeBackupOnTimeout: hooks.Hold}})
		g.Expect(err).NotTo(HaveOccurred())
		return outcome
	}
	g.Expect(run().Message).To(HavePrefix("the deletion is held"), "only the status says so")
	cluster.Annotations = map[string]string{runtimev1.PendingHooksAnnotation: hooks.AfterControlPlaneInitialized}
	g.Expect(run()).To(Equal(hooks.Outcome{Done: true, Message: "no volumes were backed up: the control plane was never initialized"}))
}

func TestOutcome(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	hold := hooks.Settings{VolumeBackupJob: "velero", VolumeBackupTimeout: time.Hour, VolumeBackupOnTimeout: hooks.Hold}
	goOn := hold
	goOn.VolumeBackupOnTimeout = hooks.Continue
	running := workloadjob.Result{State: workloadjob.Open, Text: "Job v/b has not finished"}
	complete := workloadjob.Result{State: workloadjob.Complete, Text: "Job v/b is complete", Conditions: []string{"Complete=True"}}
	failed := workloadjob.Result{State: workloadjob.Failed, Text: "Job v/b failed (BackoffLimitExceeded)"}
	const again = "Job v/b failed (BackoffLimitExceeded); delete the Job there to run it again"
	for name, test := range map[string]struct {
		result   workloadjob.Result
		settings hooks.Settings
		after    time.Duration
		want     hooks.Outcome
	}{
		"succeeded": {complete, hold, 2 * time.Hour, hooks.Outcome{
			Done: true, Message: "the volumes were backed up: Job v/b is complete", Report: "volume backup: Job v/b is complete\nComplete=True"}},
		"running": {running, hold, 0, hooks.Outcome{
			Message: "waiting for the backup of the volumes: Job v/b has not finished", Report: "volume backup: Job v/b has not finished", RetryAfter: lookAgain}},
		"about to end": {running, hold, time.Hour - time.Second, hooks.Outcome{
			Message: "waiting for the backup of the volumes: Job v/b has not finished", Report: "volume backup: Job v/b has not finished", RetryAfter: time.Second}},
		"failed early": {failed, goOn, time.Minute, hooks.Outcome{
			Message: "waiting for the backup of the volumes: " + again, Report: "volume backup: " + failed.Text, RetryAfter: lookAgain}},
		"held": {failed, hold, time.Hour, hooks.Outcome{
			Message: "the deletion is held, because the volumes were not backed up within 1h0m0s: " + again +
				"; to delete the Cluster without a backup and without a clean-up, name BeforeClusterDelete in the annotation foo.cluster.x-k8s.io/skip-hooks",
			Report: "volume backup: " + failed.Text, RetryAfter: lookAgain}},
		"continued": {running, goOn, time.Hour, hooks.Outcome{
			Done: true, Incomplete: true, Last: true, Message: "the volumes were not backed up within 1h0m0s, so they are not deleted either: Job v/b has not finished",
			Report: "volume backup: Job v/b has not finished"}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(outcome(test.result, hooks.Job{Settings: test.settings, Since: since, Now: since.Add(test.after)})).To(Equal(test.want))
		})
	}
}
