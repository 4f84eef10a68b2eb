// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/extensions/message"
	"github.com/capfoo/cluster-api-provider-foo/extensions/work"
)

// conformance is the task of AfterClusterUpgrade.
type conformance struct {
	Options
}

var _ work.Task = conformance{}

// NewConformance returns the task for AfterClusterUpgrade. It checks whether everything is as it
// should be, and runs the user's own Job. It ends within a time that a setting limits, whatever it
// found, because the next upgrade waits for it.
func NewConformance(options Options) work.Task { return conformance{options} }

// Wanted implements work.Task.
func (conformance) Wanted(settings map[string]string) (bool, error) {
	if _, err := conformanceChecksTimeout.Get(settings); err != nil {
		return false, err
	}
	if _, err := conformanceJob.Get(settings); err != nil {
		return false, err
	}
	return conformanceChecks.Get(settings)
}

// Run implements work.Task.
func (c conformance) Run(ctx context.Context, job work.Job) (work.Outcome, error) {
	wanted, err := c.Wanted(job.Settings)
	if err != nil || !wanted {
		return work.Outcome{Done: err == nil}, err
	}
	timeout, err := conformanceChecksTimeout.Get(job.Settings)
	if err != nil {
		return work.Outcome{}, err
	}
	name, err := conformanceJob.Get(job.Settings)
	if err != nil {
		return work.Outcome{}, err
	}
	parts := []part{probes(), nodes(), staticPods(), dnsObjects()}
	seen := c.observe(ctx, job.Cluster, parts...)
	result := results{checks: find(seen, job, []check{apiServerWell, nodesReady, staticPodsReady, controlPlaneUpgraded, dnsServed})}
	if name != "" {
		result.job = c.runJob(ctx, job, name)
	}
	outcome := result.outcome(timeout, time.Since(job.Since))
	if outcome.Done {
		if err := c.endJob(ctx, job.Cluster, result.job); err != nil {
			// The next upgrade does not wait for this.
			outcome.Report += "the Job is left as it is: " + message.Of(err) + "\n"
		}
	}
	return outcome, nil
}

// results are the results of one look.
type results struct {
	// checks are the findings of the checks.
	checks []string
	// job is nil if no Job was requested.
	job *jobResult
}

// outcome decides whether to keep waiting. Findings of the checks may go away, and a Job may still
// be running, but a failed Job stays failed.
func (r results) outcome(timeout, waited time.Duration) work.Outcome {
	open := r.open()
	outcome := work.Outcome{Report: r.report(), RetryAfter: lookAgain}
	switch {
	case len(open) == 0 && r.job != nil && r.job.state == jobFailed:
		outcome.Done = true
		outcome.Message = "the checks after the upgrade have ended: " + r.job.text
	case len(open) == 0:
		outcome.Done = true
		outcome.Message = "the checks after the upgrade found nothing"
	case waited >= timeout:
		outcome.Done = true
		outcome.Message = fmt.Sprintf("the checks after the upgrade ended after %s, and found: %s", timeout, message.List(r.all(), mostNamed))
	default:
		outcome.Message = "waiting for the checks after the upgrade, which found: " + message.List(open, mostNamed)
	}
	return outcome
}

// open returns what may still change.
func (r results) open() []string {
	open := r.checks
	if r.job != nil && r.job.state == jobOpen {
		open = append(open[:len(open):len(open)], r.job.text)
	}
	return open
}

// all returns everything that is not as it should be.
func (r results) all() []string {
	if r.job == nil || r.job.state == jobComplete {
		return r.checks
	}
	return append(r.checks[:len(r.checks):len(r.checks)], r.job.text)
}

// report describes the state of the checks and of the Job, including the Job's conditions.
func (r results) report() string {
	var text strings.Builder
	text.WriteString("checks: ")
	if len(r.checks) == 0 {
		text.WriteString("found nothing\n")
	} else {
		fmt.Fprintf(&text, "found %d\n%s", len(r.checks), report(r.checks))
	}
	if r.job != nil {
		fmt.Fprintf(&text, "job: %s\n%s", r.job.text, report(r.job.conditions))
	}
	return text.String()
}
