// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

func TestPodsAreSteeredAwayFromNodesThatARolloutReplaces(t *testing.T) {
	g := NewWithT(t)
	world := newFakeWorkload()
	r := &Reconciler{workload: world}
	s := &scope{cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1"}}}
	for _, name := range []string{"old", "new", "held"} {
		world.addNode(s.key(), name)
	}
	seen := plan.State{Machines: []plan.Machine{
		{Name: "old", Node: "old", Outdated: []plan.Difference{{Text: "version", Asked: true}}},
		{Name: "new", Node: "new"},
		{Name: "held", Node: "held", Outdated: []plan.Difference{{Text: "as after an update of the manager"}}},
		{Name: "joining"},
	}}
	avoided := func() []string {
		observed, err := world.Observe(t.Context(), workload.Query{Cluster: s.key()})
		g.Expect(err).NotTo(HaveOccurred())
		s.observation = &observed
		var names []string
		for _, node := range observed.Nodes {
			if node.Avoided {
				names = append(names, node.Name)
			}
		}
		return names
	}
	g.Expect(avoided()).To(BeEmpty())
	g.Expect(r.avoidOutdatedNodes(t.Context(), s, seen)).To(Succeed())
	g.Expect(avoided()).To(ConsistOf("old"))

	seen.Machines[0].Outdated = nil
	g.Expect(r.avoidOutdatedNodes(t.Context(), s, seen)).To(Succeed())
	g.Expect(avoided()).To(BeEmpty(), "the spec was changed back")
}
