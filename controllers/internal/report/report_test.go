// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"errors"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

func TestIgnoreGone(t *testing.T) {
	now := metav1.Now()
	there := &corev1.Secret{}
	held := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now, Finalizers: []string{"held"}}}
	free := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}}
	notFound := apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "one")
	other := errors.New("refused")
	joined := func(list ...error) error { return kerrors.NewAggregate(list) }
	for name, test := range map[string]struct {
		err    error
		object client.Object
		kept   bool
	}{
		"nothing failed":               {nil, free, false},
		"gone as it should be":         {notFound, free, false},
		"gone, in several requests":    {joined(notFound, fmt.Errorf("status: %w", notFound)), free, false},
		"gone and something else":      {joined(notFound, other), free, true},
		"something else":               {other, free, true},
		"gone though it was held":      {notFound, held, true},
		"gone though it was not to be": {joined(notFound), there, true},
		"nothing failed, and it stays": {nil, there, false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(IgnoreGone(test.err, test.object) != nil).To(Equal(test.kept))
		})
	}
}

// world has one FooMachine, and records the requests that are made for it.
type world struct {
	Gomega

	client   client.Client
	requests []string
	reporter *Reporter
}

func newWorld(t *testing.T) *world {
	w := &world{Gomega: NewWithT(t)}
	scheme := runtime.NewScheme()
	w.Expect(infrav1.AddToScheme(scheme)).To(Succeed())
	machine := &infrav1.FooMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one", Generation: 1}}
	w.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(machine).WithStatusSubresource(machine).Build()
	counted := interceptor.NewClient(w.client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			w.requests = append(w.requests, "get")
			return answered(object, func(answer client.Object) error { return c.Get(ctx, key, answer, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			w.requests = append(w.requests, "patch")
			return answered(object, func(answer client.Object) error { return c.Patch(ctx, answer, patch, options...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, resource string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			w.requests = append(w.requests, "patch "+resource)
			return answered(object, func(answer client.Object) error { return c.SubResource(resource).Patch(ctx, answer, patch, options...) })
		},
	})
	w.reporter = &Reporter{Client: counted, Live: counted, Recorder: events.NewFakeRecorder(10), Owned: []string{infrav1.FooMachineReadyCondition}}
	return w
}

// answered decodes an answer into the object as the client of a real API server does, which keeps
// what the answer leaves out. The fake client empties the object before.
func answered(object client.Object, ask func(client.Object) error) error {
	answer := object.DeepCopyObject().(client.Object)
	if err := ask(answer); err != nil {
		return err
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, object)
}

func (w *world) machine(ctx context.Context) *infrav1.FooMachine {
	machine := &infrav1.FooMachine{}
	w.Expect(w.client.Get(ctx, client.ObjectKey{Namespace: "default", Name: "one"}, machine)).To(Succeed())
	return machine
}

// begin returns a report on the FooMachine, which is known not to be paused.
func (w *world) begin(ctx context.Context) (*infrav1.FooMachine, *Report) {
	_, err := w.reporter.Begin(ctx, nil, w.machine(ctx))
	w.Expect(err).NotTo(HaveOccurred())
	machine := w.machine(ctx)
	report, err := w.reporter.Begin(ctx, nil, machine)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(report).NotTo(BeNil())
	w.requests = nil
	return machine, report
}

var (
	notReady = metav1.Condition{Type: infrav1.FooMachineReadyCondition, Status: metav1.ConditionFalse, Reason: "Starting", Message: "starting"}
	foreign  = metav1.Condition{Type: "Backup", Status: metav1.ConditionTrue, Reason: "Done"}
)

func TestWriteSendsTheStatusInOneRequest(t *testing.T) {
	w := newWorld(t)
	machine, report := w.begin(t.Context())
	conditions.Set(machine, notReady)
	machine.Status.InstanceState = "starting"
	w.Expect(report.Write(t.Context())).To(Succeed())
	w.Expect(w.requests).To(Equal([]string{"patch status"}))
	now := w.machine(t.Context())
	w.Expect(conditions.IsFalse(now, infrav1.FooMachineReadyCondition)).To(BeTrue())
	w.Expect(now.Status.InstanceState).To(BeEquivalentTo("starting"))
	w.Expect(conditions.Has(now, clusterv1.PausedCondition)).To(BeTrue())
}

func TestWriteSendsNothingOfNothing(t *testing.T) {
	w := newWorld(t)
	_, report := w.begin(t.Context())
	w.Expect(report.Write(t.Context())).To(Succeed())
	w.Expect(w.requests).To(BeEmpty())
}

func TestWriteSendsTheSpecFirst(t *testing.T) {
	w := newWorld(t)
	machine, report := w.begin(t.Context())
	machine.Spec.ProviderID = "foo://zone/one"
	conditions.Set(machine, notReady)
	w.Expect(report.Write(t.Context())).To(Succeed())
	w.Expect(w.requests).To(Equal([]string{"patch", "patch status"}))
	now := w.machine(t.Context())
	w.Expect(now.Spec.ProviderID).To(Equal("foo://zone/one"))
	w.Expect(conditions.IsFalse(now, infrav1.FooMachineReadyCondition)).To(BeTrue())
}

func TestWriteKeepsWhatOthersWroteMeanwhile(t *testing.T) {
	w := newWorld(t)
	machine, report := w.begin(t.Context())
	other := w.machine(t.Context())
	conditions.Set(other, foreign)
	conditions.Set(other, metav1.Condition{Type: infrav1.FooMachineReadyCondition, Status: metav1.ConditionTrue, Reason: "Ready"})
	other.Status.FailureDomain = "zone-b"
	w.Expect(w.client.Status().Update(t.Context(), other)).To(Succeed())

	conditions.Set(machine, notReady)
	machine.Status.InstanceState = "starting"
	w.Expect(report.Write(t.Context())).To(Succeed())
	w.Expect(w.requests).To(Equal([]string{"patch status", "get", "patch status"}))
	now := w.machine(t.Context())
	w.Expect(conditions.IsTrue(now, foreign.Type)).To(BeTrue(), "what another one reports")
	w.Expect(conditions.IsFalse(now, infrav1.FooMachineReadyCondition)).To(BeTrue(), "what only this controller reports")
	w.Expect(now.Status.FailureDomain).To(Equal("zone-b"), "what was not changed here")
	w.Expect(now.Status.InstanceState).To(BeEquivalentTo("starting"))
}

func TestWriteAfterChange(t *testing.T) {
	w := newWorld(t)
	machine, report := w.begin(t.Context())
	w.Expect(report.Change(t.Context(), func(object Object) { object.SetLabels(map[string]string{"changed": "yes"}) })).To(Succeed())
	conditions.Set(machine, notReady)
	w.Expect(report.Write(t.Context())).To(Succeed())
	w.Expect(w.requests).To(Equal([]string{"patch", "patch status"}), "no conflict with one's own change")
	w.Expect(w.machine(t.Context()).Labels).To(HaveKey("changed"))
}

func TestWriteChangesNoConditionOfOthers(t *testing.T) {
	w := newWorld(t)
	machine, report := w.begin(t.Context())
	other := w.machine(t.Context())
	other.Status.Conditions = append([]metav1.Condition{foreign}, other.Status.Conditions...)
	w.Expect(w.client.Status().Update(t.Context(), other)).To(Succeed())

	machine.Spec.ProviderID = "foo://zone/one"
	conditions.Set(machine, notReady)
	w.Expect(report.Write(t.Context())).To(Succeed())
	w.Expect(conditions.Get(w.machine(t.Context()), foreign.Type)).To(HaveField("ObservedGeneration", BeZero()))
}

// The cache may not have what was last written. A condition that is now as it was before must be written.
func TestACacheThatIsLate(t *testing.T) {
	w := newWorld(t)
	machine, report := w.begin(t.Context())
	conditions.Set(machine, notReady)
	w.Expect(report.Write(t.Context())).To(Succeed())
	late := w.machine(t.Context())

	machine, report = w.begin(t.Context())
	conditions.Set(machine, metav1.Condition{Type: infrav1.FooMachineReadyCondition, Status: metav1.ConditionTrue, Reason: "Ready"})
	w.Expect(report.Write(t.Context())).To(Succeed())

	w.requests = nil
	report, err := w.reporter.Begin(t.Context(), nil, late)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.requests).To(Equal([]string{"get"}))
	conditions.Set(late, notReady)
	w.Expect(report.Write(t.Context())).To(Succeed())
	w.Expect(conditions.IsFalse(w.machine(t.Context()), infrav1.FooMachineReadyCondition)).To(BeTrue())

	late = w.machine(t.Context())
	_, report = w.begin(t.Context())
	w.Expect(report.Change(t.Context(), func(object Object) { object.SetLabels(map[string]string{"changed": "yes"}) })).To(Succeed())
	changed := w.machine(t.Context())
	w.requests = nil
	_, err = w.reporter.Begin(t.Context(), nil, late)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(late.Labels).To(HaveKey("changed"))
	_, report = w.begin(t.Context())
	w.Expect(report.Change(t.Context(), func(object Object) { object.SetLabels(nil) })).To(Succeed())
	_, err = w.reporter.Begin(t.Context(), nil, changed)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(changed.Labels).To(BeEmpty(), "what was removed")
	w.requests = nil
	_, err = w.reporter.Begin(t.Context(), nil, w.machine(t.Context()))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.requests).To(BeEmpty(), "the cache has caught up")
}

// What the caller knows of the object from its cache does not hold for one that is deleted or replaced.
func TestACacheThatIsLateForADeletion(t *testing.T) {
	for name, recreate := range map[string]bool{"deleted": false, "replaced": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			late := w.machine(t.Context())
			late.Finalizers = []string{infrav1.FooMachineFinalizer}
			w.Expect(w.client.Update(t.Context(), late)).To(Succeed())
			machine, report := w.begin(t.Context())
			conditions.Set(machine, notReady)
			w.Expect(report.Write(t.Context())).To(Succeed())
			w.Expect(w.client.Delete(t.Context(), w.machine(t.Context()))).To(Succeed())
			if recreate {
				gone := w.machine(t.Context())
				gone.Finalizers = nil
				w.Expect(w.client.Update(t.Context(), gone)).To(Succeed())
				again := &infrav1.FooMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one", UID: "another"}}
				w.Expect(w.client.Create(t.Context(), again)).To(Succeed())
			}
			w.requests = nil
			report, err := w.reporter.Begin(t.Context(), nil, late)
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(report).To(BeNil())
			w.Expect(w.requests).To(Equal([]string{"get"}), "nothing is written")
		})
	}
}

func TestWriteAgain(t *testing.T) {
	w := newWorld(t)
	machine, report := w.begin(t.Context())
	other := w.machine(t.Context())
	conditions.Set(other, foreign)
	w.Expect(w.client.Status().Update(t.Context(), other)).To(Succeed())
	conditions.Set(machine, notReady)
	w.Expect(report.Write(t.Context())).To(Succeed())
	w.requests = nil

	w.Expect(report.Write(t.Context())).To(Succeed())
	w.Expect(w.requests).To(BeEmpty(), "nothing has changed since")
	conditions.Set(machine, metav1.Condition{Type: infrav1.FooMachineReadyCondition, Status: metav1.ConditionTrue, Reason: "Ready"})
	w.Expect(report.Write(t.Context())).To(Succeed())
	w.Expect(w.requests).To(Equal([]string{"patch status"}))
	now := w.machine(t.Context())
	w.Expect(conditions.IsTrue(now, infrav1.FooMachineReadyCondition)).To(BeTrue())
	w.Expect(conditions.IsTrue(now, foreign.Type)).To(BeTrue(), "what another one reports")
}
