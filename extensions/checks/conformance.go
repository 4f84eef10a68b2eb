// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/workloadjob"
)

// Conformance is the task of AfterClusterUpgrade. It checks whether everything is as it should be, and runs the
// user's own Job. It ends within a time that a setting limits, whatever it found, because the next upgrade waits
// for it.
func (t Tasks) Conformance(ctx context.Context, job hooks.Job) (hooks.Outcome, error) {
	parts := []part{probes(), nodes(), staticPods(), dnsObjects()}
	seen := t.observe(ctx, job.Key(), parts...)
	result := results{checks: find(seen, job, []check{apiServerWell, nodesReady, staticPodsReady, controlPlaneUpgraded, dnsServed})}
	configMap := job.Settings.ConformanceJob
	if configMap != "" {
		ran := t.supplied(job).Run(ctx, job, configMap)
		result.job = &ran
	}
	outcome := result.outcome(job.Settings.ConformanceChecksTimeout, job.Now.Sub(job.Since))
	if outcome.Done && result.job != nil {
		if err := t.supplied(job).End(ctx, job, *result.job); err != nil {
			// The next upgrade does not wait for this.
			outcome.Report += "\nthe Job is left as it is: " + hooks.Message(err)
		}
	}
	return outcome, nil
}

func (t Tasks) supplied(job hooks.Job) workloadjob.Supplied {
	return workloadjob.Supplied{
		Clusters: t.Clusters, Purpose: "conformance", Setting: "conformanceJob",
		// A Job that is gone while the checks wait for something else would run again.
		Stays: job.Settings.ConformanceChecksTimeout,
	}
}

// results are the results of one look.
type results struct {
	// checks are the findings of the checks.
	checks []string
	// job is nil if no Job was requested.
	job *workloadjob.Result
}

// outcome decides whether to keep waiting. Findings of the checks may go away, and a Job may still
// be running, but a failed Job stays failed.
func (r results) outcome(timeout, waited time.Duration) hooks.Outcome {
	open := r.open()
	outcome := hooks.Outcome{Report: r.report(), RetryAfter: lookAgain}
	switch {
	case len(open) == 0 && r.job != nil && r.job.State == workloadjob.Failed:
		outcome.Done = true
		outcome.Message = "the checks after the upgrade have ended: " + r.job.Text
	case len(open) == 0:
		outcome.Done = true
		outcome.Message = "the checks after the upgrade found no problems"
	case waited >= timeout:
		outcome.Done = true
		outcome.Message = fmt.Sprintf("the checks after the upgrade ended after %s, and found: %s", timeout, hooks.Join(r.all(), mostNamed))
	default:
		outcome.Message = "waiting for the checks after the upgrade, which found: " + hooks.Join(open, mostNamed)
	}
	return outcome
}

// open returns what may still change.
func (r results) open() []string {
	open := r.checks
	if r.job != nil && r.job.State == workloadjob.Open {
		open = append(open[:len(open):len(open)], r.job.Text)
	}
	return open
}

// all returns everything that is not as it should be.
func (r results) all() []string {
	if r.job == nil || r.job.State == workloadjob.Complete {
		return r.checks
	}
	return append(r.checks[:len(r.checks):len(r.checks)], r.job.Text)
}

// report describes the state of the checks and of the Job, including the Job's conditions.
func (r results) report() string {
	lines := []string{"checks: found no problems"}
	if len(r.checks) > 0 {
		lines = append([]string{fmt.Sprintf("checks: found %d", len(r.checks))}, r.checks...)
	}
	if r.job != nil {
		lines = append(append(lines, "job: "+r.job.Text), r.job.Conditions...)
	}
	return strings.Join(lines, "\n")
}
