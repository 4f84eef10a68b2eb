// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/capfoo/cluster-api-provider-foo/extensions/settings"
)

// Ending is what happens to a Cluster if checks find something.
type Ending string

const (
	// Hold keeps the Cluster waiting until the checks find nothing more.
	Hold Ending = "Hold"
	// Continue lets the Cluster continue, and reports what was found.
	Continue Ending = "Continue"
)

const (
	smokeTimeout       = 10 * time.Minute
	conformanceTimeout = 15 * time.Minute
	longestTimeout     = 24 * time.Hour
)

var (
	upgradeChecks          = settings.Switch("upgradeChecks", "Checks before an upgrade: that every version of it can be had, the kubelets' versions, APIs in use that it removes, and the health of the control plane.")
	upgradeChecksOnFailure = settings.Choice("upgradeChecksOnFailure", "What comes of the upgrade when its checks find something.", Hold, Continue)

	smokeChecks          = settings.Switch("smokeChecks", "Checks after each step of the control plane, and before and after each of the workers: API server, etcd, nodes, DNS, and disruption budgets that would block a drain.")
	smokeChecksTimeout   = settings.Duration("smokeChecksTimeout", "How long the smoke checks of a step wait for the cluster to be well.", smokeTimeout, longestTimeout)
	smokeChecksOnTimeout = settings.Choice("smokeChecksOnTimeout", "What comes of the upgrade when the smoke checks still find something then.", Hold, Continue)

	conformanceChecks        = settings.Switch("conformanceChecks", "Checks after an upgrade, whose result is kept in the job's ConfigMap. The next upgrade waits for them, and no longer than conformanceChecksTimeout.")
	conformanceChecksTimeout = settings.Duration("conformanceChecksTimeout", "How long the checks after an upgrade take at most.", conformanceTimeout, longestTimeout)
	conformanceJob           = settings.Text("conformanceJob", "ConfigMap in the Cluster's namespace whose data[\"job.yaml\"] is a Job that is run in the workload cluster after an upgrade. It is deleted with the end of the checks if it has not ended by then, and otherwise after its ttlSecondsAfterFinished, an hour without.",
		"the name of a ConfigMap", func(given string) error {
			if len(validation.IsDNS1123Subdomain(given)) > 0 {
				return errors.New("no such name is possible")
			}
			return nil
		})
)

// Settings returns the settings that the package reads.
func Settings() []settings.Doc {
	return []settings.Doc{
		upgradeChecks.Doc(), upgradeChecksOnFailure.Doc(),
		smokeChecks.Doc(), smokeChecksTimeout.Doc(), smokeChecksOnTimeout.Doc(),
		conformanceChecks.Doc(), conformanceChecksTimeout.Doc(), conformanceJob.Doc(),
	}
}
