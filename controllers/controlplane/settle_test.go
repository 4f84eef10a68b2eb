// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

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

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

func addonsScheme(g *WithT) *runtime.Scheme {
	scheme := runtime.NewScheme()
	g.Expect(controlplanev1.AddToScheme(scheme)).To(Succeed())
	return scheme
}

// reported begins a report for the scope's FooControlPlane, which is not paused.
func (s *scope) reported(ctx context.Context, g *WithT, c client.Client) {
	conditions.Set(s.controlPlane, metav1.Condition{Type: clusterv1.PausedCondition, Status: metav1.ConditionFalse, Reason: clusterv1.NotPausedReason})
	var err error
	reporter := report.Reporter{Client: c, Live: c, Owned: conditionTypes()}
	s.report, err = reporter.Begin(ctx, s.cluster, s.controlPlane)
	g.Expect(err).NotTo(HaveOccurred())
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
	r := &Reconciler{workload: seen, client: live, recorder: events.NewFakeRecorder(10)}
	now, meanwhile := time.Now(), func() {}
	settle := func(failure error) error {
		now = now.Add(addonsInterval)
		s := &scope{
			now: now, memory: &memory{}, observation: &workload.Observation{}, controlPlane: &controlplanev1.FooControlPlane{},
			cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1"}},
		}
		g.Expect(live.Get(t.Context(), client.ObjectKeyFromObject(controlPlane), s.controlPlane)).To(Succeed())
		s.reported(t.Context(), g, live)
		meanwhile()
		seen.change(s.key(), func(cluster *fakeCluster) { cluster.addonsErr = failure })
		err := r.settle(t.Context(), s, plan.Decision{Stable: true})
		g.Expect(live.Get(t.Context(), client.ObjectKeyFromObject(controlPlane), controlPlane)).To(Succeed())
		return err
	}
	shown := func() metav1.Condition {
		g.Expect(conditions.IsTrue(controlPlane, controlplanev1.AvailableCondition)).To(BeTrue(), "other conditions stay")
		return *conditions.Get(controlPlane, controlplanev1.AddonsUpToDateCondition)
	}
	lost := errors.New("no CoreDNS migration from 1.14.1 to 1.0.0")
	for range 3 {
		g.Expect(settle(lost)).To(MatchError(lost), "it is retried")
	}
	g.Expect(shown()).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Message", ContainSubstring("No CoreDNS migration from 1.14.1 to 1.0.0"))))
	g.Expect(writes).To(Equal(1), "an unchanged condition is not written")
	for range 3 {
		g.Expect(settle(nil)).To(Succeed())
	}
	g.Expect(shown()).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Message", BeEmpty())))
	g.Expect(writes).To(Equal(2))

	meanwhile = func() {
		controlPlane.Status.Conditions = append(controlPlane.Status.Conditions, metav1.Condition{Type: "Backup", Status: metav1.ConditionTrue, Reason: "Done"})
		g.Expect(live.Status().Update(t.Context(), controlPlane)).To(Succeed())
	}
	g.Expect(settle(lost)).To(MatchError(lost))
	g.Expect(shown().Status).To(Equal(metav1.ConditionFalse))
	g.Expect(conditions.IsTrue(controlPlane, "Backup")).To(BeTrue(), "a condition of another controller stays")
}

func TestAddonsWaitForTheVersion(t *testing.T) {
	g := NewWithT(t)
	seen := newFakeWorkload()
	r := &Reconciler{workload: seen, client: fake.NewClientBuilder().WithScheme(addonsScheme(g)).Build()}
	machine := &clusterv1.Machine{Spec: clusterv1.MachineSpec{Version: "v1.35.4"}}
	s := &scope{
		now: time.Now(), memory: &memory{}, machines: []*clusterv1.Machine{machine}, observation: &workload.Observation{},
		cluster:      &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1"}},
		controlPlane: &controlplanev1.FooControlPlane{Spec: controlplanev1.FooControlPlaneSpec{Version: "v1.36.3"}},
	}
	s.reported(t.Context(), g, r.client)
	version := func() string {
		var found string
		seen.change(s.key(), func(cluster *fakeCluster) { found = cluster.addons.Version })
		return found
	}
	refused := plan.Decision{Action: plan.ActionWait, Stable: true}
	g.Expect(r.settle(t.Context(), s, refused)).To(Succeed())
	g.Expect(version()).To(BeEmpty(), "the rollout is refused, so the Machine has the old version")
	machine.Spec.Version = "v1.36.3"
	g.Expect(r.settle(t.Context(), s, plan.Decision{Action: plan.ActionWait})).To(Succeed())
	g.Expect(version()).To(BeEmpty(), "something else is left to do")
	g.Expect(r.settle(t.Context(), s, refused)).To(Succeed())
	g.Expect(version()).To(Equal("v1.36.3"))
}
