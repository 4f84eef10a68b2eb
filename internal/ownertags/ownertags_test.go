// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package ownertags

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

var cluster = types.NamespacedName{Namespace: "ns", Name: "one"}

func TestLoadBalancerSelectsControlPlaneOfItsCluster(t *testing.T) {
	g := NewWithT(t)
	owner := Owner{Kind: KindMachine, Key: types.NamespacedName{Namespace: "ns", Name: "m1"}}
	other, selector := types.NamespacedName{Namespace: "ns", Name: "two"}, RoleSelector(cluster, RoleControlPlane)
	g.Expect(owner.InstanceTags(cluster, RoleControlPlane).Contains(selector)).To(BeTrue())
	g.Expect(owner.InstanceTags(cluster, RoleWorker).Contains(selector)).To(BeFalse())
	g.Expect(owner.InstanceTags(other, RoleControlPlane).Contains(selector)).To(BeFalse())
}

func TestAdditionalTags(t *testing.T) {
	g := NewWithT(t)
	owner := Owner{Kind: KindMachine, Key: types.NamespacedName{Namespace: "ns", Name: "m1"}}
	g.Expect(Additional(owner.InstanceTags(cluster, RoleWorker), nil)).To(BeNil())
	ofCluster := map[string]string{"team": "a", "cost": "1"}
	tags := owner.InstanceTags(cluster, RoleWorker, ofCluster, map[string]string{"team": "b", "tier": "2", nameKey: "m2"})
	g.Expect(tags).To(HaveKeyWithValue(nameKey, "m1"), "nobody can take another's instance")
	g.Expect(Additional(tags, ofCluster)).To(Equal(map[string]string{"team": "b", "tier": "2"}))
	g.Expect(Additional(owner.InstanceTags(cluster, RoleWorker, ofCluster), ofCluster)).To(BeNil())
}

func TestMachineOf(t *testing.T) {
	pool := Owner{Kind: KindMachinePool, Key: types.NamespacedName{Namespace: "ns", Name: "workers"}}
	machine := Owner{Kind: KindMachine, Key: types.NamespacedName{Namespace: "ns", Name: "m1"}}
	for name, test := range map[string]struct {
		instance string
		tags     cloud.Tags
		want     string
	}{
		"of a FooMachine":       {"ns.m1", machine.Tags(cluster), "ns/m1"},
		"of a pool":             {"ns.workers-abcde", pool.Tags(cluster), "ns/workers-abcde"},
		"of a pool, not ours":   {"workers-abcde", pool.Tags(cluster), ""},
		"of a FooCluster":       {"ns.one", Owner{Kind: KindCluster, Key: cluster}.Tags(cluster), ""},
		"of nobody":             {"ns.m1", nil, ""},
		"of half an owner":      {"ns.m1", cloud.Tags{kindKey: "FooMachine", namespaceKey: "ns"}, ""},
		"of a name with dots":   {"ns.a.b-abcde", Owner{Kind: KindMachinePool, Key: types.NamespacedName{Namespace: "ns", Name: "a.b"}}.Tags(cluster), "ns/a.b-abcde"},
		"of a pool, empty name": {"ns.", pool.Tags(cluster), ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			key, ok := MachineOf(test.instance, test.tags)
			g.Expect(ok).To(Equal(test.want != ""))
			if ok {
				g.Expect(key.String()).To(Equal(test.want))
			}
		})
	}
}

// An owner can be read back from its tags, and no two owners of a kind share a name in the cloud.
func TestOwnerProperties(t *testing.T) {
	label, subdomain := rapid.StringMatching(`[a-z]([a-z0-9-]{0,8}[a-z0-9])?`), rapid.StringMatching(`[a-z]([a-z0-9.-]{0,8}[a-z0-9])?`)
	key := rapid.Custom(func(t *rapid.T) types.NamespacedName {
		return types.NamespacedName{Namespace: label.Draw(t, "namespace"), Name: subdomain.Draw(t, "name")}
	})
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		a, b := key.Draw(t, "a"), key.Draw(t, "b")
		owner := Owner{Kind: KindMachine, Key: a}
		read, ok := OwnerOf(owner.InstanceTags(cluster, RoleWorker))
		g.Expect(ok).To(BeTrue())
		g.Expect(read).To(Equal(owner))
		other := Owner{Kind: KindMachine, Key: b}
		if a == b {
			g.Expect(owner.CloudName()).To(Equal(other.CloudName()))
		} else {
			g.Expect(owner.CloudName()).NotTo(Equal(other.CloudName()))
		}
	})
}
