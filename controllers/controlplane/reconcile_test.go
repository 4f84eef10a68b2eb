// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/lru"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/source"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/contract"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/certs"
	"github.com/capfoo/cluster-api-provider-foo/internal/kubeconfig"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

const infrastructureGroup = "infrastructure.cluster.x-k8s.io"

// management is a management cluster with one FooControlPlane. The test plays everybody else. Its
// cache is stale only if the test says so.
type management struct {
	*GomegaWithT
	ctx          context.Context
	client       client.Client
	reconciler   *Reconciler
	workload     *fakeWorkload
	clock        *clocktesting.FakeClock
	events       *events.FakeRecorder
	controlPlane *controlplanev1.FooControlPlane
	cluster      *clusterv1.Cluster
	// requests to the API server: writes, and reads past the cache.
	requests []string
	// refuse returns the error for a creation, and whether the object is created nevertheless.
	refuse func(client.Object) (created bool, answer error)
	// applyError is the error of each server-side apply; nil if it succeeds.
	applyError error
	// cached are the Machines that a stale cache shows; nil if the cache is up to date.
	cached *clusterv1.MachineList
}

// noWatches is a controller without watches.
type noWatches struct{ controller.Controller }

func (noWatches) Watch(source.Source) error { return nil }

func newManagement(t *testing.T, replicas int32) *management {
	t.Helper()
	m := &management{
		GomegaWithT: NewWithT(t), ctx: t.Context(), workload: newFakeWorkload(), events: events.NewFakeRecorder(1000),
		clock: clocktesting.NewFakeClock(time.Date(2026, time.March, 9, 9, 0, 0, 0, time.UTC)),
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, apiextensionsv1.AddToScheme, clusterv1.AddToScheme, bootstrapv1.AddToScheme, controlplanev1.AddToScheme,
	} {
		m.Expect(add(scheme)).To(Succeed())
	}
	m.cluster = &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1", UID: "cluster"}}
	m.cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: "10.9.8.7", Port: 6443}
	m.cluster.Status.Initialization.InfrastructureProvisioned = ptr.To(true)
	m.controlPlane = &controlplanev1.FooControlPlane{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "c1-cp", UID: "u", Generation: 1, Finalizers: []string{controlplanev1.FooControlPlaneFinalizer},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c1", UID: "cluster"}},
	}}
	m.controlPlane.Spec.Replicas = ptr.To(replicas)
	m.controlPlane.Spec.Version = testVersion
	m.controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.EncryptionAlgorithm = bootstrapv1.EncryptionAlgorithmECDSAP256
	m.controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef = referenceTo(infrastructureGroup, "FooMachineTemplate", "c1-template")
	template := infrastructure("FooMachineTemplate", "c1-template")
	m.Expect(unstructured.SetNestedMap(template.Object, map[string]any{}, "spec", "template", "spec")).To(Succeed())
	live := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().
		WithObjects(m.cluster, m.controlPlane, template, definition("FooMachineTemplate"), definition("FooMachine")).
		WithStatusSubresource(&clusterv1.Cluster{}, &clusterv1.Machine{}, &controlplanev1.FooControlPlane{}).Build()
	m.client = live
	counted := interceptor.NewClient(live, m.cacheAndCountWrites())
	past := interceptor.NewClient(live, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			m.note("get", object)
			return c.Get(ctx, key, object, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			m.requests = append(m.requests, fmt.Sprintf("list %T", list))
			return c.List(ctx, list, options...)
		},
	})
	log := ctrl.Log
	m.reconciler = &Reconciler{
		client: counted, apiReader: past, certificates: certs.NewStore(counted, counted), kubeconfigs: kubeconfig.NewStore(counted, counted),
		gate:     gate.Gate{Client: counted, Finalizer: controlplanev1.FooControlPlaneFinalizer},
		reporter: report.Reporter{Client: counted, Live: counted, Owned: conditionTypes()},
		workload: m.workload, infraReader: counted, metrics: newMetrics(),
		applied: lru.New(100), memories: newMemories(),
		recorder: m.events, clock: m.clock, controller: noWatches{},
		tracker: external.ObjectTracker{Controller: noWatches{}, Cache: &informertest.FakeInformers{Scheme: scheme}, Scheme: scheme, PredicateLogger: &log},
	}
	return m
}

func (m *management) note(what string, object client.Object) {
	m.requests = append(m.requests, fmt.Sprintf("%s %T %s", what, object, object.GetName()))
}

func (m *management) cacheAndCountWrites() interceptor.Funcs {
	return interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if machines, ok := list.(*clusterv1.MachineList); ok && m.cached != nil {
				m.cached.DeepCopyInto(machines)
				return nil
			}
			return c.List(ctx, list, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			m.note("create", object)
			object.SetCreationTimestamp(metav1.NewTime(m.clock.Now()))
			object.SetUID(types.UID(fmt.Sprintf("%T %s", object, object.GetName())))
			if m.refuse == nil {
				return c.Create(ctx, object, options...)
			}
			created, answer := m.refuse(object)
			if created || answer == nil {
				m.Expect(c.Create(ctx, object, options...)).To(Succeed())
			}
			return answer
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			m.note("delete", object)
			return c.Delete(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			m.note("patch", object)
			return c.Patch(ctx, object, patch, options...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			m.requests = append(m.requests, fmt.Sprintf("apply %T", object))
			if m.applyError != nil {
				return m.applyError
			}
			return c.Apply(ctx, object, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			m.note("patch "+name, object)
			return c.SubResource(name).Patch(ctx, object, patch, options...)
		},
	}
}

func infrastructure(kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(infrastructureGroup + "/v1beta2")
	object.SetKind(kind)
	object.SetNamespace("default")
	object.SetName(name)
	return object
}

// definition returns the CRD of an infrastructure kind, with the label for its contract version.
func definition(kind string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name:   contract.CalculateCRDName(infrastructureGroup, kind),
		Labels: map[string]string{clusterv1.GroupVersion.Group + "/v1beta2": "v1beta2"},
	}}
}

func (m *management) reconcileOnce() (ctrl.Result, error) {
	return m.reconciler.Reconcile(m.ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(m.controlPlane)})
}

// reconcile reconciles once, and again for as long as its own writes or a stale cache require it.
func (m *management) reconcile() (ctrl.Result, error) {
	for {
		before := m.get()
		result, err := m.reconcileOnce()
		m.Expect(len(m.requests)).To(BeNumerically("<", 5000), "it never stops reconciling")
		again := before.ResourceVersion != m.get().ResourceVersion && controlPlaneChanged().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: m.get()})
		if !again && result.RequeueAfter != staleInterval {
			return result, err
		}
	}
}

func (m *management) get() *controlplanev1.FooControlPlane {
	found := &controlplanev1.FooControlPlane{}
	m.Expect(m.client.Get(m.ctx, client.ObjectKeyFromObject(m.controlPlane), found)).To(Succeed())
	return found
}

func (m *management) machines() []clusterv1.Machine {
	list := &clusterv1.MachineList{}
	m.Expect(m.client.List(m.ctx, list)).To(Succeed())
	return list.Items
}

func (m *management) names() []string {
	var names []string
	for _, machine := range m.machines() {
		names = append(names, machine.Name)
	}
	return names
}

// alter changes an object and its status.
func alter[T client.Object](m *management, object T, change func(T)) {
	before, _ := object.DeepCopyObject().(client.Object)
	change(object)
	status, _ := object.DeepCopyObject().(client.Object)
	m.Expect(m.client.Patch(m.ctx, object, client.MergeFrom(before))).To(Succeed())
	m.Expect(m.client.Status().Patch(m.ctx, status, client.MergeFrom(before))).To(Succeed())
}

// join lets each Machine run and join, and the first one initialize the cluster.
func (m *management) join() {
	for _, machine := range m.machines() {
		if machine.Status.NodeRef.IsDefined() {
			continue
		}
		m.workload.change(client.ObjectKeyFromObject(m.cluster), func(cluster *fakeCluster) { cluster.initialized = true })
		m.workload.addNode(client.ObjectKeyFromObject(m.cluster), machine.Name)
		alter(m, &machine, func(machine *clusterv1.Machine) {
			machine.Status.Initialization.InfrastructureProvisioned = ptr.To(true)
			machine.Status.NodeRef.Name = machine.Name
		})
	}
	found := &clusterv1.Cluster{}
	m.Expect(m.client.Get(m.ctx, client.ObjectKeyFromObject(m.cluster), found)).To(Succeed())
	alter(m, found, func(cluster *clusterv1.Cluster) {
		conditions.Set(cluster, metav1.Condition{
			Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue, Reason: "Initialized",
		})
	})
}

// grow scales the control plane to a number of healthy Machines.
func (m *management) grow(number int) {
	for range 3 * number {
		_, err := m.reconcile()
		m.Expect(err).NotTo(HaveOccurred())
		if len(m.machines()) == number && m.get().Status.Plan.Reason == plan.ReasonSettled {
			return
		}
		m.join()
		m.clock.Step(time.Second)
	}
	m.Expect(m.machines()).To(HaveLen(number), m.get().Status.Plan.Message)
}

func (m *management) scale(replicas int32) {
	alter(m, m.get(), func(controlPlane *controlplanev1.FooControlPlane) { controlPlane.Spec.Replicas = ptr.To(replicas) })
}

// last lets time pass. It reconciles as often as the queue would, and every two seconds, since
// other things happen too.
func (m *management) last(duration time.Duration) {
	failures, end := 0, m.clock.Now().Add(duration)
	for m.clock.Now().Before(end) {
		result, err := m.reconcile()
		wait := 2 * time.Second
		if err != nil {
			wait, failures = min(wait, 5*time.Millisecond<<failures), failures+1
		} else {
			failures = 0
		}
		if result.RequeueAfter > 0 {
			wait = min(wait, result.RequeueAfter)
		}
		m.clock.Step(wait)
	}
}

func (m *management) drainEvents() []string {
	var noted []string
	for len(m.events.Events) > 0 {
		noted = append(noted, <-m.events.Events)
	}
	return noted
}

// forget clears the status of the FooControlPlane, the Cluster and the Machines.
func (m *management) forget() {
	alter(m, m.get(), func(controlPlane *controlplanev1.FooControlPlane) {
		controlPlane.Status = controlplanev1.FooControlPlaneStatus{}
	})
	found := &clusterv1.Cluster{}
	m.Expect(m.client.Get(m.ctx, client.ObjectKeyFromObject(m.cluster), found)).To(Succeed())
	alter(m, found, func(cluster *clusterv1.Cluster) { cluster.Status = clusterv1.ClusterStatus{} })
	for _, machine := range m.machines() {
		alter(m, &machine, func(machine *clusterv1.Machine) { machine.Status = clusterv1.MachineStatus{} })
	}
}

// mark plays a MachineHealthCheck that finds Machines without a Node.
func (m *management) mark() {
	for _, machine := range m.machines() {
		m.markOne(&machine)
	}
}

func (m *management) markOne(machine *clusterv1.Machine) {
	alter(m, machine, func(machine *clusterv1.Machine) {
		conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineHealthCheckSucceededCondition, Status: metav1.ConditionFalse, Reason: "NodeStartupTimeout"})
		conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineOwnerRemediatedCondition, Status: metav1.ConditionFalse, Reason: "WaitingForRemediation"})
	})
}

// unmark plays a MachineHealthCheck that finds a Machine healthy again.
func (m *management) unmark(machine *clusterv1.Machine) {
	alter(m, machine, func(machine *clusterv1.Machine) {
		conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineHealthCheckSucceededCondition, Status: metav1.ConditionTrue, Reason: "Succeeded"})
	})
}

func TestAControlPlaneThatLostItsStatusLosesNoMachine(t *testing.T) {
	for _, number := range []int{1, 3} {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			m := newManagement(t, int32(number))
			m.grow(number)
			m.workload.change(client.ObjectKeyFromObject(m.cluster), func(cluster *fakeCluster) { cluster.unreachable, cluster.initialized = true, false })
			m.forget()
			m.mark()
			before := m.names()
			m.last(30 * time.Minute)
			m.Expect(m.names()).To(Equal(before))
			for _, machine := range m.machines() {
				m.Expect(machine.DeletionTimestamp).To(BeNil())
				m.Expect(conditions.Get(&machine, clusterv1.MachineOwnerRemediatedCondition).Message).To(ContainSubstring("is kept"))
			}
			m.Expect(m.get().Status.Initialization.ControlPlaneInitialized).To(HaveValue(BeTrue()))
			m.Expect(m.get().Status.Plan.Message).To(Or(ContainSubstring("no answer"), ContainSubstring("it is the only one")))

			m.workload.change(client.ObjectKeyFromObject(m.cluster), func(cluster *fakeCluster) { cluster.unreachable, cluster.initialized = false, true })
			for _, machine := range m.machines() {
				alter(m, &machine, func(machine *clusterv1.Machine) {
					machine.Status.NodeRef.Name = machine.Name
					conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineHealthCheckSucceededCondition, Status: metav1.ConditionTrue, Reason: "Succeeded"})
				})
			}
			m.grow(number)
			m.Expect(m.names()).To(Equal(before))
		})
	}
}

func TestARefusedMachineCostsLittle(t *testing.T) {
	m := newManagement(t, 1)
	m.grow(1)
	m.scale(3)
	m.refuse = func(object client.Object) (bool, error) {
		if _, ok := object.(*clusterv1.Machine); !ok {
			return false, nil
		}
		return false, apierrors.NewForbidden(clusterv1.GroupVersion.WithResource("machines").GroupResource(), object.GetName(), errors.New("exceeded quota"))
	}
	m.drainEvents()
	for minute := range 10 {
		m.requests = nil
		m.last(time.Minute)
		noted := m.drainEvents()
		m.Expect(len(m.requests)).To(BeNumerically("<=", 20), "minute %d: %v", minute, m.requests)
		m.Expect(len(noted)).To(BeNumerically("<=", 5), "minute %d: %v", minute, noted)
	}
	m.Expect(m.get().Status.Plan.Action).To(Equal("CreateMachine"))
	m.Expect(conditions.Get(m.get(), controlplanev1.ScalingUpCondition).Message).To(ContainSubstring("exceeded quota"))
	infras := &unstructured.UnstructuredList{}
	infras.SetGroupVersionKind(infrastructure("FooMachineList", "").GroupVersionKind())
	m.Expect(m.client.List(m.ctx, infras)).To(Succeed())
	m.Expect(infras.Items).To(HaveLen(1), "the objects of the rejected Machine are deleted")

	m.refuse = nil
	m.last(maxBackoff)
	m.Expect(m.machines()).To(HaveLen(2), "it notices when the failure has ended")
}

func TestAMachineWhoseCreationHasNoAnswerKeepsItsObjects(t *testing.T) {
	m := newManagement(t, 1)
	m.grow(1)
	m.scale(3)
	m.refuse = func(object client.Object) (bool, error) {
		if _, ok := object.(*clusterv1.Machine); !ok {
			return false, nil
		}
		return true, context.DeadlineExceeded
	}
	_, err := m.reconcile()
	m.Expect(err).To(MatchError(context.DeadlineExceeded))
	m.refuse = nil
	m.last(time.Minute)
	m.Expect(m.machines()).To(HaveLen(2), "it exists and is not created again")
	for _, machine := range m.machines() {
		key := client.ObjectKeyFromObject(&machine)
		m.Expect(m.client.Get(m.ctx, key, &bootstrapv1.KubeadmConfig{})).To(Succeed())
		m.Expect(m.client.Get(m.ctx, key, infrastructure("FooMachine", ""))).To(Succeed())
	}
	m.grow(3)
	m.Expect(m.machines()).To(HaveLen(3), "the next Machine does not reuse the name of an existing one")
}

func TestAMachineCanJoinHoweverLateItStarts(t *testing.T) {
	m := newManagement(t, 1)
	m.grow(1)
	m.scale(3)
	m.last(time.Minute)
	m.Expect(m.machines()).To(HaveLen(2))
	kept := func() int {
		calls := m.workload.calls(client.ObjectKeyFromObject(m.cluster))
		return len(slices.DeleteFunc(calls, func(call string) bool { return call != "keep "+fakeToken }))
	}
	m.Expect(kept()).To(Equal(0), "the token is new")
	m.clock.Step(time.Hour) // the control plane was paused
	m.last(time.Minute)
	m.Expect(kept()).To(Equal(1))
	m.last(14 * time.Minute)
	m.Expect(kept()).To(Equal(3))

	m.reconciler.memories = newMemories()
	m.last(time.Second)
	m.Expect(kept()).To(Equal(4), "a new manager does not know how old the token is")

	m.join()
	m.last(2 * tokenInterval)
	m.Expect(m.machines()).To(HaveLen(3))
	m.join()
	before := kept()
	m.last(2 * tokenInterval)
	m.Expect(kept()).To(Equal(before), "all have joined")
}

func TestTheSameFailureIsWrittenOnce(t *testing.T) {
	m := newManagement(t, 1)
	m.grow(1)
	port := 40000
	m.workload.change(client.ObjectKeyFromObject(m.cluster), func(cluster *fakeCluster) {
		cluster.unreachable = true
		cluster.failure = func() error {
			port++
			return fmt.Errorf("read tcp 10.1.2.3:%d->10.9.8.7:6443: read: connection reset by peer", port)
		}
	})
	m.last(time.Minute)
	m.Expect(m.get().Status.Plan.Message).To(HaveSuffix("read tcp 10.9.8.7:6443: read: connection reset by peer"))
	m.requests = nil
	m.last(time.Minute)
	m.Expect(m.requests).To(BeEmpty())
}

func TestAnyMachineThatIsUpIsAskedWhetherItIsInitialized(t *testing.T) {
	g := NewWithT(t)
	s := observed("a", "b", "c")
	s.initialized = false
	g.Expect(awaited(s)).To(BeNil(), "no infrastructure is up")
	s.machines[0].Status.Initialization.InfrastructureProvisioned = ptr.To(true)
	s.machines[0].DeletionTimestamp = ptr.To(metav1.Now())
	g.Expect(awaited(s)).To(BeNil(), "it is about to be lost")
	s.machines[2].Status.Initialization.InfrastructureProvisioned = ptr.To(true)
	g.Expect(awaited(s)).To(HaveField("Name", "c"))
}

func TestAControlPlaneIsInitializedOnceMachinesCanJoin(t *testing.T) {
	g := NewWithT(t)
	s := observed("a")
	g.Expect(s.milestone()).To(Equal(workload.TokensSigned))
	s.controlPlane.Spec.KubeadmConfigSpec.InitConfiguration.SkipPhases = []string{"addon", "bootstrap-token"}
	g.Expect(s.milestone()).To(Equal(workload.ConfigUploaded), "its machines join without tokens")
	s.controlPlane.Spec.KubeadmConfigSpec.InitConfiguration = bootstrapv1.InitConfiguration{BootstrapTokens: []bootstrapv1.BootstrapToken{{}}}
	g.Expect(s.milestone()).To(Equal(workload.ConfigUploaded), "its tokens may not be for discovery")
}

func TestTheNodeOfANewMachineDoesNotProveInitialization(t *testing.T) {
	g := NewWithT(t)
	s := observed("a")
	s.cluster, s.now, s.initialized = &clusterv1.Cluster{}, time.Now(), false
	s.machines[0].CreationTimestamp = metav1.NewTime(s.now.Add(-time.Minute))
	s.noAnswer()
	g.Expect(s.initialized).To(BeFalse(), "kubeadm init registers the Node before it has finished")
	s.machines[0].CreationTimestamp = metav1.NewTime(s.now.Add(-time.Hour))
	s.noAnswer()
	g.Expect(s.initialized).To(BeTrue())
}

// kubeadm init may fail after the kubelet has registered the Node, as on a busy machine, where it
// gives up after a minute without an answer. Machines that are told to join then would fail too.
func TestANodeDoesNotProveWhatTheAPIServerDenies(t *testing.T) {
	m := newManagement(t, 1)
	m.last(time.Minute)
	machine := m.machines()[0]
	m.workload.addNode(client.ObjectKeyFromObject(m.cluster), machine.Name)
	alter(m, &machine, func(machine *clusterv1.Machine) {
		machine.Status.Initialization.InfrastructureProvisioned = ptr.To(true)
		machine.Status.NodeRef.Name = machine.Name
	})
	m.last(time.Hour)
	m.Expect(ptr.Deref(m.get().Status.Initialization.ControlPlaneInitialized, false)).To(BeFalse())
	m.Expect(m.get().Status.Conditions).To(ContainElement(And(
		HaveField("Type", controlplanev1.InitializedCondition), HaveField("Status", metav1.ConditionFalse))))

	m.workload.change(client.ObjectKeyFromObject(m.cluster), func(cluster *fakeCluster) { cluster.initialized = true })
	m.last(time.Minute)
	m.Expect(m.get().Status.Initialization.ControlPlaneInitialized).To(HaveValue(BeTrue()))
}

func TestAFirstMachineThatDoesNotComeUpIsLookedForEverMoreRarely(t *testing.T) {
	g := NewWithT(t)
	g.Expect(awaitInterval(0)).To(Equal(awaitedInterval))
	g.Expect(awaitInterval(11*time.Second)).To(Equal(awaitedInterval), "most are up by then")
	g.Expect(awaitInterval(time.Minute)).To(Equal(6 * time.Second))
	g.Expect(awaitInterval(time.Hour)).To(Equal(awaitedMaxInterval))
}

func TestThePausedConditionFollowsTheGeneration(t *testing.T) {
	m := newManagement(t, 1)
	m.grow(1)
	alter(m, m.get(), func(controlPlane *controlplanev1.FooControlPlane) { controlPlane.Generation = 7 })
	m.last(time.Minute)
	m.Expect(m.get().Status.ObservedGeneration).To(Equal(int64(7)))
	m.Expect(conditions.Get(m.get(), clusterv1.PausedCondition).ObservedGeneration).To(Equal(int64(7)))
}

func TestADecisionFromAStaleCacheIsNotCarriedOut(t *testing.T) {
	m := newManagement(t, 1)
	m.grow(1)
	m.scale(3)
	alter(m, m.get(), func(controlPlane *controlplanev1.FooControlPlane) {
		controlPlane.Spec.MachineTemplate.ObjectMeta.Labels = map[string]string{"team": "a"}
	})
	m.applyError = apierrors.NewConflict(clusterv1.GroupVersion.WithResource("machines").GroupResource(), "a", errors.New("changed"))
	_, err := m.reconcileOnce()
	m.Expect(err).NotTo(HaveOccurred())
	m.Expect(m.machines()).To(HaveLen(1))

	m.applyError = errors.New("the webhook does not answer")
	_, err = m.reconcile()
	m.Expect(err).To(MatchError(ContainSubstring("the webhook does not answer")))
	m.Expect(m.machines()).To(HaveLen(1), "the decision was made from another version of the Machine")
	m.Expect(m.drainEvents()).To(ContainElement(ContainSubstring("the webhook does not answer")))
}

// The response to an update of a Machine may show more than the decision was made from.
func TestAnUpdateOfAMachineDoesNotHideAStaleCache(t *testing.T) {
	updates := map[string]func(*management){
		"labels": func(m *management) {
			alter(m, m.get(), func(controlPlane *controlplanev1.FooControlPlane) {
				controlPlane.Spec.MachineTemplate.ObjectMeta.Labels = map[string]string{"team": "a"}
			})
		},
		"all that is applied, right after a start": func(m *management) { m.reconciler.applied = lru.New(100) },
		"the record of what it is made from": func(m *management) {
			for _, machine := range m.machines() {
				alter(m, &machine, func(machine *clusterv1.Machine) { delete(machine.Annotations, controlplanev1.MadeFromAnnotation) })
			}
		},
	}
	meanwhile := map[string]func(*management){
		"the Machine has recovered": func(m *management) { m.unmark(&m.machines()[0]) },
		"another Machine is being deleted": func(m *management) {
			other := &m.machines()[1]
			alter(m, other, func(machine *clusterv1.Machine) { machine.Finalizers = []string{clusterv1.MachineFinalizer} })
			m.Expect(m.client.Delete(m.ctx, other)).To(Succeed())
		},
	}
	for update, wanted := range updates {
		for change, happens := range meanwhile {
			t.Run(update+", "+change, func(t *testing.T) {
				m := newManagement(t, 3)
				m.grow(3)
				m.markOne(&m.machines()[0])
				wanted(m)
				m.cached = &clusterv1.MachineList{Items: m.machines()}
				happens(m)
				before := m.names()
				result, err := m.reconcileOnce()
				m.Expect(m.names()).To(Equal(before))
				m.Expect(err).NotTo(HaveOccurred())
				m.Expect(result.RequeueAfter).To(Equal(staleInterval))
			})
		}
	}
}

// Moving the leadership takes seconds.
func TestAMachineThatRecoversWhileTheLeadershipMovesIsKept(t *testing.T) {
	m := newManagement(t, 3)
	m.grow(3)
	before := m.names()
	key := client.ObjectKeyFromObject(m.cluster)
	leader := &clusterv1.Machine{}
	m.workload.change(key, func(cluster *fakeCluster) {
		leader.Namespace, leader.Name = "default", cluster.observation.Etcd.Members[0].Name
		cluster.moving = func() {
			m.Expect(m.client.Get(m.ctx, client.ObjectKeyFromObject(leader), leader)).To(Succeed())
			m.unmark(leader)
		}
	})
	m.Expect(m.client.Get(m.ctx, client.ObjectKeyFromObject(leader), leader)).To(Succeed())
	m.markOne(leader)
	result, err := m.reconcileOnce()
	m.Expect(err).NotTo(HaveOccurred())
	m.Expect(result.RequeueAfter).To(Equal(staleInterval))
	m.Expect(m.workload.calls(key)).To(ContainElement(HavePrefix("leader " + leader.Name)))
	m.Expect(m.names()).To(Equal(before))
	m.last(time.Minute)
	m.Expect(m.names()).To(Equal(before))
	m.Expect(m.get().Annotations).NotTo(HaveKey(controlplanev1.RemediationInProgressAnnotation), "nothing was replaced")
}

// A manager that has just started updates all Machines, and so must not wait for itself.
func TestTheFirstDecisionIsCarriedOutOnceTheCacheHasCaughtUp(t *testing.T) {
	m := newManagement(t, 3)
	m.grow(3)
	marked := &m.machines()[0]
	alter(m, marked, func(machine *clusterv1.Machine) { machine.Finalizers = []string{clusterv1.MachineFinalizer} })
	m.markOne(marked)
	m.reconciler.applied, m.reconciler.memories = lru.New(100), newMemories()
	m.cached = &clusterv1.MachineList{Items: m.machines()}
	alter(m, marked, func(machine *clusterv1.Machine) { machine.Status.Phase = string(clusterv1.MachinePhaseRunning) })
	result, err := m.reconcileOnce()
	m.Expect(err).NotTo(HaveOccurred())
	m.Expect(result.RequeueAfter).To(Equal(staleInterval))
	m.cached = nil
	_, err = m.reconcileOnce()
	m.Expect(err).NotTo(HaveOccurred())
	m.Expect(m.client.Get(m.ctx, client.ObjectKeyFromObject(marked), marked)).To(Succeed())
	m.Expect(marked.DeletionTimestamp).NotTo(BeNil())
}

// Cluster API writes to a new Machine and its objects many times. Each write of ours would cause it
// a conflict.
func TestNothingIsWrittenToANewMachineUntilItHasANode(t *testing.T) {
	m := newManagement(t, 1)
	labels := func(labels map[string]string) {
		alter(m, m.get(), func(controlPlane *controlplanev1.FooControlPlane) {
			controlPlane.Spec.MachineTemplate.ObjectMeta.Labels = labels
		})
	}
	labels(map[string]string{"stays": "1", "goes": "1"})
	reconcile := func() []string {
		m.requests = nil
		_, err := m.reconcile()
		m.Expect(err).NotTo(HaveOccurred())
		return slices.DeleteFunc(m.requests, func(request string) bool {
			return !strings.HasPrefix(request, "apply") && !strings.HasPrefix(request, "patch *v1beta2.Machine")
		})
	}
	m.Expect(reconcile()).To(BeEmpty())
	m.Expect(m.machines()).To(HaveLen(1))
	m.clock.Step(time.Second)
	m.Expect(reconcile()).To(BeEmpty())

	labels(map[string]string{"stays": "1"})
	m.Expect(reconcile()).NotTo(BeEmpty(), "the template has changed")
	m.Expect(m.machines()[0].Labels).To(And(HaveKey("stays"), Not(HaveKey("goes"))))

	m = newManagement(t, 1)
	labels(map[string]string{"stays": "1", "goes": "1"})
	m.Expect(reconcile()).To(BeEmpty())
	m.join()
	m.Expect(reconcile()).NotTo(BeEmpty(), "the Machine has a Node")
	m.Expect(reconcile()).To(BeEmpty())
	labels(map[string]string{"stays": "1"})
	m.Expect(reconcile()).NotTo(BeEmpty())
	m.Expect(m.machines()[0].Labels).To(And(HaveKey("stays"), Not(HaveKey("goes"))))
}
