/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

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
		"Deletes the Services of the type LoadBalancer and the volumes with the reclaim policy Delete of a Cluster before it is deleted, with the pods that use these, and waits until they are gone.")
	timeout = settings.Duration("cleanUpTimeout",
		"How long the deletion of a Cluster waits at most for cleanUp, from the first call of the hook or, with finalSnapshot, from a minute after finalSnapshotTimeout. What is left over then is reported.",
		defaultTimeout, maxTimeout)
)

// Settings returns the settings that this package reads.
func Settings() []settings.Doc { return []settings.Doc{cleanUp.Doc(), timeout.Doc()} }
