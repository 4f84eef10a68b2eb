// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/capfoo/cluster-api-provider-foo/cloud/local/store"

// byZone counts the instances per zone. Instances being deleted do not count, so that a replacement
// can go to the same zone.
func byZone(instances []store.Instance) map[string]int {
	counts := map[string]int{}
	for i := range instances {
		if !leaving(&instances[i]) {
			counts[instances[i].Zone]++
		}
	}
	return counts
}
