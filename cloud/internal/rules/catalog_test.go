// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// A new order must name zones that exist. One from before is carried out in the zones that are left.
func TestZonesThatAreLost(t *testing.T) {
	g := NewWithT(t)
	c := Catalog{Zones: []cloud.Zone{{Name: "b"}, {Name: "a"}}, InstanceTypes: []cloud.InstanceType{{Name: "small"}}, Images: []cloud.Image{{}}}
	g.Expect(c.OfferedZones(nil)).To(Equal([]string{"a", "b"}))
	g.Expect(c.OfferedZones([]string{"lost", "b"})).To(Equal([]string{"b"}))
	_, err := c.OfferedZones([]string{"lost", "gone"})
	g.Expect(err).To(MatchError(`zones "lost": unknown zone, allowed: a, b`))

	instance := cloud.InstanceSpec{Name: "i", Hostname: "i", Zones: []string{"a", "lost"}, InstanceTemplate: cloud.InstanceTemplate{Type: "small"}}
	g.Expect(c.Instance(instance)).To(Succeed())
	instance.Zones = []string{"lost"}
	g.Expect(c.Instance(instance)).To(MatchError(ContainSubstring("unknown zone")))

	pool := cloud.PoolSpec{Name: "p", HostnamePrefix: "p", Zones: []string{"a", "lost"}, Template: cloud.InstanceTemplate{Type: "small"}}
	g.Expect(c.Pool(pool, cloud.PoolSpec{})).To(MatchError(`zones "lost": unknown zone, allowed: a, b`))
	g.Expect(c.Pool(pool, cloud.PoolSpec{Zones: []string{"lost"}})).To(Succeed(), "it had the zone before")
	pool.Zones = append(pool.Zones, "typo")
	g.Expect(c.Pool(pool, cloud.PoolSpec{Zones: []string{"lost"}})).To(MatchError(ContainSubstring(`"typo": unknown zone`)))
}

// A new order must name an image that exists. A pool may keep the image that it had before.
func TestImagesThatAreLost(t *testing.T) {
	g := NewWithT(t)
	c := Catalog{Images: []cloud.Image{{KubernetesVersion: "v1.36.3"}, {Name: "gpu", KubernetesVersion: "v1.36.3"}}}
	pool := func(revision, version, image string) cloud.PoolSpec {
		return cloud.PoolSpec{Revision: revision, Template: cloud.InstanceTemplate{KubernetesVersion: version, Image: image}}
	}
	lost := pool("1", "v1.35.4", "gpu")
	g.Expect(c.poolImage(pool("2", "v1.36.3", "gpu"), lost)).To(Succeed())
	g.Expect(c.poolImage(lost, lost)).To(Succeed(), "it had the image before")
	for name, test := range map[string]struct{ spec, before cloud.PoolSpec }{
		"a new pool":                          {spec: lost},
		"a new pool without a version":        {},
		"another revision":                    {pool("2", "v1.35.4", "gpu"), lost},
		"the default image":                   {pool("1", "v1.35.4", ""), lost},
		"another version":                     {pool("1", "v1.34.2", "gpu"), lost},
		"the image's name of another version": {pool("1", "v1.36.3", "tpu"), pool("1", "v1.35.4", "tpu")},
	} {
		g.Expect(c.poolImage(test.spec, test.before)).To(MatchError(cloud.IsInvalid, "an InvalidError"), name)
	}
}

// A pool's tags are copied to each of its instances, in one transaction of the local cloud.
func TestSizesOfTagsAndRevisions(t *testing.T) {
	c := Catalog{InstanceTypes: []cloud.InstanceType{{Name: "small"}}, Zones: []cloud.Zone{{Name: "a"}}, Images: []cloud.Image{{}}}
	// The API allows 50 tags for a cluster and 50 for a machine, of 128 and 256 characters, which have
	// up to four bytes. There are five tags of Foo's own.
	most := cloud.Tags{}
	for i := range 105 {
		most[fmt.Sprintf("%03d", i)+strings.Repeat("\U0001f600", 128)[3:]] = strings.Repeat("\U0001f600", 256)
	}
	many := cloud.Tags{}
	for i := range 129 {
		many[fmt.Sprint(i)] = ""
	}
	for _, test := range []struct {
		name, problem string
		tags          cloud.Tags
	}{
		{"the largest that the API allows", "", most},
		{"too many", ` "129 tags": must be at most 128 tags`, many},
		{"a long key", ` "513 bytes in a key": must be at most 512 bytes in a key`, cloud.Tags{strings.Repeat("k", 513): "v"}},
		{"a long value", `.team "1025 bytes": must be at most 1024 bytes`, cloud.Tags{"team": strings.Repeat("v", 1025)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			template := cloud.InstanceTemplate{Type: "small"}
			tagged := cloud.InstanceTemplate{Type: "small", Tags: test.tags}
			for field, err := range map[string]error{
				"tags":                    c.Instance(cloud.InstanceSpec{Name: "i", Hostname: "i", InstanceTemplate: tagged}),
				"spread":                  c.Instance(cloud.InstanceSpec{Name: "i", Hostname: "i", Spread: test.tags, InstanceTemplate: template}),
				"template.tags":           c.Pool(cloud.PoolSpec{Name: "p", HostnamePrefix: "p", Template: tagged}, cloud.PoolSpec{}),
				"tags of a pool":          c.Pool(cloud.PoolSpec{Name: "p", HostnamePrefix: "p", Tags: test.tags, Template: template}, cloud.PoolSpec{}),
				"tags of a load balancer": LoadBalancer(cloud.LoadBalancerSpec{Name: "l", Port: 1, Tags: test.tags, Selector: cloud.Tags{"k": "v"}}),
				"selector":                LoadBalancer(cloud.LoadBalancerSpec{Name: "l", Port: 1, Selector: test.tags}),
			} {
				g := NewWithT(t)
				if test.problem == "" {
					g.Expect(err).NotTo(HaveOccurred(), field)
					continue
				}
				name, _, _ := strings.Cut(field, " of ")
				g.Expect(err).To(MatchError(name+test.problem), field)
				g.Expect(cloud.IsInvalid(err)).To(BeTrue(), field)
			}
		})
	}
	g := NewWithT(t)
	pool := cloud.PoolSpec{Name: "p", HostnamePrefix: "p", Revision: strings.Repeat("r", 63), Template: cloud.InstanceTemplate{Type: "small"}}
	g.Expect(c.Pool(pool, cloud.PoolSpec{})).To(Succeed())
	pool.Revision += "r"
	g.Expect(c.Pool(pool, cloud.PoolSpec{})).To(MatchError(`revision "64 bytes": must be at most 63 bytes`))
}
