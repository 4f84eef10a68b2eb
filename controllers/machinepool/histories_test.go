// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

// errDied simulates the death of a process: once it has died, every write fails with it.
var errDied = errors.New("the process has died")

// histories returns how many random histories a test runs; make fuzz runs more.
func histories(t *testing.T) int {
	count, err := strconv.Atoi(os.Getenv("HISTORIES"))
	if err != nil {
		return 10000
	}
	t.Logf("%d histories", count)
	return count
}

// apiServer fakes the parts of an API server that the controller uses. It also serves as a cache.
type apiServer struct {
	client.Client

	pool        *infrav1.FooMachinePool
	machines    map[string]*clusterv1.Machine
	fooMachines map[string]*infrav1.FooMachine
	now         time.Time
	version     int
	// writes counts the controller's writes in this reconcile, and deleted names what it deleted.
	writes  int
	deleted []string
	// dies is the number of writes until the process dies; negative means never.
	dies int
}

func (*apiServer) Scheme() *runtime.Scheme { return nil }

func (a *apiServer) next() string {
	a.version++
	return strconv.Itoa(a.version)
}

// write counts a write. The process may die before it, or right after it without seeing the
// response.
func (a *apiServer) write(do func() error) error {
	if a.dies == 0 {
		return errDied
	}
	a.writes++
	err := do()
	if a.dies--; a.dies == 0 {
		return errDied
	}
	return err
}

func (a *apiServer) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	secret := infratest.NewSecret(key.Namespace, key.Name, infratest.UserData)
	secret.ResourceVersion = "1"
	switch object := object.(type) {
	case *infrav1.FooMachinePool:
		a.pool.DeepCopyInto(object)
	case *corev1.Secret:
		*object = *secret
	case *metav1.PartialObjectMetadata:
		object.ObjectMeta = secret.ObjectMeta
	default:
		return fmt.Errorf("unexpected Get of %T", object)
	}
	return nil
}

func (a *apiServer) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch list := list.(type) {
	case *clusterv1.MachineList:
		for _, machine := range a.machines {
			list.Items = append(list.Items, *machine)
		}
	case *infrav1.FooMachineList:
		for _, fooMachine := range a.fooMachines {
			list.Items = append(list.Items, *fooMachine)
		}
	default:
		return fmt.Errorf("unexpected List of %T", list)
	}
	return nil
}

func (a *apiServer) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	return a.write(func() error {
		fooMachine, ok := object.(*infrav1.FooMachine)
		if !ok {
			return fmt.Errorf("unexpected Create of %T", object)
		}
		if a.fooMachines[fooMachine.Name] != nil {
			return apierrors.NewAlreadyExists(schema.GroupResource{}, fooMachine.Name)
		}
		created := fooMachine.DeepCopy()
		created.UID = types.UID(a.next())
		a.fooMachines[created.Name] = created
		return nil
	})
}

func (a *apiServer) Delete(_ context.Context, object client.Object, _ ...client.DeleteOption) error {
	return a.write(func() error {
		name := object.GetName()
		var found client.Object = a.machines[name]
		exists := a.machines[name] != nil
		if _, ok := object.(*infrav1.FooMachine); ok {
			found, exists = a.fooMachines[name], a.fooMachines[name] != nil
		}
		if !exists || found.GetUID() != object.GetUID() {
			return apierrors.NewNotFound(schema.GroupResource{}, name)
		}
		if found.GetDeletionTimestamp().IsZero() {
			found.SetDeletionTimestamp(ptr.To(metav1.NewTime(a.now)))
			a.deleted = append(a.deleted, name)
		}
		return nil
	})
}

func (a *apiServer) Patch(_ context.Context, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
	pool, ok := object.(*infrav1.FooMachinePool)
	if !ok {
		return fmt.Errorf("unexpected Patch of %T", object)
	}
	return a.write(func() error {
		if pool.ResourceVersion != a.pool.ResourceVersion {
			return apierrors.NewConflict(schema.GroupResource{}, pool.Name, errors.New("the object was changed"))
		}
		pool.ResourceVersion = a.next()
		a.pool = pool.DeepCopy()
		return nil
	})
}

// Apply applies owner references.
func (a *apiServer) Apply(_ context.Context, object runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	return a.write(func() error {
		applied, ok := object.(metav1.Object)
		if !ok {
			return fmt.Errorf("unexpected Apply of %T", object)
		}
		found := a.fooMachines[applied.GetName()]
		if found == nil || found.UID != applied.GetUID() {
			return apierrors.NewNotFound(schema.GroupResource{}, applied.GetName())
		}
		found.OwnerReferences = applied.GetOwnerReferences()
		return nil
	})
}

// snapshot returns the current content of the API server as a cache.
func (a *apiServer) snapshot() *apiServer {
	cache := &apiServer{Client: a, pool: a.pool.DeepCopy(), machines: map[string]*clusterv1.Machine{}, fooMachines: map[string]*infrav1.FooMachine{}}
	for name, machine := range a.machines {
		cache.machines[name] = machine.DeepCopy()
	}
	for name, fooMachine := range a.fooMachines {
		cache.fooMachines[name] = fooMachine.DeepCopy()
	}
	return cache
}

// cached reads from the cache and writes to the API server.
type cached struct {
	*apiServer

	cache *apiServer
}

func (c cached) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return c.cache.List(ctx, list, options...)
}

// history is one random history of a pool.
type history struct {
	t           *testing.T
	seed        uint64
	random      *rand.Rand
	api         *apiServer
	cache       *apiServer
	cloud       *fake.Cloud
	machinePool *clusterv1.MachinePool
	cluster     *clusterv1.Cluster
	r           *reconciler
	// counted holds all members that ever counted as failed.
	counted map[string]bool
	// created holds the instances whose creation time has been set.
	created map[string]bool
	count   int32
	log     []string
}

func newHistory(t *testing.T, seed uint64) *history {
	h := &history{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 1)), cloud: fake.New(fake.Options{}), counted: map[string]bool{}, created: map[string]bool{}}
	h.cluster = infratest.NewCluster("ns", "one")
	h.cluster.Status.Initialization.InfrastructureProvisioned = ptr.To(true)
	h.machinePool = infratest.NewMachinePool(h.cluster, "workers", int32(h.random.IntN(5)))
	pool := infratest.NewFooMachinePool(h.machinePool)
	pool.UID, pool.ResourceVersion = "pool", "1"
	conditions.Set(pool, metav1.Condition{Type: clusterv1.PausedCondition, Status: metav1.ConditionFalse, Reason: clusterv1.NotPausedReason})
	pool.Spec.Strategy.MaxUnavailable = ptr.To(intstr.FromInt32(int32(h.random.IntN(3))))
	pool.Spec.Strategy.MaxSurge = ptr.To(intstr.FromInt32(int32(h.random.IntN(2))))
	h.api = &apiServer{
		pool: pool, machines: map[string]*clusterv1.Machine{}, fooMachines: map[string]*infrav1.FooMachine{}, now: time.Now(), version: 1, dies: -1,
	}
	h.refresh()
	h.restart()
	return h
}

func (h *history) refresh() { h.cache = h.api.snapshot() }

// restart starts a new process, whose cache may be stale.
func (h *history) restart() { h.r = h.newReconciler() }

func (h *history) newReconciler() *reconciler {
	return &reconciler{live: h.api, secrets: h.api, clock: clocktesting.NewFakePassiveClock(h.api.now), memories: newMemories()}
}

func (h *history) fail(format string, arguments ...any) {
	h.t.Helper()
	h.t.Fatalf("seed %d: %s\n%q", h.seed, fmt.Sprintf(format, arguments...), h.log)
}

// truth returns what a controller with an up-to-date cache would observe. The controller under test
// does not see it.
func (h *history) truth() *scope {
	r := h.newReconciler()
	s := h.scope(h.api, r.memories)
	if err := r.observe(context.Background(), s, fromServer(h.api)); err != nil {
		h.fail("observe: %v", err)
	}
	s.assess()
	return s
}

func (h *history) scope(from *apiServer, memories *memories) *scope {
	pool := from.pool.DeepCopy()
	reporter := report.Reporter{Client: h.api, Live: h.api}
	written, err := reporter.Begin(context.Background(), h.cluster, pool)
	if err != nil || written == nil {
		h.fail("begin: %v", err)
	}
	return &scope{
		pool: pool, report: written, memory: memories.recall(pool), now: h.api.now,
		machinePool: h.machinePool, cluster: h.cluster, cloud: h.cloud,
	}
}

// reconcile reconciles once and checks what it did. The process may die.
func (h *history) reconcile() {
	before := h.truth()
	h.api.writes, h.api.deleted = 0, nil
	h.r.client = cached{apiServer: h.api, cache: h.cache}
	s := h.scope(h.cache, h.r.memories)
	p, err := h.r.decide(context.Background(), s)
	if err == nil {
		err = h.r.apply(context.Background(), s, p)
	}
	h.log = append(h.log, fmt.Sprintf("reconcile: deleted %v, err %v, fault %q", h.api.deleted, err, s.fault.Message))
	if !before.deleting() {
		h.checkDeletions(before)
	}
	h.checkFailures(before, err)
	if errors.Is(err, errDied) {
		h.api.dies = -1
		h.restart()
	}
	for _, name := range h.cloud.InstanceNames() {
		if !h.created[name] { // the fake cloud has its own clock
			h.created[name] = true
			h.cloud.ChangeInstance(name, func(i *cloud.Instance) { i.CreatedAt = h.api.now })
		}
	}
}

// checkDeletions checks the deletions of one reconcile against the true state before it.
func (h *history) checkDeletions(before *scope) {
	repaired := 0
	available, live := before.census.count(state.available), before.census.count(state.stays)
	left := available
	for _, name := range h.api.deleted {
		i := slices.IndexFunc(before.assessed, func(c candidate) bool { return c.name == name })
		c := before.assessed[i]
		if c.state.available() {
			left--
		}
		if c.state.stays() {
			live--
		}
		if c.state == stateBroken {
			repaired++
		}
		if (c.state == stateReady || c.state.starting() || c.state == stateUnavailable) && live < before.rules.replicas {
			h.fail("%s is %s and was deleted, which leaves %d of %d", name, c.state, live, before.rules.replicas)
		}
	}
	if repaired > max(before.rules.repairLimit(), before.census.count(state.stays)-before.rules.replicas) {
		h.fail("%d broken members were repaired at once", repaired)
	}
	if left < min(available, before.rules.minAvailable()) {
		h.fail("%d of %d available Machines are left, but at least %d must stay", left, available, before.rules.minAvailable())
	}
}

// checkFailures checks that each failure counts once, and that only failures count.
func (h *history) checkFailures(before *scope, err error) {
	after := memoryIn(h.api.pool)
	for _, name := range after.Counted {
		if slices.Contains(before.memory.Counted, name) || slices.Contains(memoryIn(h.cache.pool).Counted, name) || h.counted[name] {
			continue
		}
		i := slices.IndexFunc(before.assessed, func(c candidate) bool { return c.name == name })
		if before.assessed[i].state != stateFailed {
			h.fail("%s is %s and counts as failed", name, before.assessed[i].state)
		}
		if !slices.Contains(h.api.deleted, name) && !errors.Is(err, errDied) {
			h.fail("%s counts as failed but was not deleted", name)
		}
		h.counted[name] = true
		h.count++
	}
	if after.Failures.Count > h.count {
		h.fail("%d failures were counted, but %d members failed", after.Failures.Count, h.count)
	}
}

// event changes something outside the controller's control.
func (h *history) event() {
	if h.random.IntN(6) == 0 {
		h.change()
		return
	}
	names := h.cloud.InstanceNames()
	if len(names) == 0 {
		return
	}
	name := names[h.random.IntN(len(names))]
	host := name[len("ns."):]
	machine := h.api.machines[host]
	kind := h.random.IntN(17)
	h.log = append(h.log, fmt.Sprintf("event %d of %s", kind, host))
	switch {
	case kind == 0:
		h.cloud.StopInstance(name, "out of memory")
	case kind == 1:
		h.cloud.LoseInstance(name)
	case kind == 2:
		h.cloud.ChangeInstance(name, func(i *cloud.Instance) { i.ReclaimAt = &h.api.now })
	case kind == 3 && machine != nil && !machine.Status.NodeRef.IsDefined():
		h.cloud.SetBootstrap(name, cloud.Bootstrap{State: cloud.BootstrapFailed})
	case kind == 4 && machine != nil:
		for _, condition := range []string{clusterv1.MachineHealthCheckSucceededCondition, clusterv1.MachineOwnerRemediatedCondition} {
			conditions.Set(machine, metav1.Condition{Type: condition, Status: metav1.ConditionFalse, Reason: "Test"})
		}
	case kind == 5 && machine != nil && machine.DeletionTimestamp.IsZero():
		machine.DeletionTimestamp = ptr.To(metav1.NewTime(h.api.now))
	case kind == 6 && machine != nil && machine.Status.NodeRef.IsDefined():
		conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineAvailableCondition, Status: metav1.ConditionFalse, Reason: "Test"})
	case (kind == 7 || kind == 8) && machine != nil:
		machine.Annotations = map[string]string{clusterv1.DeleteMachineAnnotation: ""}
	case kind == 9:
		h.cloud.ChangeInstance(name, func(i *cloud.Instance) { i.State = cloud.InstanceDeleting })
	case kind == 10:
		h.cloud.SetMode(fake.Manual) // the deletion takes a while
		h.deleteInstance(host)
		h.cloud.SetMode(fake.Instant)
	case kind == 11 && h.api.fooMachines[host] != nil:
		h.api.fooMachines[host].DeletionTimestamp = ptr.To(metav1.NewTime(h.api.now))
	case kind == 12 && h.api.fooMachines[host] != nil:
		h.api.fooMachines[host].OwnerReferences = nil // as a restored backup may
	default:
		h.heal(name)
	}
}

// change changes the desired state, or lets time pass.
func (h *history) change() {
	kind := h.random.IntN(5)
	h.log = append(h.log, fmt.Sprintf("change %d", kind))
	switch kind {
	case 0:
		h.machinePool.Spec.Replicas = ptr.To(int32(h.random.IntN(6)))
	case 1:
		h.machinePool.Spec.Template.Spec.Version = []string{"v1.35.4", "v1.36.3"}[h.random.IntN(2)]
	case 2:
		h.api.pool.Spec.Strategy.RolloutPaused = ptr.To(h.random.IntN(2) == 0)
		h.api.pool.ResourceVersion = h.api.next()
	case 3:
		h.machinePool.Annotations = nil
		if h.random.IntN(2) == 0 {
			h.machinePool.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "x"}
		}
	default:
		h.pass(time.Duration(h.random.IntN(15)) * time.Minute)
	}
}

func (h *history) pass(duration time.Duration) { h.api.now = h.api.now.Add(duration) }

// heal makes progress with an instance: it boots the instance, creates its Machine, lets its Node
// join, or finishes its deletion.
func (h *history) heal(name string) {
	host := name[len("ns."):]
	machine, fooMachine := h.api.machines[host], h.api.fooMachines[host]
	switch {
	case fooMachine == nil:
		h.finishDeletion(host)
	case machine != nil && !machine.DeletionTimestamp.IsZero():
		h.end(host)
	case !fooMachine.DeletionTimestamp.IsZero():
		h.endFooMachine(host)
	case machine == nil:
		h.api.machines[host] = &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: host, UID: types.UID(h.api.next()), CreationTimestamp: metav1.NewTime(h.api.now), Labels: fooMachine.Labels,
			Finalizers: []string{clusterv1.MachineFinalizer},
		}}
		h.api.machines[host].Spec.InfrastructureRef.Name = host
	case !machine.Status.NodeRef.IsDefined():
		h.cloud.ChangeInstance(name, func(i *cloud.Instance) {
			if i.State == cloud.InstanceRunning && i.Bootstrap.State != cloud.BootstrapFailed {
				i.Bootstrap.State = cloud.BootstrapSucceeded
				machine.Status.NodeRef.Name = host
			}
		})
	default:
		conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineAvailableCondition, Status: metav1.ConditionTrue, Reason: "Test"})
	}
}

// end plays the controllers of Machine and FooMachine after the Node is drained.
func (h *history) end(host string) {
	h.endFooMachine(host)
	delete(h.api.machines, host)
}

// endFooMachine plays the controller of a FooMachine that is being deleted, and Cluster API, which
// keeps the Machine.
func (h *history) endFooMachine(host string) {
	h.deleteInstance(host)
	h.finishDeletion(host)
	delete(h.api.fooMachines, host)
	if machine := h.api.machines[host]; machine != nil {
		conditions.Set(machine, metav1.Condition{
			Type: clusterv1.MachineInfrastructureReadyCondition, Status: metav1.ConditionFalse, Reason: clusterv1.MachineInfrastructureDeletedReason,
		})
	}
}

func (h *history) instances(host string) []cloud.Instance {
	instances, err := h.cloud.ListInstances(context.Background(), cloud.InstanceFilter{Name: "ns." + host})
	if err != nil {
		h.fail("list: %v", err)
	}
	return instances
}

func (h *history) deleteInstance(host string) {
	for _, instance := range h.instances(host) {
		if err := h.cloud.DeleteInstance(context.Background(), instance.ID); err != nil {
			h.fail("delete: %v", err)
		}
	}
}

// finishDeletion removes an instance that is being deleted.
func (h *history) finishDeletion(host string) {
	for _, instance := range h.instances(host) {
		if instance.State == cloud.InstanceDeleting {
			h.cloud.LoseInstance(instance.Name)
		}
	}
}

// faulty injects a random fault, or none: cloud orders that fail, a process that dies after a few
// writes, or a restart.
func (h *history) faulty() {
	for _, call := range []fake.Call{fake.CallEnsurePool, fake.CallScalePool} {
		h.cloud.Heal(call)
	}
	switch h.random.IntN(8) {
	case 0:
		h.cloud.Fail(fake.CallEnsurePool, &cloud.UnavailableError{Message: "maintenance"})
		h.cloud.Fail(fake.CallScalePool, &cloud.UnavailableError{Message: "maintenance"})
	case 1:
		h.cloud.Fail(fake.CallScalePool, &cloud.QuotaExceededError{Resource: "instances"})
	case 2:
		h.api.dies = 1 + h.random.IntN(4)
	case 3:
		h.restart()
	}
}

// progress ends all faults and makes progress with every member. The deletion of an instance that
// the cloud deletes by itself never ends while nobody deletes its Machine.
func (h *history) progress() {
	for _, call := range []fake.Call{fake.CallEnsurePool, fake.CallScalePool} {
		h.cloud.Heal(call)
	}
	h.api.dies = -1
	h.cloud.GrowPools()
	for _, name := range h.cloud.InstanceNames() {
		if h.api.fooMachines[name[len("ns."):]] == nil {
			h.heal(name)
		}
	}
	for host := range h.api.fooMachines {
		h.heal("ns." + host)
	}
	for host, machine := range h.api.machines {
		if !machine.DeletionTimestamp.IsZero() {
			h.end(host)
		}
	}
	h.pass(time.Minute)
	h.refresh()
	h.reconcile()
}

// isDeleted deletes the pool and expects that nothing of it is left.
func (h *history) isDeleted() {
	h.log = append(h.log, "is deleted")
	h.api.pool.DeletionTimestamp = ptr.To(metav1.NewTime(h.api.now))
	h.api.pool.ResourceVersion = h.api.next()
	for range 20 {
		h.progress()
		if _, err := h.cloud.GetPool(context.Background(), "ns.workers"); cloud.IsNotFound(err) {
			if left := len(h.api.fooMachines) + len(h.cloud.InstanceNames()); left > 0 {
				h.fail("the pool is gone, but not its FooMachines %v and its instances %v", h.api.fooMachines, h.cloud.InstanceNames())
			}
			return
		}
	}
	h.fail("the pool is not deleted: it has %v", describe(h.truth().assessed, func(c candidate) string { return " is " + string(c.state) }))
}

// recovers heals everything and expects the pool to reach its desired state and stay there.
func (h *history) recovers() {
	h.log = append(h.log, "recovers")
	h.api.pool.Spec.Strategy.RolloutPaused = nil
	h.api.pool.ResourceVersion = h.api.next()
	rests := 0
	for range 150 {
		h.progress()
		if h.api.writes > 0 {
			rests = 0
			continue
		}
		s := h.truth()
		if rests++; len(s.census[stateReady]) != len(s.assessed) || len(s.assessed) != s.rules.replicas {
			rests = 0
		}
		if rests == 3 {
			return
		}
	}
	s := h.truth()
	h.fail("the pool does not settle: wants %d, has %v, writes %d", s.rules.replicas, describe(s.assessed, func(c candidate) string { return " is " + string(c.state) }), h.api.writes)
}

// Whatever happens to a pool, it keeps its budget, counts each failure once, and recovers or can be
// deleted once everything else has recovered. The cache may show the state before the last reconcile, calls fail, and the
// process dies between any two writes.
func TestHistories(t *testing.T) {
	count := uint64(histories(t))
	const workers = 4
	for worker := range uint64(workers) {
		t.Run(strconv.FormatUint(worker, 10), func(t *testing.T) {
			t.Parallel()
			for seed := worker; seed < count; seed += workers {
				h := newHistory(t, seed)
				for range 6 {
					if h.random.IntN(4) > 0 { // else the cache lags
						for range 3 {
							h.event()
						}
						h.refresh()
					}
					h.faulty()
					h.reconcile()
					h.pass(time.Second)
				}
				if h.random.IntN(4) == 0 {
					h.isDeleted()
				} else {
					h.recovers()
				}
			}
		})
	}
}
