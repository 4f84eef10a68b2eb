// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestParseSettings(t *testing.T) {
	g := NewWithT(t)
	g.Expect(ParseSettings(nil)).To(Equal(Settings{
		SnapshotsKept: 5, SnapshotTimeout: 10 * time.Minute, FinalSnapshotTimeout: 10 * time.Minute, SnapshotExternalEtcd: Hold,
		UpgradeChecksOnFailure: Hold, SmokeChecksTimeout: 10 * time.Minute, SmokeChecksOnTimeout: Hold, ConformanceChecksTimeout: 15 * time.Minute,
		VolumeBackupTimeout: time.Hour, VolumeBackupOnTimeout: Hold, CleanUpTimeout: 10 * time.Minute,
	}), "everything is off")
	all := map[string]string{
		"quotaCheck": "Enabled", "addons": "Enabled",
		"snapshots": "Enabled", "finalSnapshot": "Enabled", "snapshotURL": "s3://bucket?region=eu-west-1", "snapshotsKept": "1000", "snapshotCredentials": "bucket",
		"snapshotTimeout": "2h", "finalSnapshotTimeout": "24h", "snapshotExternalEtcd": "Skip",
		"upgradeChecks": "Enabled", "upgradeChecksOnFailure": "Continue", "smokeChecks": "Enabled", "smokeChecksTimeout": "90s", "smokeChecksOnTimeout": "Continue",
		"conformanceChecks": "Enabled", "conformanceChecksTimeout": "1h", "conformanceJob": "sonobuoy.quick",
		"volumeBackupJob": "velero", "volumeBackupTimeout": "2h", "volumeBackupOnTimeout": "Continue",
		"cleanUp": "Enabled", "cleanUpTimeout": "5m", "instanceTypes": "small, large", "kubernetesVersions": "v1.36.3,v1.37.0-rc.1",
	}
	g.Expect(ParseSettings(all)).To(Equal(Settings{
		given: all, SnapshotURL: "s3://bucket?region=eu-west-1", SnapshotCredentials: "bucket", SnapshotsKept: 1000,
		SnapshotTimeout: 2 * time.Hour, FinalSnapshotTimeout: 24 * time.Hour, SnapshotExternalEtcd: Skip,
		UpgradeChecksOnFailure: Continue, SmokeChecksTimeout: 90 * time.Second, SmokeChecksOnTimeout: Continue,
		ConformanceChecksTimeout: time.Hour, ConformanceJob: "sonobuoy.quick",
		VolumeBackupJob: "velero", VolumeBackupTimeout: 2 * time.Hour, VolumeBackupOnTimeout: Continue,
		CleanUpTimeout: 5 * time.Minute, InstanceTypes: []string{"small", "large"}, KubernetesVersions: []string{"v1.36.3", "v1.37.0-rc.1"},
	}))
}

func TestParseSettingsRefuses(t *testing.T) {
	const buckets = "it must be the URL of a bucket with a scheme of file, s3, gs, azblob, such as s3://bucket?region=eu-west-1, gs://bucket, azblob://container or file:///mnt/snapshots"
	const tenMinutesAtMost = "but must be a duration such as 90s or 10m, more than 0 and at most "
	for name, test := range map[string]struct {
		given map[string]string
		want  string
	}{
		"switch":           {map[string]string{"smokeChecks": "true"}, `setting smokeChecks of the ExtensionConfig is "true", but must be Enabled or Disabled`},
		"empty switch":     {map[string]string{"addons": ""}, `setting addons of the ExtensionConfig is "", but must be Enabled or Disabled`},
		"ending":           {map[string]string{"upgradeChecksOnFailure": "Skip"}, `setting upgradeChecksOnFailure of the ExtensionConfig is "Skip", but must be Hold or Continue`},
		"external etcd":    {map[string]string{"snapshotExternalEtcd": "Continue"}, `setting snapshotExternalEtcd of the ExtensionConfig is "Continue", but must be Hold or Skip`},
		"number":           {map[string]string{"snapshotsKept": "0"}, `setting snapshotsKept of the ExtensionConfig is "0", but must be a whole number from 1 to 1000`},
		"many":             {map[string]string{"snapshotsKept": "1001"}, `setting snapshotsKept of the ExtensionConfig is "1001", but must be a whole number from 1 to 1000`},
		"no number":        {map[string]string{"snapshotsKept": "all"}, `setting snapshotsKept of the ExtensionConfig is "all", but must be a whole number from 1 to 1000`},
		"no duration":      {map[string]string{"cleanUpTimeout": "long"}, `setting cleanUpTimeout of the ExtensionConfig is "long", ` + tenMinutesAtMost + "24h0m0s"},
		"negative":         {map[string]string{"smokeChecksTimeout": "-1s"}, `setting smokeChecksTimeout of the ExtensionConfig is "-1s", ` + tenMinutesAtMost + "24h0m0s"},
		"too long":         {map[string]string{"snapshotTimeout": "3h"}, `setting snapshotTimeout of the ExtensionConfig is "3h", ` + tenMinutesAtMost + "2h0m0s"},
		"name":             {map[string]string{"conformanceJob": "Not a name"}, `setting conformanceJob of the ExtensionConfig is "Not a name", but must be the name of a ConfigMap`},
		"instance types":   {map[string]string{"instanceTypes": "small,"}, `setting instanceTypes of the ExtensionConfig is "small,", but must be a comma-separated list of names of instance types of the cloud, each of 1 to 63 characters`},
		"versions":         {map[string]string{"kubernetesVersions": "v1.36.3,1.37.0"}, `setting kubernetesVersions of the ExtensionConfig is "v1.36.3,1.37.0", but must be a comma-separated list of semantic versions that begin with v, such as v1.35.4,v1.36.3`},
		"a bucket missing": {map[string]string{"finalSnapshot": "Enabled"}, `setting snapshotURL of the ExtensionConfig is missing, but snapshots and finalSnapshot need it`},
		"a scheme":         {map[string]string{"snapshotURL": "http://bucket"}, `setting snapshotURL of the ExtensionConfig: its scheme is "http", but must be one of file, s3, gs, azblob; ` + buckets},
		"a password in a URL": {map[string]string{"snapshots": "Enabled", "snapshotURL": "s3://me:secret@bucket"},
			`setting snapshotURL of the ExtensionConfig: it must not contain a user name or password: credentials come from the Secret that snapshotCredentials names; ` + buckets},
		"two": {map[string]string{"smokeChecks": "true", "snapshotsKept": "0"}, `setting snapshotsKept of the ExtensionConfig is "0", but must be a whole number from 1 to 1000; ` +
			`setting smokeChecks of the ExtensionConfig is "true", but must be Enabled or Disabled`},
		"unknown": {map[string]string{"smokecheck": "Enabled", "cleanup": ""}, `the ExtensionConfig has unknown settings: "cleanup", "smokecheck"; known settings are addons, cleanUp, cleanUpTimeout, ` +
			`conformanceChecks, conformanceChecksTimeout, conformanceJob, finalSnapshot, finalSnapshotTimeout, instanceTypes, kubernetesVersions, quotaCheck, smokeChecks, ` +
			`smokeChecksOnTimeout, smokeChecksTimeout, snapshotCredentials, snapshotExternalEtcd, snapshotTimeout, snapshotURL, snapshots, snapshotsKept, upgradeChecks, upgradeChecksOnFailure, ` +
			`volumeBackupJob, volumeBackupOnTimeout, volumeBackupTimeout`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseSettings(test.given)
			NewWithT(t).Expect(err).To(MatchError(test.want))
		})
	}
}
