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

package engine

import "github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/store"

// byZone counts the instances of each zone. Instances on their way out do not count, so that what replaces one can take its place.
func byZone(instances []store.Instance) map[string]int {
	counts := map[string]int{}
	for i := range instances {
		if !leaving(&instances[i]) {
			counts[instances[i].Zone]++
		}
	}
	return counts
}

// nextZone returns the zone of which the fewest are taken, the first in the order given among equals.
func nextZone(zones []string, taken map[string]int) string {
	best := ""
	for _, zone := range zones {
		if best == "" || taken[zone] < taken[best] {
			best = zone
		}
	}
	return best
}
