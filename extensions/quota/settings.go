// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import "github.com/capfoo/cluster-api-provider-foo/extensions/settings"

var quotaCheck = settings.Switch("quotaCheck", "Holds a new Cluster on Foo's infrastructure back until the cloud's quota has room for the instances, CPUs, memory and load balancer that its topology asks for.")

// Settings returns the settings that the package reads.
func Settings() []settings.Doc { return []settings.Doc{quotaCheck.Doc()} }
