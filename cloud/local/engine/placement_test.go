// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

func inZone(zone string, state cloud.InstanceState) store.Instance {
	return store.Instance{Instance: cloud.Instance{Zone: zone, State: state}}
}

func TestLeavingInstancesDoNotCount(t *testing.T) {
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
		g.Expect(rules.EmptiestZone(zones, byZone(test.instances))).To(Equal(test.want), test.name)
	}
}
