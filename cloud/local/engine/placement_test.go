// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

func inZone(zone string, state cloud.InstanceState) store.Instance {
	return store.Instance{Instance: cloud.Instance{Zone: zone, State: state}}
}

func TestNextZone(t *testing.T) {
	g := NewWithT(t)
	zones := []string{"a", "b", "c"}
	for _, test := range []struct {
		name      string
		instances []store.Instance
		want      string
	}{
		{"none", nil, "a"},
		{"first is taken", []store.Instance{inZone("a", cloud.InstanceRunning)}, "b"},
		{"stopped ones count", []store.Instance{inZone("a", cloud.InstanceStopped)}, "b"},
		{"leaving ones do not", []store.Instance{inZone("a", cloud.InstanceDeleting)}, "a"},
		{"other zones do not", []store.Instance{inZone("z", cloud.InstanceRunning)}, "a"},
	} {
		g.Expect(nextZone(zones, byZone(test.instances))).To(Equal(test.want), test.name)
	}
}

func TestSpreadIsEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zones := rapid.SliceOfNDistinct(rapid.StringMatching("[a-e]"), 1, 5, rapid.ID).Draw(t, "zones")
		count := rapid.IntRange(0, 40).Draw(t, "count")
		counts := map[string]int{}
		for range count {
			counts[nextZone(zones, counts)]++
		}
		for _, a := range zones {
			for _, b := range zones {
				if counts[a]-counts[b] > 1 {
					t.Fatalf("%d instances are spread as %v", count, counts)
				}
			}
		}
	})
}
