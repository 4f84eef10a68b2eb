// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"time"

	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

// Group is a group of settings that belong together.
type Group struct {
	// Title names the group, and About describes it in a sentence or two.
	Title, About string
	// Settings are in the order in which they should be read.
	Settings []Setting
}

const (
	tenMinutes = 10 * time.Minute
	twoHours   = 2 * time.Hour
	day        = 24 * time.Hour
)

// Groups returns all settings. docs/runtime-extension.md lists them.
func Groups() []Group { return new(Settings).groups() }

// groups returns all settings. Their values are parsed into s.
func (s *Settings) groups() []Group {
	return []Group{{
		Title: "Quota",
		About: "Before the objects of a cluster are created. What its topology asks for must fit into the quota that the tenant of the Foo cloud has left, less whatever previously admitted clusters have yet to create. " +
			"Clusters on other infrastructure are let through.",
		Settings: []Setting{
			toggle("quotaCheck",
				"Holds a new Cluster on Foo's infrastructure back until the cloud's quota has room for the instances, CPUs, memory and load balancer that its topology asks for."),
		},
	}, {
		Title: "Add-ons",
		About: "Once the control plane is initialized, before and after each of its upgrade steps, and when they change. What is applied is in objects of the kind Addon.",
		Settings: []Setting{
			toggle("addons",
				"Applies the Addons that select a Cluster, deletes what they no longer contain, and holds upgrades until they are ready."),
		},
	}, {
		Title:    "Snapshots of etcd",
		About:    "Before each step of the control plane, and before a deletion, by a Job in the workload cluster. A snapshot is stored under the UID of the Cluster and the version, checked against its hash and the members of etcd, and read back.",
		Settings: s.snapshotSettings(),
	}, {
		Title:    "Checks around upgrades",
		About:    "Before an upgrade, before and after each of its steps and at its end. DNS is checked only through its objects: no name is resolved.",
		Settings: s.checkSettings(),
	}, {
		Title:    "Backup of volumes before a deletion",
		About:    "Runs your own Job in a workload cluster before its Cluster is deleted, for example one that lets Velero back up volumes, or that creates VolumeSnapshots. It runs before the clean-up, which deletes volumes, even if another ExtensionConfig asks for the clean-up.",
		Settings: s.volumeBackupSettings(),
	}, {
		Title: "Clean-up before a deletion",
		About: "Deletes load balancers and volumes that the cluster created in a cloud, through its own API server. Pods that use such volumes are deleted too, with the workloads that would recreate them; " +
			"volumes with the reclaim policy Retain are kept. If the API server of a Cluster is gone, its deletion continues after the timeout.",
		Settings: []Setting{
			toggle("cleanUp",
				"Before a Cluster is deleted, deletes its Services of type LoadBalancer and its volumes with the reclaim policy Delete, with the pods that use them, and waits until they are gone."),
			duration("cleanUpTimeout", &s.CleanUpTimeout, tenMinutes, day,
				"How long the deletion of a Cluster waits for cleanUp, from the first call of the hook or, if later, from the end of the final snapshot and of the backup of volumes. What is left over after that is reported."),
		},
	}, {
		Title: "Topologies of the ClusterClass foo-extension",
		About: "The class has the variables and the patches of the class foo, but gets them from the extension.",
		Settings: []Setting{
			list("instanceTypes", &s.InstanceTypes, isInstanceType, "names of instance types of the cloud, each of 1 to 63 characters",
				"Instance types that a topology of the ClusterClass foo-extension may ask for. Without it, any name is allowed."),
		},
	}, {
		Title: "Upgrade plans",
		About: "For a ClusterClass with `spec.upgrade.external.generateUpgradePlanExtension: generate-upgrade-plan.foo`: which versions an upgrade passes through. The control plane is upgraded one minor version at a time.",
		Settings: []Setting{
			list("kubernetesVersions", &s.KubernetesVersions, isVersion, "semantic versions that begin with v, such as v1.35.4,v1.36.3",
				"Kubernetes versions that upgrades may pass through. Without it, those that the cloud has default images of. List them if the machines use another image."),
		},
	}}
}

func (s *Settings) snapshotSettings() []Setting {
	return []Setting{
		toggle("snapshots",
			"Takes an etcd snapshot before each step of an upgrade of the control plane, and holds the step until it is stored."),
		toggle("finalSnapshot",
			"Takes an etcd snapshot before a Cluster is deleted, and holds the deletion until it is stored or finalSnapshotTimeout is over."),
		text("snapshotURL", &s.SnapshotURL, snapshotjob.CheckURL, snapshotURLs(),
			"Where snapshots are stored. A folder must exist on all control plane machines and outlive them, such as an NFS mount. Credentials are never in the URL."),
		text("snapshotCredentials", &s.SnapshotCredentials, isObjectName, "the name of a Secret",
			"Secret in the Cluster's namespace with environment variables such as AWS_ACCESS_KEY_ID for the Job that stores a snapshot, and files, which it finds in /var/run/secrets/foo-snapshot. "+
				"Without it, the Job uses the identity of its machine. Administrators of the Cluster can read them while the Job runs."),
		snapshotsKept(&s.SnapshotsKept),
		duration("snapshotTimeout", &s.SnapshotTimeout, tenMinutes, twoHours,
			"How long one Job may take, until the last byte is read back. If it fails, another one follows."),
		duration("finalSnapshotTimeout", &s.FinalSnapshotTimeout, tenMinutes, day,
			"How long a deletion may be held for its snapshot, from the first call of the hook."),
		choice("snapshotExternalEtcd", &s.SnapshotExternalEtcd, Skip,
			"What happens to an upgrade if the control plane does not run etcd, so that no snapshot can be taken: it is held, or continues without one."),
	}
}

func (s *Settings) volumeBackupSettings() []Setting {
	return []Setting{
		text("volumeBackupJob", &s.VolumeBackupJob, isObjectName, "the name of a ConfigMap",
			"ConfigMap in the Cluster's namespace whose data[\"job.yaml\"] is the Job. The deletion is held until the Job has succeeded. Without this setting, volumes are not backed up."),
		duration("volumeBackupTimeout", &s.VolumeBackupTimeout, time.Hour, day,
			"How long the Job may take, from the first call of the hook or, with finalSnapshot, from the end of the snapshot."),
		choice("volumeBackupOnTimeout", &s.VolumeBackupOnTimeout, Continue,
			"What happens if the Job has not succeeded by then: the deletion is held, or it continues without the clean-up, so that the volumes stay in the cloud."),
	}
}

func (s *Settings) checkSettings() []Setting {
	return []Setting{
		toggle("upgradeChecks",
			"Checks before an upgrade and before each step of its control plane: whether all its versions are available, the kubelets' versions, APIs in use that it removes, and the health of the control plane. A version is available if the cloud has its default image, whatever image the machines use."),
		choice("upgradeChecksOnFailure", &s.UpgradeChecksOnFailure, Continue,
			"What happens to the upgrade if its checks find something."),
		toggle("smokeChecks",
			"Checks after each step of the control plane, and before and after each step of the workers: API server, etcd, nodes, DNS, and disruption budgets that would block a drain."),
		duration("smokeChecksTimeout", &s.SmokeChecksTimeout, tenMinutes, day,
			"How long the smoke checks of a step wait for the cluster to become healthy."),
		choice("smokeChecksOnTimeout", &s.SmokeChecksOnTimeout, Continue,
			"What happens to the upgrade if the smoke checks still find something after that."),
		toggle("conformanceChecks",
			"Checks after an upgrade. Their result is kept in the report of the HookJob. The next upgrade waits for them, at most for conformanceChecksTimeout."),
		duration("conformanceChecksTimeout", &s.ConformanceChecksTimeout, 15*time.Minute, day,
			"How long the checks after an upgrade may take."),
		text("conformanceJob", &s.ConformanceJob, isObjectName, "the name of a ConfigMap",
			"ConfigMap in the Cluster's namespace whose data[\"job.yaml\"] is a Job that is run in the workload cluster after an upgrade. An unfinished Job is deleted when the checks end. A finished one is kept for an hour, conformanceChecksTimeout or its ttlSecondsAfterFinished, whichever is longest."),
	}
}
