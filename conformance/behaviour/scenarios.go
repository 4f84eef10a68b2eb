// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import "slices"

// scenarios returns all stories, the longest first.
func scenarios() []scenario {
	return slices.Concat(controlPlaneScenarios(), poolScenarios(), machineScenarios(), clusterScenarios(), bootstrapScenarios(), commonScenarios(), extensionScenarios())
}

// acting is the stage at which a kind has done its work, as acted sees it.
func acting(role Role) Stage { return stages[role][1] }

// commonScenarios are the stories of every kind that is reconciled.
func commonScenarios() []scenario {
	var all []scenario
	for _, role := range []Role{ControlPlane, InfraMachinePool, InfraMachine, InfraCluster, BootstrapConfig} {
		all = append(all,
			scenario{"pause of the Cluster", role, acting(role), []string{"pausing", "paused-condition", "pause-resumes"}, pauseOfCluster},
			scenario{"pause by annotation", role, acting(role), []string{"pausing", "pause-resumes"}, pauseByAnnotation},
			scenario{"pause of a deletion", role, acting(role), []string{"pausing", "pause-resumes"}, pauseOfDeletion},
			scenario{"owner", role, acting(role), []string{"waits-for-owner"}, waitForOwner},
			scenario{"deletion before an owner is set", role, Waiting, []string{"deletion-unowned"}, deletionUnowned},
			scenario{"deletion", role, acting(role), []string{"deletion"}, deletion},
			scenario{"deletion after the Cluster", role, acting(role), []string{"deletion-after-cluster"}, deletionAfterCluster},
			scenario{"lost status", role, acting(role), []string{"lost-status"}, lostStatus},
			scenario{"server-side apply", role, Waiting, []string{"apply-dry-run", "apply-idempotent"}, serverSideApply},
		)
	}
	for _, role := range []Role{InfraMachinePool, InfraMachine, BootstrapConfig} {
		all = append(all, scenario{"dry run of a template", role, Waiting, []string{"ssa-dry-run"}, templateDryRun})
	}
	return all
}
