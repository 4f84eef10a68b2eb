// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"context"
	"fmt"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/extensions/lifecycle"
	"github.com/capfoo/cluster-api-provider-foo/extensions/message"
	"github.com/capfoo/cluster-api-provider-foo/extensions/work"
)

// smoke is the task of the hooks between the steps of an upgrade.
type smoke struct {
	Options
}

var _ work.Task = smoke{}

// NewSmoke returns the task for AfterControlPlaneUpgrade, BeforeWorkersUpgrade and
// AfterWorkersUpgrade. It checks whether the cluster still works. It waits until it does, within a
// time that a setting limits.
func NewSmoke(options Options) work.Task { return smoke{options} }

// Wanted implements work.Task.
func (smoke) Wanted(settings map[string]string) (bool, error) {
	wanted, _, err := smokeSettings(settings)
	return wanted, err
}

// bound is how long to wait for a cluster to become healthy, and what happens after that.
type bound struct {
	timeout time.Duration
	ending  Ending
}

func smokeSettings(settings map[string]string) (wanted bool, limits bound, err error) {
	if limits.timeout, err = smokeChecksTimeout.Get(settings); err != nil {
		return false, bound{}, err
	}
	if limits.ending, err = smokeChecksOnTimeout.Get(settings); err != nil {
		return false, bound{}, err
	}
	wanted, err = smokeChecks.Get(settings)
	return wanted, limits, err
}

// Run implements work.Task.
func (s smoke) Run(ctx context.Context, job work.Job) (work.Outcome, error) {
	wanted, limits, err := smokeSettings(job.Settings)
	if err != nil || !wanted {
		return work.Outcome{Done: err == nil}, err
	}
	parts, checks := smokeFindings(job.Hook)
	return smokeOutcome(find(s.observe(ctx, job.Cluster, parts...), job, checks), limits, time.Since(job.Since)), nil
}

// smokeFindings returns the checks for a hook, and the parts that they need.
func smokeFindings(hook string) ([]part, []check) {
	parts := []part{probes(), nodes(), dnsObjects()}
	checks := []check{apiServerWell, nodesReady, dnsServed}
	switch hook {
	case lifecycle.AfterControlPlaneUpgrade:
		return append(parts, staticPods()), append(checks, controlPlaneUpgraded, staticPodsReady)
	case lifecycle.BeforeWorkersUpgrade:
		return append(parts, budgets()), append(checks, drainsPossible)
	default:
		return parts, checks
	}
}

func smokeOutcome(found []string, limits bound, waited time.Duration) work.Outcome {
	if len(found) == 0 {
		return work.Outcome{Done: true, Message: "the smoke checks found nothing"}
	}
	named := message.List(found, mostNamed)
	outcome := work.Outcome{Report: report(found), RetryAfter: lookAgain}
	switch {
	case waited < limits.timeout:
		outcome.Message = "waiting for the cluster to become healthy, because the smoke checks found: " + named
	case limits.ending == Continue:
		outcome.Done = true
		outcome.Message = fmt.Sprintf("the upgrade continues, although after %s the smoke checks still found: %s", limits.timeout, named)
	default:
		outcome.Message = fmt.Sprintf("the upgrade is held, because after %s the smoke checks still found: %s", limits.timeout, named)
	}
	return outcome
}
