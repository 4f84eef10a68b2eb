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

package controlplane

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

func TestPodsAreSteeredAwayFromOutdatedNodes(t *testing.T) {
	g := NewWithT(t)
	world := newFakeWorkload()
	r := &Reconciler{workload: world}
	s := &scope{
		cluster:     &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1"}},
		differences: map[string][]plan.Difference{"old": {{Text: "version"}}},
	}
	for _, name := range []string{"old", "new", "joining"} {
		machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if name != "joining" {
			machine.Status.NodeRef.Name = name
			world.addNode(s.key(), name)
		}
		s.machines = append(s.machines, machine)
	}
	avoided := func() map[string]bool {
		seen, err := world.Observe(t.Context(), workload.Query{Cluster: s.key()})
		g.Expect(err).NotTo(HaveOccurred())
		s.observation = &seen
		return map[string]bool{"old": seen.Nodes[0].Avoided, "new": seen.Nodes[1].Avoided}
	}
	g.Expect(avoided()).To(Equal(map[string]bool{"old": false, "new": false}))
	g.Expect(r.steerPods(t.Context(), s)).To(Succeed())
	g.Expect(avoided()).To(Equal(map[string]bool{"old": true, "new": false}))

	s.differences = nil
	g.Expect(r.steerPods(t.Context(), s)).To(Succeed())
	g.Expect(avoided()).To(Equal(map[string]bool{"old": false, "new": false}), "the spec was changed back")
}
