// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cleanup

import (
	"time"

	"github.com/capfoo/cluster-api-provider-foo/extensions/settings"
)

const (
	defaultTimeout = 10 * time.Minute
	maxTimeout     = 24 * time.Hour
)

var (
	cleanUp = settings.Switch("cleanUp",
		"Before a Cluster is deleted, deletes its Services of type LoadBalancer and its volumes with the reclaim policy Delete, with the pods that use them, and waits until they are gone.")
	timeout = settings.Duration("cleanUpTimeout",
		"How long the deletion of a Cluster waits for cleanUp, from the first call of the hook or, with finalSnapshot, from a minute after finalSnapshotTimeout. What is left over after that is reported.",
		defaultTimeout, maxTimeout)
)

// Settings returns the settings that this package reads.
func Settings() []settings.Doc { return []settings.Doc{cleanUp.Doc(), timeout.Doc()} }
