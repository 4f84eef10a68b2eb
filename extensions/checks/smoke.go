// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// Smoke is the task of AfterControlPlaneUpgrade, BeforeWorkersUpgrade and AfterWorkersUpgrade. It checks
// whether the cluster still works. It waits until it does, within a time that a setting limits.
func (t Tasks) Smoke(ctx context.Context, job hooks.Job) (hooks.Outcome, error) {
	parts, checks := smokeFindings(job.Hook)
	return smokeOutcome(find(t.observe(ctx, job.Key(), parts...), job, checks), job.Settings, job.Now.Sub(job.Since)), nil
}

// smokeFindings returns the checks for a hook, and the parts that they need.
func smokeFindings(hook string) ([]part, []check) {
	parts := []part{probes(), nodes(), dnsObjects()}
	checks := []check{apiServerWell, nodesReady, dnsServed}
	switch hook {
	case hooks.AfterControlPlaneUpgrade:
		return append(parts, staticPods()), append(checks, controlPlaneUpgraded, staticPodsReady)
	case hooks.BeforeWorkersUpgrade:
		return append(parts, budgets()), append(checks, drainsPossible)
	default:
		return parts, checks
	}
}

func smokeOutcome(found []string, settings hooks.Settings, waited time.Duration) hooks.Outcome {
	if len(found) == 0 {
		return hooks.Outcome{Done: true, Message: "the smoke checks found no problems"}
	}
	named := hooks.Join(found, mostNamed)
	outcome := hooks.Outcome{Report: strings.Join(found, "\n"), RetryAfter: lookAgain}
	switch {
	case waited < settings.SmokeChecksTimeout:
		outcome.Message = "waiting for the cluster to become healthy, because the smoke checks found: " + named
	case settings.SmokeChecksOnTimeout == hooks.Continue:
		outcome.Done = true
		outcome.Message = fmt.Sprintf("the upgrade continues, although after %s the smoke checks still found: %s", settings.SmokeChecksTimeout, named)
	default:
		outcome.Message = fmt.Sprintf("the upgrade is held, because after %s the smoke checks still found: %s", settings.SmokeChecksTimeout, named)
	}
	return outcome
}
