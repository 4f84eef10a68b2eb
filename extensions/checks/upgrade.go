// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"context"
	"strings"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/extensions/message"
	"github.com/capfoo/cluster-api-provider-foo/extensions/work"
)

const (
	// mostNamed is how many findings a message names. The report has them all.
	mostNamed = 10
	// lookAgain is when to look again at a cluster with findings.
	lookAgain = 10 * time.Second
)

// upgrade is the task of BeforeClusterUpgrade.
type upgrade struct {
	Options
}

var _ work.Task = upgrade{}

// NewUpgrade returns the task for BeforeClusterUpgrade. It checks whether an upgrade can go well.
func NewUpgrade(options Options) work.Task { return upgrade{options} }

// Wanted implements work.Task.
func (upgrade) Wanted(settings map[string]string) (bool, error) {
	if _, err := upgradeChecksOnFailure.Get(settings); err != nil {
		return false, err
	}
	return upgradeChecks.Get(settings)
}

// Run implements work.Task.
func (u upgrade) Run(ctx context.Context, job work.Job) (work.Outcome, error) {
	wanted, err := u.Wanted(job.Settings)
	if err != nil || !wanted {
		return work.Outcome{Done: err == nil}, err
	}
	ending, err := upgradeChecksOnFailure.Get(job.Settings)
	if err != nil {
		return work.Outcome{}, err
	}
	seen := u.observe(ctx, job.Cluster, probes(), nodes(), staticPods(), requestedAPIs(), availableVersions())
	found := find(seen, job, upgradeFindings())
	if len(found) == 0 {
		return work.Outcome{Done: true, Message: "the upgrade checks found nothing"}, nil
	}
	outcome := work.Outcome{Report: report(found), RetryAfter: lookAgain}
	outcome.Message = "the upgrade is held, because its checks found: " + message.List(found, mostNamed)
	if ending == Continue {
		outcome.Done = true
		outcome.Message = "the upgrade continues, although its checks found: " + message.List(found, mostNamed)
	}
	return outcome, nil
}

func upgradeFindings() []check {
	return []check{apiServerWell, controlPlaneReady, staticPodsReady, versionsThere, skewAllowed, noRemovedAPIs}
}

// report has a line for each finding.
func report(found []string) string {
	if len(found) == 0 {
		return ""
	}
	return strings.Join(found, "\n") + "\n"
}
