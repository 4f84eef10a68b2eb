// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/workloadjob"
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
		"nothing":       {nil, hold, time.Hour, hooks.Outcome{Done: true, Message: "the smoke checks found no problems"}},
		"early":         {found, letGo, time.Minute, hooks.Outcome{Message: "waiting for the cluster to become healthy, because the smoke checks found: " + named, Report: "a\nb", RetryAfter: lookAgain}},
		"late, hold":    {found, hold, 10 * time.Minute, hooks.Outcome{Message: "the upgrade is held, because after 10m0s the smoke checks still found: " + named, Report: "a\nb", RetryAfter: lookAgain}},
		"late, go on":   {found, letGo, time.Hour, hooks.Outcome{Done: true, Message: "the upgrade continues, although after 10m0s the smoke checks still found: " + named, Report: "a\nb", RetryAfter: lookAgain}},
		"later is same": {found, letGo, 2 * time.Hour, hooks.Outcome{Done: true, Message: "the upgrade continues, although after 10m0s the smoke checks still found: " + named, Report: "a\nb", RetryAfter: lookAgain}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(smokeOutcome(test.found, test.limits, test.waited)).To(Equal(test.want))
		})
	}
}

const fifteenMinutes = 15 * time.Minute

func TestConformanceOutcome(t *testing.T) {
	running, complete := &workloadjob.Result{State: workloadjob.Open, Text: "Job runs"}, &workloadjob.Result{State: workloadjob.Complete, Text: "Job is complete", Conditions: []string{"Complete=True"}}
	failed := &workloadjob.Result{State: workloadjob.Failed, Text: "Job failed"}
	for name, test := range map[string]struct {
		results results
		late    bool
		done    bool
		message string
		report  string
	}{
		"all well":         {results{}, false, true, "the checks after the upgrade found no problems", "checks: found no problems"},
		"job complete":     {results{job: complete}, false, true, "the checks after the upgrade found no problems", "checks: found no problems\njob: Job is complete\nComplete=True"},
		"job runs":         {results{job: running}, false, false, "waiting for the checks after the upgrade, which found: Job runs", "checks: found no problems\njob: Job runs"},
		"job failed":       {results{job: failed}, false, true, "the checks after the upgrade have ended: Job failed", "checks: found no problems\njob: Job failed"},
		"checks find":      {results{checks: []string{"b"}, job: failed}, false, false, "waiting for the checks after the upgrade, which found: b", "checks: found 1\nb\njob: Job failed"},
		"late, checks":     {results{checks: []string{"b"}, job: complete}, true, true, "the checks after the upgrade ended after 15m0s, and found: b", "checks: found 1\nb\njob: Job is complete\nComplete=True"},
		"late, both":       {results{checks: []string{"b"}, job: failed}, true, true, "the checks after the upgrade ended after 15m0s, and found: Job failed; b", "checks: found 1\nb\njob: Job failed"},
		"late, job runs":   {results{job: running}, true, true, "the checks after the upgrade ended after 15m0s, and found: Job runs", "checks: found no problems\njob: Job runs"},
		"late, all well":   {results{job: complete}, true, true, "the checks after the upgrade found no problems", "checks: found no problems\njob: Job is complete\nComplete=True"},
		"late, job failed": {results{job: failed}, true, true, "the checks after the upgrade have ended: Job failed", "checks: found no problems\njob: Job failed"},
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
