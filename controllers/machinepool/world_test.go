// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

// world is one pool with its reconciler, a fake API server, a fake cloud and its own clock.
type world struct {
	*WithT

	ctx   context.Context
	cloud *fake.Cloud
	// kube reads and writes directly; calls intercepts the requests of the reconciler.
	kube  client.WithWatch
	calls interceptor.Funcs
	r     *reconciler
	clock *clocktesting.FakePassiveClock
	key   client.ObjectKey
	// result is the result of the last reconcile.
	result ctrl.Result
}

// newWorld returns a world whose pool wants this many instances and has none yet. Its Cluster is
// provisioned.
func newWorld(t *testing.T, replicas int32, strategy infrav1.FooMachinePoolStrategy) *world {
	w := &world{WithT: NewWithT(t), ctx: t.Context(), cloud: fake.New(fake.Options{Mode: fake.Instant})}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme} {
		w.Expect(add(scheme)).To(Succeed())
	}
	cluster := infratest.NewCluster("ns", "one")
	cluster.Status.Initialization.InfrastructureProvisioned = ptr.To(true)
	machinePool := infratest.NewMachinePool(cluster, "workers", replicas)
	pool := infratest.NewFooMachinePool(machinePool)
	pool.UID, pool.Generation, pool.Spec.Strategy = "workers", 1, strategy
	w.key = client.ObjectKeyFromObject(pool)
	objects := []client.Object{cluster, machinePool, pool, infratest.NewSecret("ns", "workers", infratest.UserData)}
	w.kube = fakeclient.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(objects...).
		WithStatusSubresource(&clusterv1.Machine{}, &infrav1.FooMachine{}).
		WithIndex(&infrav1.FooMachine{}, poolIndex, poolKeys).WithIndex(&clusterv1.Machine{}, poolIndex, poolKeys).Build()
	w.clock = clocktesting.NewFakePassiveClock(time.Now())
	w.restart()
	return w
}

// restart starts a new process, which remembers nothing.
func (w *world) restart() {
	intercepted := interceptor.NewClient(w.kube, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if w.calls.Get != nil {
				return w.calls.Get(ctx, c, key, object, options...)
			}
			return c.Get(ctx, key, object, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			object.SetUID(uuid.NewUUID()) // as the API server does
			if w.calls.Create != nil {
				return w.calls.Create(ctx, c, object, options...)
			}
			return c.Create(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if w.calls.Patch != nil {
				return w.calls.Patch(ctx, c, object, patch, options...)
			}
			return c.Patch(ctx, object, patch, options...)
		},
	})
	w.r = &reconciler{
		client: intercepted, live: intercepted, clouds: cloudidentity.One(w.cloud),
		gate:     gate.Gate{Client: intercepted, Finalizer: infrav1.FooMachinePoolFinalizer},
		reporter: report.Reporter{Client: intercepted, Live: intercepted, Recorder: events.NewFakeRecorder(1000), Owned: ownedConditions, Kinds: eventKinds},
		clock:    w.clock, secrets: w.kube, memories: newMemories(),
	}
}

func (w *world) reconcileOnce() error {
	w.clock.SetTime(w.clock.Now().Add(time.Second))
	var err error
	w.result, err = w.r.Reconcile(w.ctx, ctrl.Request{NamespacedName: w.key})
	return err
}

// reconciles reconciles a few times, as often as one change needs to take full effect.
func (w *world) reconciles() {
	for range 6 {
		w.Expect(w.reconcileOnce()).To(Succeed())
	}
}

// settles reconciles until all instances run with available Machines.
func (w *world) settles() {
	for range 6 {
		w.Expect(w.reconcileOnce()).To(Succeed())
		for _, name := range w.cloud.InstanceNames() {
			w.cloud.SetBootstrap(name, cloud.Bootstrap{State: cloud.BootstrapSucceeded})
		}
		w.addMachines()
		for _, machine := range w.machines() {
			w.setNode(machine.Name, metav1.ConditionTrue)
		}
	}
	w.reconciles()
}

// addMachines creates the Machines of FooMachines without one, as Cluster API does.
func (w *world) addMachines() {
	list := &infrav1.FooMachineList{}
	w.Expect(w.kube.List(w.ctx, list)).To(Succeed())
	for _, fooMachine := range list.Items {
		machine := infratest.NewMachine(infratest.NewCluster("ns", "one"), fooMachine.Name)
		machine.Labels, machine.Finalizers = fooMachine.Labels, []string{clusterv1.MachineFinalizer}
		machine.UID = "machine-" + fooMachine.UID
		machine.CreationTimestamp = metav1.NewTime(w.clock.Now())
		w.Expect(client.IgnoreAlreadyExists(w.kube.Create(w.ctx, machine))).To(Succeed())
	}
}

// setNode gives a Machine a Node, and sets whether it is available.
func (w *world) setNode(name string, available metav1.ConditionStatus) {
	machine := w.machine(name)
	machine.Status.NodeRef = clusterv1.MachineNodeReference{Name: name}
	conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineAvailableCondition, Status: available, Reason: "Test"})
	w.Expect(w.kube.Status().Update(w.ctx, machine)).To(Succeed())
}

func (w *world) machines() []clusterv1.Machine {
	list := &clusterv1.MachineList{}
	w.Expect(w.kube.List(w.ctx, list)).To(Succeed())
	return list.Items
}

func (w *world) machine(name string) *clusterv1.Machine {
	machine := &clusterv1.Machine{}
	w.Expect(w.kube.Get(w.ctx, client.ObjectKey{Namespace: "ns", Name: name}, machine)).To(Succeed())
	return machine
}

// deleting returns the names of the Machines that are being deleted.
func (w *world) deleting() []string {
	names := []string{}
	for _, machine := range w.machines() {
		if !machine.DeletionTimestamp.IsZero() {
			names = append(names, machine.Name)
		}
	}
	return names
}

// end plays the controllers of Machine and FooMachine after the Node is drained.
func (w *world) end(name string) {
	fooMachine := &infrav1.FooMachine{}
	w.Expect(w.kube.Get(w.ctx, client.ObjectKey{Namespace: "ns", Name: name}, fooMachine)).To(Succeed())
	w.cloud.LoseInstance("ns." + name)
	fooMachine.Finalizers = nil
	w.Expect(w.kube.Update(w.ctx, fooMachine)).To(Succeed())
	w.Expect(client.IgnoreNotFound(w.kube.Delete(w.ctx, fooMachine))).To(Succeed())
}

func (w *world) get() *infrav1.FooMachinePool {
	pool := &infrav1.FooMachinePool{}
	w.Expect(w.kube.Get(w.ctx, w.key, pool)).To(Succeed())
	return pool
}

func (w *world) change(how func(m *clusterv1.MachinePool)) {
	machinePool := &clusterv1.MachinePool{}
	w.Expect(w.kube.Get(w.ctx, w.key, machinePool)).To(Succeed())
	how(machinePool)
	w.Expect(w.kube.Update(w.ctx, machinePool)).To(Succeed())
}

func (w *world) condition(kind string) metav1.Condition {
	found := conditions.Get(w.get(), kind)
	w.Expect(found).NotTo(BeNil())
	return *found
}

func (w *world) instances() []cloud.Instance {
	all, err := w.cloud.ListInstances(w.ctx, cloud.InstanceFilter{Pool: "ns.workers"})
	w.Expect(err).NotTo(HaveOccurred())
	return all
}
