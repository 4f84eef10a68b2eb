// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import "slices"

// scenarios returns all stories, the longest first.
func scenarios() []scenario {
	return slices.Concat(controlPlaneScenarios(), poolScenarios(), machineScenarios(), clusterScenarios(), bootstrapScenarios(), changeScenarios(), commonScenarios(), extensionScenarios(), requestScenarios())
}

// acting is the stage at which a kind has done its work, as acted sees it.
func acting(role Role) Stage { return stages[role][1] }

// commonScenarios are the stories of several kinds.
func commonScenarios() []scenario {
	return slices.Concat(
		reconciledScenarios(ControlPlane), reconciledScenarios(InfraMachinePool), reconciledScenarios(InfraMachine),
		reconciledScenarios(InfraCluster), reconciledScenarios(BootstrapConfig),
		templateScenarios(InfraMachinePool), templateScenarios(InfraMachine), templateScenarios(BootstrapConfig),
	)
}

// reconciledScenarios are the stories of every kind that is reconciled.
func reconciledScenarios(role Role) []scenario {
	return []scenario{
		{"pause of the Cluster", role, acting(role), []string{"pausing", "paused-condition", "pause-resumes"}, pauseOfCluster},
		{"pause by annotation", role, acting(role), []string{"pausing", "pause-resumes"}, pauseByAnnotation},
		{"pause of a deletion", role, acting(role), []string{"pausing", "pause-resumes"}, pauseOfDeletion},
		{"owner", role, acting(role), []string{"waits-for-owner"}, waitForOwner},
		{"deletion before an owner is set", role, Waiting, []string{"deletion-unowned"}, deletionUnowned},
		{"deletion", role, acting(role), []string{"deletion"}, deletion},
		{"deletion after the Cluster", role, acting(role), []string{"deletion-after-cluster"}, deletionAfterCluster},
		{"lost status", role, acting(role), []string{"lost-status"}, lostStatus},
		{"server-side apply", role, Waiting, []string{"apply-dry-run", "apply-idempotent"}, serverSideApply},
	}
}

// templateScenarios are the stories of every kind that has a template.
func templateScenarios(role Role) []scenario {
	return []scenario{{"dry run of a template", role, Waiting, []string{"ssa-dry-run"}, templateDryRun}}
}
