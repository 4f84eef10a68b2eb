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
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

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

func addonsScheme(g *WithT) *runtime.Scheme {
	scheme := runtime.NewScheme()
	g.Expect(controlplanev1.AddToScheme(scheme)).To(Succeed())
	return scheme
}

func TestAddonsAreShown(t *testing.T) {
	g := NewWithT(t)
	controlPlane := &controlplanev1.FooControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1-cp", UID: "u"}}
	controlPlane.Status.Conditions = []metav1.Condition{{Type: controlplanev1.AvailableCondition, Status: metav1.ConditionTrue, Reason: "Available"}}
	writes := 0
	live := fake.NewClientBuilder().WithScheme(addonsScheme(g)).WithObjects(controlPlane).WithStatusSubresource(controlPlane).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
				writes++
				return c.SubResource(name).Patch(ctx, object, patch, options...)
			},
		}).Build()
	seen := newFakeWorkload()
	r := &Reconciler{workload: seen, addons: newAddonsMemory(), client: live, recorder: events.NewFakeRecorder(10)}
	now := time.Now()
	settle := func(failure error) error {
		now = now.Add(addonsInterval)
		s := &scope{
			now: now, observation: &workload.Observation{}, controlPlane: &controlplanev1.FooControlPlane{},
			cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1"}},
		}
		g.Expect(live.Get(t.Context(), client.ObjectKeyFromObject(controlPlane), s.controlPlane)).To(Succeed())
		seen.change(s.key(), func(cluster *fakeCluster) { cluster.addonsErr = failure })
		err := r.settle(t.Context(), s, decision{settled: true})
		g.Expect(live.Get(t.Context(), client.ObjectKeyFromObject(controlPlane), controlPlane)).To(Succeed())
		return err
	}
	shown := func() metav1.Condition {
		g.Expect(conditions.IsTrue(controlPlane, controlplanev1.AvailableCondition)).To(BeTrue(), "the others stay as they are")
		return *conditions.Get(controlPlane, controlplanev1.AddonsUpToDateCondition)
	}
	lost := errors.New("no CoreDNS migration from 1.14.1 to 1.0.0")
	for range 3 {
		g.Expect(settle(lost)).To(MatchError(lost), "it is tried again")
	}
	g.Expect(shown()).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Message", ContainSubstring(lost.Error()))))
	g.Expect(writes).To(Equal(1), "what is no news is not written")
	for range 3 {
		g.Expect(settle(nil)).To(Succeed())
	}
	g.Expect(shown()).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Message", BeEmpty())))
	g.Expect(writes).To(Equal(2))
}

func TestAddonsWaitForTheVersion(t *testing.T) {
	g := NewWithT(t)
	seen := newFakeWorkload()
	r := &Reconciler{workload: seen, addons: newAddonsMemory(), client: fake.NewClientBuilder().WithScheme(addonsScheme(g)).Build()}
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
