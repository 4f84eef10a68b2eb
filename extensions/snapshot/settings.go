// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"strings"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/extensions/settings"
	"github.com/capfoo/cluster-api-provider-foo/internal/etcdsnapshot"
)

// externalEtcd is what happens to an upgrade if etcd cannot be reached because the control plane
// does not run it.
type externalEtcd string

const (
	// hold makes the upgrade wait: users who turned snapshots on do not expect an upgrade
	// without one.
	hold externalEtcd = "Hold"
	// skip lets the upgrade continue.
	skip externalEtcd = "Skip"
)

var (
	snapshots = settings.Switch("snapshots",
		"Takes an etcd snapshot before each step of an upgrade of the control plane, and holds the step until it is stored.")
	finalSnapshot = settings.Switch("finalSnapshot",
		"Takes an etcd snapshot before a Cluster is deleted, and holds the deletion until it is stored or finalSnapshotTimeout is over.")
	snapshotURL = settings.Text("snapshotURL",
		"Where snapshots are stored. A folder must be on a volume that outlives the manager's Pod and that all replicas share. "+
			"Credentials come from the environment of the manager, never from the URL.",
		"the URL of a bucket with a scheme of "+strings.Join(etcdsnapshot.Schemes(), ", ")+
			", such as file:///var/lib/snapshots, s3://bucket?region=eu-west-1, gs://bucket or azblob://container",
		etcdsnapshot.CheckURL)
	snapshotsKept = settings.Number("snapshotsKept",
		"How many of the newest snapshots of each Cluster are kept.", 5, 1000)
	snapshotTimeout = settings.Duration("snapshotTimeout",
		"How long one attempt may take, from the first request to the last byte that is read back.", 10*time.Minute, 2*time.Hour)
	finalSnapshotTimeout = settings.Duration("finalSnapshotTimeout",
		"How long a deletion may be held for its snapshot, from the first call of the hook.", 10*time.Minute, 24*time.Hour)
	snapshotExternalEtcd = settings.Choice("snapshotExternalEtcd",
		"What happens to an upgrade if the control plane does not run etcd, so that no snapshot can be taken: it is held, or continues without one.",
		hold, skip)
)

// Settings returns the settings that the tasks read.
func Settings() []settings.Doc {
	return []settings.Doc{
		snapshots.Doc(), finalSnapshot.Doc(), snapshotURL.Doc(), snapshotsKept.Doc(), snapshotTimeout.Doc(),
		finalSnapshotTimeout.Doc(), snapshotExternalEtcd.Doc(),
	}
}

// terms are the settings that both tasks read.
type terms struct {
	url     string
	keep    int
	timeout time.Duration
	final   time.Duration
	etcd    externalEtcd
}

// readTerms reads the settings of the task that the switch enables. It reports whether the switch
// is on.
func readTerms(given map[string]string, enabled settings.Key[bool]) (terms, bool, error) {
	on, err := enabled.Get(given)
	if err != nil || !on {
		return terms{}, false, err
	}
	result := terms{}
	for _, read := range []func() error{
		func() (err error) { result.url, err = readURL(given, enabled); return err },
		func() (err error) { result.keep, err = snapshotsKept.Get(given); return err },
		func() (err error) { result.timeout, err = snapshotTimeout.Get(given); return err },
		func() (err error) { result.final, err = finalSnapshotTimeout.Get(given); return err },
		func() (err error) { result.etcd, err = snapshotExternalEtcd.Get(given); return err },
	} {
		if err := read(); err != nil {
			return terms{}, false, err
		}
	}
	return result, true, nil
}

// readURL returns the URL of the bucket. Its errors do not quote the URL, because somebody may have
// put a password into it.
func readURL(given map[string]string, enabled settings.Key[bool]) (string, error) {
	name, allowed := snapshotURL.Doc().Name, snapshotURL.Doc().Allowed
	if given[name] == "" {
		return "", fmt.Errorf("setting %s of the ExtensionConfig is missing, but %s needs it; want %s", name, enabled.Doc().Name, allowed)
	}
	if err := etcdsnapshot.CheckURL(given[name]); err != nil {
		return "", fmt.Errorf("setting %s of the ExtensionConfig: %w; want %s", name, err, allowed)
	}
	return snapshotURL.Get(given)
}
