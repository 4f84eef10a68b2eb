// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// A new order must name zones that exist. One from before is carried out in the zones that are left.
func TestZonesThatAreLost(t *testing.T) {
	g := NewWithT(t)
	c := Catalog{Zones: []cloud.Zone{{Name: "b"}, {Name: "a"}}, InstanceTypes: []cloud.InstanceType{{Name: "small"}}}
	g.Expect(c.OfferedZones(nil)).To(Equal([]string{"a", "b"}))
	g.Expect(c.OfferedZones([]string{"lost", "b"})).To(Equal([]string{"b"}))
	_, err := c.OfferedZones([]string{"lost", "gone"})
	g.Expect(err).To(MatchError(`zones "lost": unknown zone, allowed: a, b`))

	instance := cloud.InstanceSpec{Name: "i", Hostname: "i", Zones: []string{"a", "lost"}, InstanceTemplate: cloud.InstanceTemplate{Type: "small"}}
	g.Expect(c.Instance(instance)).To(Succeed())
	instance.Zones = []string{"lost"}
	g.Expect(c.Instance(instance)).To(MatchError(ContainSubstring("unknown zone")))

	pool := cloud.PoolSpec{Name: "p", HostnamePrefix: "p", Zones: []string{"a", "lost"}, Template: cloud.InstanceTemplate{Type: "small"}}
	g.Expect(c.Pool(pool, nil)).To(MatchError(`zones "lost": unknown zone, allowed: a, b`))
	g.Expect(c.Pool(pool, []string{"lost"})).To(Succeed(), "it had the zone before")
	pool.Zones = append(pool.Zones, "typo")
	g.Expect(c.Pool(pool, []string{"lost"})).To(MatchError(ContainSubstring(`"typo": unknown zone`)))
}
