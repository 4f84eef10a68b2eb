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
	upgradeChecks          = settings.Switch("upgradeChecks", "Checks before an upgrade: whether all its versions are available, the kubelets' versions, APIs in use that it removes, and the health of the control plane.")
	upgradeChecksOnFailure = settings.Choice("upgradeChecksOnFailure", "What happens to the upgrade if its checks find something.", Hold, Continue)

	smokeChecks          = settings.Switch("smokeChecks", "Checks after each step of the control plane, and before and after each step of the workers: API server, etcd, nodes, DNS, and disruption budgets that would block a drain.")
	smokeChecksTimeout   = settings.Duration("smokeChecksTimeout", "How long the smoke checks of a step wait for the cluster to become healthy.", smokeTimeout, longestTimeout)
	smokeChecksOnTimeout = settings.Choice("smokeChecksOnTimeout", "What happens to the upgrade if the smoke checks still find something after that.", Hold, Continue)

	conformanceChecks        = settings.Switch("conformanceChecks", "Checks after an upgrade. Their result is kept in the job's ConfigMap. The next upgrade waits for them, at most for conformanceChecksTimeout.")
	conformanceChecksTimeout = settings.Duration("conformanceChecksTimeout", "How long the checks after an upgrade may take.", conformanceTimeout, longestTimeout)
	conformanceJob           = settings.Text("conformanceJob", "ConfigMap in the Cluster's namespace whose data[\"job.yaml\"] is a Job that is run in the workload cluster after an upgrade. If it has not finished when the checks end, it is deleted then; otherwise it is deleted after its ttlSecondsAfterFinished, by default an hour.",
		"the name of a ConfigMap", func(given string) error {
			if len(validation.IsDNS1123Subdomain(given)) > 0 {
				return errors.New("not a valid name")
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
