// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

func load(t *testing.T, text string) (*Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	NewWithT(t).Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	return Load(path)
}

func TestDefaults(t *testing.T) {
	g := NewWithT(t)
	c, err := Load("")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.CloudZones()).To(Equal([]cloud.Zone{
		{Name: "zone-a", ControlPlane: true}, {Name: "zone-b", ControlPlane: true}, {Name: "zone-c", ControlPlane: true},
	}))
	g.Expect(c.CloudInstanceTypes()[0]).To(Equal(cloud.InstanceType{Name: "small", CPUs: 2, MemoryBytes: 2 << 30}))
	g.Expect(c.Limits()).To(Equal(map[string]cloud.Resources{DefaultTenant: {}}))
}

func TestEverythingSet(t *testing.T) {
	g := NewWithT(t)
	c, err := load(t, `
zones: [{name: north}, {name: south, controlPlane: false}]
instanceTypes: [{name: tiny, cpus: 1, memory: 512Mi, disk: 10Gi}]
tenants: [{name: team, tokenFile: /t, requestsPerSecond: 5, quota: {instances: 1, cpus: 2, memory: 1Gi, loadBalancers: 3}}]
`)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.CloudZones()).To(Equal([]cloud.Zone{{Name: "north", ControlPlane: true}, {Name: "south"}}))
	g.Expect(c.Limits()).To(Equal(map[string]cloud.Resources{"team": {Instances: 1, CPUs: 2, MemoryBytes: 1 << 30, LoadBalancers: 3}}))
}

func TestMistakes(t *testing.T) {
	for name, test := range map[string]struct{ text, word string }{
		"unknown field":    {"zonez: []", `unknown field "zonez"`},
		"nested field":     {"tenants: [{name: a, quota: {cpu: 1}}]", `unknown field "tenants[0].quota.cpu"`},
		"no YAML":          {"zones: [", "yaml"},
		"name":             {"zones: [{name: Zone_A}]", `zones[0].name "Zone_A"`},
		"twice":            {"zones: [{name: a}, {name: a}]", "twice"},
		"cpus":             {"instanceTypes: [{name: a, memory: 1Gi}]", "instanceTypes[a].cpus"},
		"memory":           {"instanceTypes: [{name: a, cpus: 1}]", "instanceTypes[a].memory"},
		"odd memory":       {"instanceTypes: [{name: a, cpus: 1, memory: lots}]", "quantities"},
		"small disk":       {"instanceTypes: [{name: a, cpus: 1, memory: 1Gi, disk: 1Mi}]", "instanceTypes[a].disk"},
		"former field":     {"instanceTypes: [{name: a, cpus: 1, memory: 1Gi, runtime: process}]", `unknown field "instanceTypes[0].runtime"`},
		"negative quota":   {"tenants: [{name: a, quota: {instances: -1}}]", "quota.instances"},
		"tenant's name":    {"tenants: [{tokenFile: /t}]", "tenants[0].name"},
		"negative request": {"tenants: [{name: a, requestsPerSecond: -1}]", "requestsPerSecond"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := load(t, test.text)
			g.Expect(err).To(MatchError(ContainSubstring(test.word)))
		})
	}
	_, err := Load("/does/not/exist")
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("/does/not/exist")))
}
