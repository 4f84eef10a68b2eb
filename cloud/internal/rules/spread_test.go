// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

func inZone(zone string, state cloud.InstanceState) cloud.Instance {
	return cloud.Instance{Zone: zone, State: state}
}

func TestSpreadIsEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zones := rapid.SliceOfNDistinct(rapid.StringMatching("[a-e]"), 1, 5, rapid.ID).Draw(t, "zones")
		count := rapid.IntRange(0, 40).Draw(t, "count")
		spread := Spread{}
		for range count {
			instance := inZone(spread.Emptiest(zones), cloud.InstancePending)
			spread.Add(&instance)
		}
		for _, a := range zones {
			for _, b := range zones {
				if spread[a]-spread[b] > 1 || spread[a] < spread[b] && a < b {
					t.Fatalf("%d instances are spread as %v", count, spread)
				}
			}
		}
	})
}

func TestEmptiestZone(t *testing.T) {
	g := NewWithT(t)
	for _, test := range []struct {
		name      string
		instances []cloud.Instance
		want      string
	}{
		{"none", nil, "a"},
		{"first is taken", []cloud.Instance{inZone("a", cloud.InstanceRunning)}, "b"},
		{"stopped ones do not count", []cloud.Instance{inZone("a", cloud.InstanceStopped)}, "a"},
		{"failed ones count", []cloud.Instance{inZone("a", cloud.InstanceFailed)}, "b"},
		{"leaving ones do not", []cloud.Instance{inZone("a", cloud.InstanceDeleting)}, "a"},
		{"other zones do not", []cloud.Instance{inZone("z", cloud.InstanceRunning)}, "a"},
	} {
		spread := Spread{}
		for i := range test.instances {
			spread.Add(&test.instances[i])
		}
		g.Expect(spread.Emptiest([]string{"c", "a", "b"})).To(Equal(test.want), test.name)
	}
}
