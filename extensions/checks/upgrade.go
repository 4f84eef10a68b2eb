// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"context"
	"strings"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

const (
	// mostNamed is how many findings a message names. The report has them all.
	mostNamed = 10
	// lookAgain is when to look again at a cluster with findings.
	lookAgain = 10 * time.Second
)

// Upgrade is the task of BeforeClusterUpgrade and BeforeControlPlaneUpgrade. It checks whether an upgrade can go
// well.
func (t Tasks) Upgrade(ctx context.Context, job hooks.Job) (hooks.Outcome, error) {
	seen := t.observe(ctx, job.Key(), probes(), nodes(), staticPods(), requestedAPIs(), availableVersions())
	found := find(seen, job, upgradeFindings())
	if len(found) == 0 {
		return hooks.Outcome{Done: true, Message: "the upgrade checks found no problems"}, nil
	}
	outcome := hooks.Outcome{Report: strings.Join(found, "\n"), RetryAfter: lookAgain}
	outcome.Message = "the upgrade is held, because its checks found: " + hooks.Join(found, mostNamed)
	if job.Settings.UpgradeChecksOnFailure == hooks.Continue {
		outcome.Done = true
		outcome.Message = "the upgrade continues, although its checks found: " + hooks.Join(found, mostNamed)
	}
	return outcome, nil
}

func upgradeFindings() []check {
	return []check{apiServerWell, controlPlaneReady, staticPodsReady, versionsThere, skewAllowed, noRemovedAPIs}
}
