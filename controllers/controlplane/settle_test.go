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
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

func TestSettled(t *testing.T) {
	held := func(s *state) { s.Machines[0].Outdated = []difference{{Field: fieldConfig, Text: "release"}} }
	asked := func(s *state) {
		s.Machines[0].Outdated = []difference{{Field: fieldConfig, Text: "config", Asked: true}}
	}
	tests := map[string]struct {
		state  state
		action action
		want   bool
	}{
		"nothing to do": {state: settled("a"), action: actionNone, want: true},
		"held":          {state: with(settled("a", "b", "c"), held), action: actionWait, want: true},
		"refused":       {state: with(settled("a"), asked, func(s *state) { s.MaxSurge = 0 }), action: actionWait, want: true},
		"held, and one is unhealthy": {
			state: with(settled("a", "b", "c"), held, func(s *state) { s.Machines[1].Unhealthy = []string{"broken"} }), action: actionWait,
		},
		"held, and not seen":       {state: with(settled("a"), held, func(s *state) { s.WorkloadProblem = "no answer" }), action: actionWait},
		"held, and one is missing": {state: with(settled("a"), held, desired(3)), action: actionCreate},
		"rolling out":              {state: with(settled("a", "b", "c"), asked), action: actionCreate},
		"waiting":                  {state: with(settled("a"), func(s *state) { s.Etcd.Members[0].Alarms = []string{"NOSPACE"} }), action: actionWait},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			next := plan(test.state)
			g.Expect(next.Action).To(Equal(test.action), next.Message)
			g.Expect(next.settled).To(Equal(test.want), next.Message)
		})
	}
}

func TestAddonsWaitForTheVersion(t *testing.T) {
	g := NewWithT(t)
	seen := newFakeWorkload()
	r := &Reconciler{workload: seen, addons: newAddonsMemory()}
	machine := &clusterv1.Machine{Spec: clusterv1.MachineSpec{Version: "v1.35.4"}}
	s := &scope{
		now: time.Now(), machines: []*clusterv1.Machine{machine}, observation: &workload.Observation{},
		cluster:      &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1"}},
		controlPlane: &controlplanev1.FooControlPlane{Spec: controlplanev1.FooControlPlaneSpec{Version: "v1.36.3"}},
	}
	version := func() string {
		var found string
		seen.change(s.key(), func(cluster *fakeCluster) { found = cluster.addons.Version })
		return found
	}
	refused := decision{Action: actionWait, settled: true}
	g.Expect(r.settle(t.Context(), s, refused)).To(Succeed())
	g.Expect(version()).To(BeEmpty(), "a rollout to another version is refused, and Machines still have the old one")
	machine.Spec.Version = "v1.36.3"
	g.Expect(r.settle(t.Context(), s, decision{Action: actionWait})).To(Succeed())
	g.Expect(version()).To(BeEmpty(), "something else is to be done")
	g.Expect(r.settle(t.Context(), s, refused)).To(Succeed())
	g.Expect(version()).To(Equal("v1.36.3"))
}
