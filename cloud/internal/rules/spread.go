// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import "github.com/capfoo/cluster-api-provider-foo/cloud"

// Spread counts instances by zone, to place the next one.
type Spread map[string]int

// Add counts an instance. One that is being deleted or has stopped does not count, so that its
// replacement can go to the same zone. One that failed counts: its zone may be why.
func (s Spread) Add(instance *cloud.Instance) {
	if instance.State != cloud.InstanceDeleting && instance.State != cloud.InstanceStopped {
		s[instance.Zone]++
	}
}

// Emptiest returns the zone with the fewest instances. Of several such zones, it is the one whose
// name sorts first.
func (s Spread) Emptiest(zones []string) string {
	best := ""
	for _, zone := range zones {
		if best == "" || s[zone] < s[best] || s[zone] == s[best] && zone < best {
			best = zone
		}
	}
	return best
}
