// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

// A pool that somebody else scales must be repaired even while its rollout is paused.
func TestRepairWhileTheRolloutIsPausedAndSomebodyElseScales(t *testing.T) {
	w := newWorld(t, 3, infrav1.FooMachinePoolStrategy{RolloutPaused: ptr.To(true)})
	w.change(func(m *clusterv1.MachinePool) {
		m.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "x"}
	})
	w.settles()
	w.change(func(m *clusterv1.MachinePool) { m.Spec.Template.Spec.Version = "v1.35.4" })
	w.reconciles()
	stopped := w.instances()[0]
	w.Expect(w.cloud.StopInstance(stopped.Name, "out of memory")).To(BeTrue())
	w.reconciles()
	w.Expect(w.deleting()).To(ConsistOf(stopped.Hostname))
	w.Expect(w.result.RequeueAfter).To(Or(BeZero(), BeNumerically(">=", time.Second)), "there is no polling")
	w.Expect(w.get().Status.DesiredReplicas).To(HaveValue(BeEquivalentTo(3)))
}

// The cloud may still have the size of a replacement that has ended when it refuses another template.
// Whoever scales the pool did not ask for that size.
func TestARefusedTemplateAddsNoInstance(t *testing.T) {
	w := newWorld(t, 3, infrav1.FooMachinePoolStrategy{})
	w.change(func(m *clusterv1.MachinePool) {
		m.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "x"}
	})
	w.settles()
	w.cloud.RefuseInstances(&cloud.CapacityError{Zone: "zone-a"})
	before, err := w.cloud.GetPool(w.ctx, "ns.workers")
	w.Expect(err).NotTo(HaveOccurred())
	_, err = w.cloud.ScalePool(w.ctx, "ns.workers", 4, before.Version)
	w.Expect(err).NotTo(HaveOccurred())
	pool := w.get()
	setMemory(pool, `{"replicas":3}`)
	w.Expect(w.kube.Update(w.ctx, pool)).To(Succeed())
	w.restart()
	w.cloud.Fail(fake.CallEnsurePool, &cloud.InvalidError{Field: "kubernetesVersion", Value: "v9.9.9", Problem: "no image"})
	w.change(func(m *clusterv1.MachinePool) { m.Spec.Template.Spec.Version = "v9.9.9" })
	w.reconciles()
	w.change(func(m *clusterv1.MachinePool) { w.Expect(m.Spec.Replicas).To(HaveValue(BeEquivalentTo(3))) })
	w.Expect(w.get().Status.DesiredReplicas).To(HaveValue(BeEquivalentTo(3)))

	w.cloud.Heal(fake.CallEnsurePool)
	w.change(func(m *clusterv1.MachinePool) { m.Spec.Template.Spec.Version = infratest.KubernetesVersion })
	w.reconciles()
	after, err := w.cloud.GetPool(w.ctx, "ns.workers")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(after.Size).To(BeEquivalentTo(3))
}

// A cache may show the size that was remembered before somebody else scaled the pool. It must not
// shrink the pool.
func TestAnOldMemoryRemovesNothing(t *testing.T) {
	w := newWorld(t, 4, infrav1.FooMachinePoolStrategy{})
	w.change(func(m *clusterv1.MachinePool) {
		m.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "x"}
	})
	w.settles()
	old := w.get()
	setMemory(old, `{"replicas":3}`)
	w.restart()
	w.r.live = w.kube
	w.calls.Get = func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
		if pool, ok := object.(*infrav1.FooMachinePool); ok {
			old.DeepCopyInto(pool)
			return nil
		}
		return c.Get(ctx, key, object, options...)
	}
	_ = w.reconcileOnce()
	w.Expect(w.deleting()).To(BeEmpty())
}

// What another cloud or tenant does not have is not lost.
func TestAnotherTenantAnswers(t *testing.T) {
	w := newWorld(t, 3, infrav1.FooMachinePoolStrategy{})
	w.settles()
	w.r.clouds = cloudidentity.One(fake.New(fake.Options{}))
	for range 4 {
		w.Expect(w.reconcileOnce()).To(MatchError(ContainSubstring("not found")))
	}
	w.Expect(w.condition(infrav1.FooMachinePoolReadyCondition)).To(And(
		HaveField("Status", metav1.ConditionFalse), HaveField("Reason", infrav1.FooMachinePoolPoolNotFoundReason),
		HaveField("Message", ContainSubstring("check the endpoint and the tenant"))))
	w.Expect(w.get().Spec.ProviderIDList).To(HaveLen(3), "Cluster API deletes the Nodes of IDs that leave the list")
	w.Expect(w.deleting()).To(BeEmpty())

	w.r.clouds = cloudidentity.One(w.cloud)
	w.reconciles()
	w.Expect(w.condition(infrav1.FooMachinePoolReadyCondition).Status).To(Equal(metav1.ConditionTrue))
}

// A cloud that has the instances is the right one, so a pool that it does not have is created again.
func TestALostPoolIsCreatedAgain(t *testing.T) {
	w := newWorld(t, 3, infrav1.FooMachinePoolStrategy{})
	w.settles()
	before := w.cloud.InstanceNames()
	w.Expect(w.cloud.LosePool("ns.workers")).To(BeTrue())
	w.reconciles()
	w.Expect(w.cloud.GetPool(w.ctx, "ns.workers")).To(And(HaveField("Size", BeEquivalentTo(3)), HaveField("Instances", BeEquivalentTo(3))))
	w.Expect(w.cloud.InstanceNames()).To(Equal(before))
	w.Expect(w.deleting()).To(BeEmpty())

	stopped := w.instances()[0]
	w.Expect(w.cloud.StopInstance(stopped.Name, "out of memory")).To(BeTrue())
	w.reconciles()
	w.Expect(w.deleting()).To(ConsistOf(stopped.Hostname), "it is repaired as before")
}

// Nothing runs on after the deletion of a pool that the cloud has lost.
func TestALostPoolIsDeletedWithItsInstances(t *testing.T) {
	w := newWorld(t, 2, infrav1.FooMachinePoolStrategy{})
	for range 3 { // the last one orders the pool
		w.Expect(w.reconcileOnce()).To(Succeed())
	}
	w.Expect(w.cloud.InstanceNames()).To(HaveLen(2), "they have no FooMachines yet")
	w.Expect(w.cloud.LosePool("ns.workers")).To(BeTrue())
	w.Expect(w.kube.Delete(w.ctx, w.get())).To(Succeed())
	w.reconciles()
	w.Expect(w.cloud.InstanceNames()).To(BeEmpty())
	w.Expect(w.kube.Get(w.ctx, w.key, &infrav1.FooMachinePool{})).To(MatchError(apierrors.IsNotFound, "it is gone"))
}

// Instances that failed to join count only once they are replaced.
func TestFailuresCountOnlyReplacementsThatHappen(t *testing.T) {
	w := newWorld(t, 3, infrav1.FooMachinePoolStrategy{})
	w.settles()
	w.change(func(m *clusterv1.MachinePool) { m.Spec.Replicas = ptr.To[int32](4) })
	w.reconciles()
	for _, instance := range w.instances() {
		if instance.Bootstrap.State != cloud.BootstrapSucceeded {
			w.cloud.SetBootstrap(instance.Name, cloud.Bootstrap{State: cloud.BootstrapFailed, Message: "kubeadm join: exit code 1"})
		}
	}
	w.cloud.Fail(fake.CallEnsurePool, &cloud.UnavailableError{Message: "maintenance"})
	w.addMachines()
	w.change(func(m *clusterv1.MachinePool) { m.Spec.FailureDomains = []string{"zone-a"} }) // needs an order
	for range 4 {
		w.Expect(w.reconcileOnce()).To(MatchError(ContainSubstring("maintenance")))
	}
	w.Expect(w.deleting()).To(BeEmpty())
	w.Expect(w.get().Status.FailedReplacements.Count).To(BeZero())

	w.cloud.Heal(fake.CallEnsurePool)
	w.reconciles()
	w.Expect(w.deleting()).To(HaveLen(1))
	w.Expect(w.get().Status.FailedReplacements.Count).To(BeEquivalentTo(1))
}

// The count of consecutive failures must survive the loss of the status, as in a move to another
// management cluster.
func TestFailuresSurviveTheLossOfTheStatus(t *testing.T) {
	w := newWorld(t, 1, infrav1.FooMachinePoolStrategy{})
	w.reconciles()
	w.addMachines()
	w.cloud.SetBootstrap(w.instances()[0].Name, cloud.Bootstrap{State: cloud.BootstrapFailed, Message: "kubeadm join: exit code 1"})
	w.reconciles()
	w.Expect(w.get().Status.FailedReplacements.Count).To(BeEquivalentTo(1))
	pool := w.get()
	pool.Status = infrav1.FooMachinePoolStatus{}
	w.Expect(w.kube.Status().Update(w.ctx, pool)).To(Succeed())
	w.restart()
	w.reconciles()
	w.Expect(w.get().Status.FailedReplacements.Count).To(BeEquivalentTo(1))
}

// Nobody else deletes the Machine of a FooMachine that was deleted by hand, whether or not Cluster
// API had seen the FooMachine ready.
func TestMachineOfAFooMachineDeletedByHand(t *testing.T) {
	for _, reason := range []string{clusterv1.MachineInfrastructureDeletedReason, clusterv1.MachineInfrastructureDoesNotExistReason} {
		t.Run(reason, func(t *testing.T) {
			w := newWorld(t, 3, infrav1.FooMachinePoolStrategy{})
			w.settles()
			name := w.instances()[0].Hostname
			w.end(name)
			machine := w.machine(name)
			conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineInfrastructureReadyCondition, Status: metav1.ConditionFalse, Reason: reason})
			w.Expect(w.kube.Status().Update(w.ctx, machine)).To(Succeed())
			w.reconciles()
			w.Expect(w.deleting()).To(ConsistOf(name))
		})
	}
}

// A Node that cannot be drained must not block the repair of all others forever, and the pool must
// name it.
func TestAStuckDrainDoesNotStopRepair(t *testing.T) {
	w := newWorld(t, 4, infrav1.FooMachinePoolStrategy{})
	w.settles()
	all := w.instances()
	w.Expect(w.kube.Delete(w.ctx, w.machine(all[0].Hostname))).To(Succeed())
	w.settles() // its replacement is available
	w.Expect(w.cloud.StopInstance(all[1].Name, "out of memory")).To(BeTrue())
	w.reconciles()
	w.Expect(w.deleting()).To(ConsistOf(all[0].Hostname), "one at a time, while the drain may still end")

	w.clock.SetTime(w.clock.Now().Add(11 * time.Minute))
	w.reconciles()
	w.Expect(w.deleting()).To(ConsistOf(all[0].Hostname, all[1].Hostname))
	stalled := w.condition(infrav1.FooMachinePoolStalledCondition)
	w.Expect(stalled.Status).To(Equal(metav1.ConditionTrue))
	w.Expect(stalled.Reason).To(Equal("MachineDeletionStuck"))
	w.Expect(stalled.Message).To(ContainSubstring(all[0].Hostname))
}

// If the instances are gone, there is nothing left to disrupt.
func TestAllLostMachinesAreReplacedAtOnce(t *testing.T) {
	w := newWorld(t, 3, infrav1.FooMachinePoolStrategy{})
	w.settles()
	for _, instance := range w.instances() {
		w.Expect(w.cloud.LoseInstance(instance.Name)).To(BeTrue())
	}
	w.reconciles()
	w.Expect(w.deleting()).To(HaveLen(3))
}

// New Nodes that join but never become available block a rollout, and the pool must report it.
func TestARolloutWhoseNodesAreNotAvailableStalls(t *testing.T) {
	w := newWorld(t, 2, infrav1.FooMachinePoolStrategy{})
	w.settles()
	before := map[string]bool{}
	for _, machine := range w.machines() {
		before[machine.Name] = true
	}
	w.change(func(m *clusterv1.MachinePool) { m.Spec.Template.Spec.Version = "v1.35.4" })
	w.reconciles()
	w.addMachines()
	stuck := ""
	for _, machine := range w.machines() {
		if !before[machine.Name] {
			stuck = machine.Name
			w.cloud.SetBootstrap("ns."+stuck, cloud.Bootstrap{State: cloud.BootstrapSucceeded})
			w.setNode(stuck, metav1.ConditionFalse)
		}
	}
	w.reconciles()
	w.Expect(w.condition(infrav1.FooMachinePoolStalledCondition).Status).To(Equal(metav1.ConditionFalse))
	w.clock.SetTime(w.clock.Now().Add(11 * time.Minute))
	w.reconciles()
	stalled := w.condition(infrav1.FooMachinePoolStalledCondition)
	w.Expect(stalled.Status).To(Equal(metav1.ConditionTrue))
	w.Expect(stalled.Reason).To(Equal("NodesNotAvailable"))
	w.Expect(stalled.Message).To(ContainSubstring(stuck))
}

// While an instance has no Machine, nothing is removed, and the pool must report what it waits for.
func TestScaleDownSaysThatItWaitsForAMachine(t *testing.T) {
	w := newWorld(t, 3, infrav1.FooMachinePoolStrategy{})
	w.reconciles()
	w.addMachines()
	late := w.machines()[1]
	late.Finalizers = nil
	w.Expect(w.kube.Update(w.ctx, &late)).To(Succeed())
	w.Expect(w.kube.Delete(w.ctx, &late)).To(Succeed())
	w.change(func(m *clusterv1.MachinePool) { m.Spec.Replicas = ptr.To[int32](1) })
	w.reconciles()
	w.Expect(w.deleting()).To(BeEmpty())
	down := w.condition(infrav1.FooMachinePoolScalingDownCondition)
	w.Expect(down.Status).To(Equal(metav1.ConditionTrue))
	w.Expect(down.Message).To(And(ContainSubstring("waiting"), ContainSubstring(late.Name)))
}

// A status must not look outdated because the same reconcile wrote the spec.
func TestObservedGenerationFollowsTheListOfProviderIDs(t *testing.T) {
	w := newWorld(t, 3, infrav1.FooMachinePoolStrategy{})
	w.calls.Patch = func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
		before := len(w.get().Spec.ProviderIDList)
		if err := c.Patch(ctx, object, patch, options...); err != nil {
			return err
		}
		if pool := w.get(); len(pool.Spec.ProviderIDList) != before { // as the API server does
			pool.Generation++
			w.Expect(c.Update(ctx, pool)).To(Succeed())
			object.SetGeneration(pool.Generation)
			object.SetResourceVersion(pool.ResourceVersion)
		}
		return nil
	}
	for range 6 {
		w.Expect(w.reconcileOnce()).To(Succeed())
		if pool := w.get(); pool.Status.ObservedGeneration != 0 {
			w.Expect(pool.Status.ObservedGeneration).To(Equal(pool.Generation))
		}
	}
	w.Expect(w.get().Generation).To(BeEquivalentTo(2))
	for _, c := range w.get().Status.Conditions {
		w.Expect(c.ObservedGeneration).To(BeEquivalentTo(2), c.Type)
	}
}

// Nodes are drained and a pause is respected even if the MachinePool is already gone.
func TestAPoolWithoutItsMachinePool(t *testing.T) {
	w := newWorld(t, 2, infrav1.FooMachinePoolStrategy{})
	w.settles()
	machinePool := &clusterv1.MachinePool{}
	w.Expect(w.kube.Get(w.ctx, w.key, machinePool)).To(Succeed())
	machinePool.Finalizers = nil
	w.Expect(w.kube.Update(w.ctx, machinePool)).To(Succeed())
	w.Expect(client.IgnoreNotFound(w.kube.Delete(w.ctx, machinePool))).To(Succeed())
	pause := func(paused bool) {
		cluster := &clusterv1.Cluster{}
		w.Expect(w.kube.Get(w.ctx, client.ObjectKey{Namespace: "ns", Name: "one"}, cluster)).To(Succeed())
		cluster.Spec.Paused = ptr.To(paused)
		w.Expect(w.kube.Update(w.ctx, cluster)).To(Succeed())
	}
	pause(true)
	w.Expect(w.kube.Delete(w.ctx, w.get())).To(Succeed())
	w.reconciles()
	w.Expect(w.deleting()).To(BeEmpty(), "the Cluster is paused")
	pause(false)
	w.reconciles()
	w.Expect(w.deleting()).To(HaveLen(2))
	w.Expect(w.instances()).To(HaveLen(2), "Cluster API drains their Nodes")
	for _, name := range w.deleting() {
		w.end(name)
	}
	w.reconciles()
	w.Expect(client.IgnoreNotFound(w.kube.Get(w.ctx, w.key, &infrav1.FooMachinePool{}))).To(Succeed())
	w.Expect(w.instances()).To(BeEmpty())
}

// The pool reports why the cloud refuses its first order.
func TestAPoolThatTheCloudNeverTakes(t *testing.T) {
	w := newWorld(t, 2, infrav1.FooMachinePoolStrategy{})
	w.cloud.Fail(fake.CallEnsurePool, &cloud.InvalidError{Field: "type", Value: "huge", Problem: "is no instance type"})
	for range 4 {
		_ = w.reconcileOnce()
	}
	c := w.condition(infrav1.FooMachinePoolPoolProvisionedCondition)
	w.Expect(c.Reason).To(Equal(infrav1.CloudInvalidReason))
	w.Expect(c.Message).To(ContainSubstring("huge"))
}

// A size that is too small because the pool has just grown is decided again, and is not an error.
func TestASizeThatThePoolHasOutgrown(t *testing.T) {
	w := newWorld(t, 2, infrav1.FooMachinePoolStrategy{})
	w.settles()
	w.cloud.Fail(fake.CallScalePool, &cloud.InvalidError{Field: "size", Value: "3", Problem: "the pool has 4 instances"})
	w.change(func(m *clusterv1.MachinePool) { m.Spec.Replicas = ptr.To[int32](3) })
	w.Expect(w.reconcileOnce()).To(Succeed())
	w.Expect(w.result.RequeueAfter).To(Equal(rereadAfter))
	w.Expect(w.condition(infrav1.FooMachinePoolPoolProvisionedCondition).Status).To(Equal(metav1.ConditionTrue))
}

// One rejected object must not keep the rest of the pool from being reported, and the write must
// not be tried for each member.
func TestARefusedObjectDoesNotSilenceThePool(t *testing.T) {
	w := newWorld(t, 10, infrav1.FooMachinePoolStrategy{})
	refused := 0
	w.calls.Create = func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
		refused++
		return errors.New("denied by a policy")
	}
	for range 4 {
		_ = w.reconcileOnce()
	}
	refused = 0
	w.Expect(w.reconcileOnce()).To(MatchError(ContainSubstring("denied by a policy")))
	w.Expect(refused).To(Equal(maxRefused))
	w.Expect(w.get().Spec.ProviderIDList).To(HaveLen(10))
	w.Expect(w.get().Status.Replicas).To(HaveValue(BeEquivalentTo(10)))
}

// A refusal that lasts is written and reported once, however often the order is retried.
func TestALastingRefusalIsWrittenOnce(t *testing.T) {
	w := newWorld(t, 2, infrav1.FooMachinePoolStrategy{})
	w.settles()
	recorder := events.NewFakeRecorder(100)
	w.r.reporter.Recorder = recorder
	writes := 0
	w.calls.Patch = func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
		writes++
		return c.Patch(ctx, object, patch, options...)
	}
	w.cloud.Fail(fake.CallScalePool, &cloud.QuotaExceededError{Resource: "instances", Limit: 2, Used: 2, Requested: 1})
	w.change(func(m *clusterv1.MachinePool) { m.Spec.Replicas = ptr.To[int32](3) })
	for range 10 {
		w.Expect(w.reconcileOnce()).To(Succeed())
	}
	w.Expect(w.condition(infrav1.FooMachinePoolPoolProvisionedCondition).Reason).To(Equal(infrav1.CloudQuotaExceededReason))
	w.Expect(writes).To(BeNumerically("<=", 2), "one for a condition and one for the rest of the status")
	w.Expect(recorder.Events).To(HaveLen(2), "one for the scale up and one for the refusal")
}

// A pool of a cluster whose identity is misspelt has nothing in the cloud, so nothing keeps it from
// being deleted.
func TestPoolUnderAMisspeltIdentity(t *testing.T) {
	w := newWorld(t, 1, infrav1.FooMachinePoolStrategy{})
	w.r.clouds = cloudidentity.NewResolver(cloudidentity.Options{Client: w.kube, Secrets: w.kube, Default: w.cloud})
	fooCluster := &infrav1.FooCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "one"}}
	fooCluster.Spec.IdentityRef.Name = "misspelt"
	w.Expect(w.kube.Create(w.ctx, fooCluster)).To(Succeed())
	for range 3 {
		_ = w.reconcileOnce()
	}
	w.Expect(w.condition(infrav1.FooMachinePoolPoolProvisionedCondition).Message).To(ContainSubstring("misspelt"))
	w.Expect(w.get().Finalizers).To(BeEmpty())
}

// A cache may show the FooMachinePool once more after its finalizer was removed.
func TestAPoolThatIsGoneIsNoError(t *testing.T) {
	w := newWorld(t, 0, infrav1.FooMachinePoolStrategy{})
	w.reconciles()
	w.Expect(w.kube.Delete(w.ctx, w.get())).To(Succeed())
	seen := w.get()
	w.reconciles()
	stale := true
	w.calls.Get = func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
		if pool, ok := object.(*infrav1.FooMachinePool); ok && stale {
			stale = false
			seen.DeepCopyInto(pool)
			return nil
		}
		return c.Get(ctx, key, object, options...)
	}
	w.Expect(w.reconcileOnce()).To(Succeed())
	err := w.kube.Get(w.ctx, w.key, &infrav1.FooMachinePool{})
	w.Expect(client.IgnoreNotFound(err)).To(Succeed())
	w.Expect(err).To(HaveOccurred())
}

// Reconciling a settled pool must not ask the API server for its Secret.
func TestASettledPoolReadsNoSecret(t *testing.T) {
	w := newWorld(t, 2, infrav1.FooMachinePoolStrategy{})
	w.settles()
	reads := 0
	w.calls.Get = func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
		_, secret := object.(*corev1.Secret)
		_, metadata := object.(*metav1.PartialObjectMetadata)
		if secret || metadata {
			reads++
		}
		return c.Get(ctx, key, object, options...)
	}
	w.reconciles()
	w.Expect(reads).To(BeZero())
}

// A size that has changed since it was read must not be overwritten: the cloud would create
// instances that nobody asked for.
func TestASizeThatChangedIsNotOverwritten(t *testing.T) {
	w := newWorld(t, 2, infrav1.FooMachinePoolStrategy{})
	w.settles()
	first := w.instances()[0]
	w.change(func(m *clusterv1.MachinePool) { m.Spec.Replicas = ptr.To[int32](3) })
	deleted := false
	w.calls.Get = func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
		// This is after the pool was read and before it is scaled.
		if _, metadata := object.(*metav1.PartialObjectMetadata); metadata && !deleted {
			deleted = true
			w.Expect(w.cloud.DeleteInstance(ctx, first.ID)).To(Succeed())
		}
		return c.Get(ctx, key, object, options...)
	}
	w.r.secrets = w.r.client
	w.Expect(w.reconcileOnce()).To(Succeed())
	w.Expect(w.result.RequeueAfter).To(Equal(rereadAfter))
	w.Expect(w.instances()).To(HaveLen(1))
	w.reconciles()
	w.Expect(w.instances()).To(HaveLen(3))
}

// An order that is refused for lack of quota must not stop the repair, which makes room.
func TestRepairWithoutRoomForOneMore(t *testing.T) {
	w := newWorld(t, 2, infrav1.FooMachinePoolStrategy{})
	w.settles()
	stopped := w.instances()[0]
	w.cloud.Fail(fake.CallScalePool, &cloud.QuotaExceededError{Resource: "instances", Limit: 2, Used: 2, Requested: 1})
	w.Expect(w.cloud.StopInstance(stopped.Name, "out of memory")).To(BeTrue())
	w.reconciles()
	w.Expect(w.deleting()).To(ConsistOf(stopped.Hostname))
	w.Expect(w.condition(infrav1.FooMachinePoolPoolProvisionedCondition).Reason).To(Equal(infrav1.CloudQuotaExceededReason))
}

// An upgrade of the cloud may drop the pool's version. Its bootstrap token is still renewed, and a newer
// bootstrap provider may write the data differently. Neither must stop scaling down and repair.
func TestAPoolWhoseImageIsLost(t *testing.T) {
	otherwise := func(join *bootstrapv1.JoinConfiguration) { join.NodeRegistration.Name = "other" }
	for name, test := range map[string]struct {
		replicas int32
		stops    bool
		change   func(join *bootstrapv1.JoinConfiguration)
	}{
		"scale down": {replicas: 1}, "repair": {replicas: 2, stops: true},
		"scale down with other data": {replicas: 1, change: otherwise}, "repair with other data": {replicas: 2, stops: true, change: otherwise},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2, infrav1.FooMachinePoolStrategy{})
			render := func(token string, change func(join *bootstrapv1.JoinConfiguration)) {
				secret := infratest.NewSecret("ns", "workers", string(rendered(t, token, change)))
				w.Expect(w.kube.Update(w.ctx, secret)).To(Succeed())
			}
			render("abcdef.0123456789abcdef", nil)
			w.settles()
			w.cloud.SetImages([]cloud.Image{{KubernetesVersion: "v1.37.0"}})
			render("fedcba.0123456789abcdef", test.change)
			if test.stops {
				w.Expect(w.cloud.StopInstance(w.instances()[0].Name, "out of memory")).To(BeTrue())
			}
			w.change(func(m *clusterv1.MachinePool) { m.Spec.Replicas = &test.replicas })
			w.reconciles()
			w.Expect(w.deleting()).To(HaveLen(1))
		})
	}
}

// A rollout must not move the pool into one zone: the cloud creates each instance in the zone with
// the fewest, whatever their revision.
func TestARolloutStaysSpread(t *testing.T) {
	w := newWorld(t, 4, infrav1.FooMachinePoolStrategy{})
	w.change(func(m *clusterv1.MachinePool) { m.Spec.FailureDomains = []string{"zone-b", "zone-a"} })
	w.settles()
	w.change(func(m *clusterv1.MachinePool) { m.Spec.Template.Spec.Version = "v1.35.4" })
	for range 5 {
		w.settles()
		for _, name := range w.deleting() {
			machine := w.machine(name)
			machine.Finalizers = nil
			w.Expect(w.kube.Update(w.ctx, machine)).To(Succeed())
			for _, instance := range w.instances() {
				if instance.Hostname == name {
					w.Expect(w.cloud.DeleteInstance(w.ctx, instance.ID)).To(Succeed())
				}
			}
			w.end(name)
		}
	}
	zones := map[string]int{}
	for _, instance := range w.instances() {
		w.Expect(instance.KubernetesVersion).To(Equal("v1.35.4"))
		zones[instance.Zone]++
	}
	w.Expect(zones).To(Equal(map[string]int{"zone-a": 2, "zone-b": 2}))
}
