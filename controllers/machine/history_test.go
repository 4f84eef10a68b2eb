// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
)

// lossy is a cloud that loses the answers to calls that it has carried out, and may be unavailable
// for reads.
type lossy struct {
	*fake.Cloud

	loses, down bool
}

func (l *lossy) err() error {
	if l.down {
		return &cloud.UnavailableError{Message: "down"}
	}
	return nil
}

func (l *lossy) GetInstance(ctx context.Context, id string) (cloud.Instance, error) {
	if err := l.err(); err != nil {
		return cloud.Instance{}, err
	}
	return l.Cloud.GetInstance(ctx, id)
}

func (l *lossy) ListInstances(ctx context.Context, filter cloud.InstanceFilter) ([]cloud.Instance, error) {
	if err := l.err(); err != nil {
		return nil, err
	}
	return l.Cloud.ListInstances(ctx, filter)
}

func (l *lossy) EnsureInstance(ctx context.Context, spec cloud.InstanceSpec) (cloud.Instance, error) {
	instance, err := l.Cloud.EnsureInstance(ctx, spec)
	if l.loses && err == nil {
		return cloud.Instance{}, &cloud.UnavailableError{Message: "the answer was lost"}
	}
	return instance, err
}

func (l *lossy) DeleteInstance(ctx context.Context, id string) error {
	err := l.Cloud.DeleteInstance(ctx, id)
	if l.loses && err == nil {
		return &cloud.UnavailableError{Message: "the answer was lost"}
	}
	return err
}

// history is a FooMachine and everything around it.
type history struct {
	ctx        context.Context
	cloud      *lossy
	client     client.Client
	reconciler *reconciler
	fooMachine *infrav1.FooMachine
	machine    *clusterv1.Machine
	ordered    string
}

func newHistory(t *rapid.T, ctx context.Context) *history {
	g := NewWithT(t)
	scheme, err := manager.NewScheme()
	g.Expect(err).NotTo(HaveOccurred())
	initial := newState(controlPlane)
	initial.machine.UID = "m1"
	initial.fooMachine.Labels = map[string]string{clusterv1.ClusterNameLabel: "one"}
	initial.fooMachine.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(initial.machine, clusterv1.GroupVersion.WithKind("Machine"))}
	h := &history{ctx: ctx, cloud: &lossy{Cloud: fake.New(fake.Options{Mode: fake.Manual})}, fooMachine: initial.fooMachine, machine: initial.machine}
	h.client = clientfake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&infrav1.FooMachine{}, &clusterv1.Machine{}).WithObjects(
		initial.fooMachine, initial.machine, initial.cluster,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m1-data"}, Data: map[string][]byte{"value": []byte("x")}},
	).Build()
	h.restart()
	return h
}

func (h *history) restart() {
	h.reconciler = &reconciler{
		client: h.client, live: h.client, clouds: cloudidentity.One(h.cloud),
		gate:     gate.Gate{Client: h.client, Finalizer: infrav1.FooMachineFinalizer},
		reporter: report.Reporter{Client: h.client, Live: h.client, Recorder: &events.FakeRecorder{}, Owned: ownedConditions, Kinds: eventKinds},
	}
}

// reconcile ignores errors: a failing cloud is part of the history.
func (h *history) reconcile() {
	_, _ = h.reconciler.Reconcile(h.ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(h.fooMachine)})
}

func (h *history) loseStatus(g Gomega) {
	current := &infrav1.FooMachine{}
	if err := h.client.Get(h.ctx, client.ObjectKeyFromObject(h.fooMachine), current); err != nil {
		return
	}
	current.Status = infrav1.FooMachineStatus{}
	g.Expect(h.client.Status().Update(h.ctx, current)).To(Succeed())
}

func (h *history) isThere() bool {
	return h.client.Get(h.ctx, client.ObjectKeyFromObject(h.fooMachine), &infrav1.FooMachine{}) == nil
}

func (h *history) instances(g Gomega) []cloud.Instance {
	instances, err := h.cloud.Cloud.ListInstances(h.ctx, cloud.InstanceFilter{})
	g.Expect(err).NotTo(HaveOccurred())
	return instances
}

// check verifies what must hold after each step.
func (h *history) check(g Gomega) {
	current := &infrav1.FooMachine{}
	if err := h.client.Get(h.ctx, client.ObjectKeyFromObject(h.fooMachine), current); err == nil && h.ordered == "" {
		h.ordered = current.Spec.ProviderID
	}
	instances := h.instances(g)
	g.Expect(len(instances)).To(BeNumerically("<=", 1), "never two instances for one FooMachine")
	for _, i := range instances {
		// Nobody knows of an instance that was lost before the answer to its order arrived.
		g.Expect(h.ordered).To(BeElementOf("", i.ProviderID), "an instance is never made again")
	}
	if !h.isThere() {
		g.Expect(instances).To(BeEmpty(), "a FooMachine is not gone before its instance")
	}
}

// Whatever happens, a FooMachine has at most one instance, ever. It is gone exactly when it was
// deleted and its instance is gone.
func TestHistoriesOfAFooMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		h := newHistory(t, context.Background())
		steps := map[string]func(){
			"reconcile":          h.reconcile,
			"restart":            h.restart,
			"lose the status":    func() { h.loseStatus(g) },
			"lose answers":       func() { h.cloud.loses = true },
			"lose none":          func() { h.cloud.loses = false },
			"fail":               func() { h.cloud.down = true },
			"recover":            func() { h.cloud.down = false },
			"finish deletions":   h.cloud.FinishDeletions,
			"run":                func() { h.cloud.SetBootstrap("ns.m1", cloud.Bootstrap{State: cloud.BootstrapSucceeded}) },
			"lose the instance":  func() { h.cloud.LoseInstance("ns.m1") },
			"delete":             func() { _ = h.client.Delete(h.ctx, h.fooMachine) },
			"delete the Machine": func() { _ = h.client.Delete(h.ctx, h.machine) },
			"drop the Secret": func() {
				_ = h.client.Delete(h.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m1-data"}})
			},
		}
		names := []string{
			"reconcile", "reconcile", "reconcile", "restart", "lose the status", "lose answers", "lose none", "fail", "recover", "finish deletions", "run", "lose the instance",
			"delete", "delete the Machine", "drop the Secret",
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			steps[rapid.SampledFrom(names).Draw(t, "step")]()
			h.check(g)
		}
		// Once everything is healthy again, the deletion completes.
		h.cloud.loses, h.cloud.down = false, false
		_ = h.client.Delete(h.ctx, h.fooMachine)
		for range 8 {
			h.reconcile()
			h.cloud.FinishDeletions()
			h.check(g)
		}
		g.Expect(h.isThere()).To(BeFalse())
		g.Expect(h.instances(g)).To(BeEmpty())
	})
}
