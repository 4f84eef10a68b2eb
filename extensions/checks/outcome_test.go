// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

func TestSmokeOutcome(t *testing.T) {
	const named = "a; b"
	found := []string{"a", "b"}
	hold := hooks.Settings{SmokeChecksTimeout: 10 * time.Minute, SmokeChecksOnTimeout: hooks.Hold}
	letGo := hooks.Settings{SmokeChecksTimeout: 10 * time.Minute, SmokeChecksOnTimeout: hooks.Continue}
	for name, test := range map[string]struct {
		found  []string
		limits hooks.Settings
		waited time.Duration
		want   hooks.Outcome
	}{
		"nothing":       {nil, hold, time.Hour, hooks.Outcome{Done: true, Message: "the smoke checks found nothing"}},
		"early":         {found, letGo, time.Minute, hooks.Outcome{Message: "waiting for the cluster to become healthy, because the smoke checks found: " + named, Report: "a\nb\n", RetryAfter: lookAgain}},
		"late, hold":    {found, hold, 10 * time.Minute, hooks.Outcome{Message: "the upgrade is held, because after 10m0s the smoke checks still found: " + named, Report: "a\nb\n", RetryAfter: lookAgain}},
		"late, go on":   {found, letGo, time.Hour, hooks.Outcome{Done: true, Message: "the upgrade continues, although after 10m0s the smoke checks still found: " + named, Report: "a\nb\n", RetryAfter: lookAgain}},
		"later is same": {found, letGo, 2 * time.Hour, hooks.Outcome{Done: true, Message: "the upgrade continues, although after 10m0s the smoke checks still found: " + named, Report: "a\nb\n", RetryAfter: lookAgain}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(smokeOutcome(test.found, test.limits, test.waited)).To(Equal(test.want))
		})
	}
}

const fifteenMinutes = 15 * time.Minute

func TestConformanceOutcome(t *testing.T) {
	running, complete := &jobResult{state: jobOpen, text: "Job runs"}, &jobResult{state: jobComplete, text: "Job is complete", conditions: []string{"Complete=True"}}
	failed := &jobResult{state: jobFailed, text: "Job failed"}
	for name, test := range map[string]struct {
		results results
		late    bool
		done    bool
		message string
		report  string
	}{
		"all well":         {results{}, false, true, "the checks after the upgrade found nothing", "checks: found nothing\n"},
		"job complete":     {results{job: complete}, false, true, "the checks after the upgrade found nothing", "checks: found nothing\njob: Job is complete\nComplete=True\n"},
		"job runs":         {results{job: running}, false, false, "waiting for the checks after the upgrade, which found: Job runs", "checks: found nothing\njob: Job runs\n"},
		"job failed":       {results{job: failed}, false, true, "the checks after the upgrade have ended: Job failed", "checks: found nothing\njob: Job failed\n"},
		"checks find":      {results{checks: []string{"b"}, job: failed}, false, false, "waiting for the checks after the upgrade, which found: b", "checks: found 1\nb\njob: Job failed\n"},
		"late, checks":     {results{checks: []string{"b"}, job: complete}, true, true, "the checks after the upgrade ended after 15m0s, and found: b", "checks: found 1\nb\njob: Job is complete\nComplete=True\n"},
		"late, both":       {results{checks: []string{"b"}, job: failed}, true, true, "the checks after the upgrade ended after 15m0s, and found: Job failed; b", "checks: found 1\nb\njob: Job failed\n"},
		"late, job runs":   {results{job: running}, true, true, "the checks after the upgrade ended after 15m0s, and found: Job runs", "checks: found nothing\njob: Job runs\n"},
		"late, all well":   {results{job: complete}, true, true, "the checks after the upgrade found nothing", "checks: found nothing\njob: Job is complete\nComplete=True\n"},
		"late, job failed": {results{job: failed}, true, true, "the checks after the upgrade have ended: Job failed", "checks: found nothing\njob: Job failed\n"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			waited := time.Minute
			if test.late {
				waited = fifteenMinutes
			}
			outcome := test.results.outcome(fifteenMinutes, waited)
			g.Expect(outcome.Done).To(Equal(test.done))
			g.Expect(outcome.Message).To(Equal(test.message))
			g.Expect(outcome.Report).To(Equal(test.report))
		})
	}
}

func TestJudge(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j"}}
	for name, test := range map[string]struct {
		conditions []batchv1.JobCondition
		want       jobResult
	}{
		"new": {nil, jobResult{state: jobOpen, text: "Job ns/j has not finished"}},
		"suspended": {[]batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue, Reason: "JobSuspended"}},
			jobResult{state: jobOpen, text: "Job ns/j has not finished", conditions: []string{"Suspended=True JobSuspended"}}},
		"complete": {[]batchv1.JobCondition{{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue}, {Type: batchv1.JobComplete, Status: corev1.ConditionTrue, Reason: "Done", Message: "all"}},
			jobResult{state: jobComplete, text: "Job ns/j is complete", conditions: []string{"Complete=True Done: all", "SuccessCriteriaMet=True"}}},
		"failed": {[]batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded"}},
			jobResult{state: jobFailed, text: "Job ns/j failed (BackoffLimitExceeded)", conditions: []string{"Failed=True BackoffLimitExceeded"}}},
	} {
		t.Run(name, func(t *testing.T) {
			seen := job.DeepCopy()
			seen.Status.Conditions = test.conditions
			NewWithT(t).Expect(*judge(seen)).To(Equal(test.want))
		})
	}
}

const jobText = `apiVersion: batch/v1
kind: Job
metadata:
  name: mine
  generateName: mine-
  labels: {app: mine}
spec:
  ttlSecondsAfterFinished: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{name: check, image: example.com/check:v1}]
`

func TestParseJob(t *testing.T) {
	g := NewWithT(t)
	of := func(text string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{JobKey: text}}
	}
	made, err := parseJob(of(jobText))
	g.Expect(err).NotTo(HaveOccurred())
	one := hooks.Job{Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{UID: "1"}}, Hook: "AfterClusterUpgrade", To: "v1.36.3"}
	identify(made, one)
	name := made.Name
	g.Expect(name).To(MatchRegexp(`^foo-conformance-[0-9a-f]{10}$`))
	g.Expect(made.Namespace).To(Equal("default"))
	g.Expect(made.GenerateName).To(BeEmpty())
	g.Expect(made.Labels).To(Equal(map[string]string{"app": "mine", madeForLabel: "AfterClusterUpgrade"}))
	g.Expect(made.Spec.TTLSecondsAfterFinished).To(BeNil(), "a Job that goes before its result was read would be made again")

	again := made.DeepCopy()
	identify(again, one)
	g.Expect(again).To(Equal(made))
	identify(again, hooks.Job{Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{UID: "1"}}, Hook: "AfterClusterUpgrade", To: "v1.37.0"})
	g.Expect(again.Name).NotTo(Equal(name))

	for _, wrong := range []string{"", "{", "apiVersion: v1\nkind: Pod", "apiVersion: batch/v1\nkind: Job\nsecret: hunter2"} {
		_, err := parseJob(of(wrong))
		g.Expect(err).To(MatchError(`data["job.yaml"] of ConfigMap c is not a batch/v1 Job with only known fields`))
	}
	_, err = parseJob(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}})
	g.Expect(err).To(MatchError(`ConfigMap c has no data["job.yaml"]`))
}

func TestWanted(t *testing.T) {
	for name, test := range map[string]struct {
		task hooks.Task
		on   hooks.Settings
	}{
		"upgrade":     {NewUpgrade(Options{}), hooks.Settings{UpgradeChecks: true}},
		"smoke":       {NewSmoke(Options{}), hooks.Settings{SmokeChecks: true}},
		"conformance": {NewConformance(Options{}), hooks.Settings{ConformanceChecks: true}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(test.task.Wanted(hooks.Settings{ConformanceJob: "a.b"})).To(BeFalse())
			g.Expect(test.task.Wanted(test.on)).To(BeTrue())
		})
	}
}
