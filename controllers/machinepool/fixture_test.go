//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

// userData returns bootstrap data with a token, which may be renewed, and a command to run.
func userData(token, command string) string {
	return "#cloud-config\nruncmd: [" + command + "]\nwrite_files:\n- content: |\n    discovery:\n      bootstrapToken:\n        token: " + token + "\n"
}

// stepTime is how long a story waits between two steps.
const stepTime = 20 * time.Millisecond

// story is one pool. It plays the controllers of Cluster API and of FooMachines.
type story struct {
	ctx         context.Context
	namespace   string
	cluster     *clusterv1.Cluster
	machinePool *clusterv1.MachinePool
	pool        *infrav1.FooMachinePool

	// fails reports whether an instance fails to boot; nil if none does.
	fails func(i cloud.Instance) bool
	// failure is the bootstrap result of instances that fail.
	failure cloud.Bootstrap
	// held names the Machine whose Node takes long to drain; empty if there is none.
	held string
	// drained names the deleted Machines, in order.
	drained []string
	// fewest is the lowest number of available Machines, and most the highest number of instances,
	// since the last watch.
	fewest, most int
}

func newStory(replicas int32, strategy infrav1.FooMachinePoolStrategy) *story {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	DeferCleanup(cancel)
	suite.Cloud.SetMode(fake.Instant)
	namespace, err := suite.Namespace(ctx)
	Expect(err).NotTo(HaveOccurred())
	s := &story{ctx: ctx, namespace: namespace, cluster: infratest.NewCluster(namespace, "one")}
	Expect(suite.Client.Create(ctx, s.cluster)).To(Succeed())
	Expect(suite.SetInfrastructureProvisioned(ctx, s.cluster)).To(Succeed())
	Expect(suite.Client.Create(ctx, infratest.NewSecret(namespace, "workers", userData("abcdef.0123456789abcdef", "a")))).To(Succeed())
	s.machinePool = infratest.NewMachinePool(s.cluster, "workers", replicas)
	Expect(suite.Client.Create(ctx, s.machinePool)).To(Succeed())
	s.pool = infratest.NewFooMachinePool(s.machinePool)
	s.pool.Spec.Strategy = strategy
	Expect(suite.Client.Create(ctx, s.pool)).To(Succeed())
	return s
}

func (s *story) cloudName() string { return s.namespace + ".workers" }

func (s *story) get(g Gomega) *infrav1.FooMachinePool {
	current := &infrav1.FooMachinePool{}
	g.Expect(suite.Client.Get(s.ctx, client.ObjectKeyFromObject(s.pool), current)).To(Succeed())
	return current
}

func (s *story) instances(g Gomega) []cloud.Instance {
	all, err := suite.Cloud.ListInstances(s.ctx, cloud.InstanceFilter{Pool: s.cloudName()})
	g.Expect(err).NotTo(HaveOccurred())
	return all
}

func (s *story) machines(g Gomega) []clusterv1.Machine {
	list := &clusterv1.MachineList{}
	g.Expect(suite.Client.List(s.ctx, list, client.InNamespace(s.namespace))).To(Succeed())
	return list.Items
}

func (s *story) fooMachines(g Gomega) []infrav1.FooMachine {
	list := &infrav1.FooMachineList{}
	g.Expect(suite.Client.List(s.ctx, list, client.InNamespace(s.namespace))).To(Succeed())
	return list.Items
}

// change changes the MachinePool.
func (s *story) change(how func(m *clusterv1.MachinePool)) {
	GinkgoHelper()
	Expect(suite.Client.Get(s.ctx, client.ObjectKeyFromObject(s.machinePool), s.machinePool)).To(Succeed())
	before := s.machinePool.DeepCopy()
	how(s.machinePool)
	Expect(suite.Client.Patch(s.ctx, s.machinePool, client.MergeFrom(before))).To(Succeed())
}

// changeCluster changes the status of the Cluster.
func (s *story) changeCluster(how func(c *clusterv1.Cluster)) {
	GinkgoHelper()
	Expect(suite.Client.Get(s.ctx, client.ObjectKeyFromObject(s.cluster), s.cluster)).To(Succeed())
	before := s.cluster.DeepCopy()
	how(s.cluster)
	Expect(suite.Client.Status().Patch(s.ctx, s.cluster, client.MergeFrom(before))).To(Succeed())
}

// changePool changes the FooMachinePool.
func (s *story) changePool(how func(p *infrav1.FooMachinePool)) {
	GinkgoHelper()
	current := s.get(Default)
	before := current.DeepCopy()
	how(current)
	Expect(suite.Client.Patch(s.ctx, current, client.MergeFrom(before))).To(Succeed())
}

// step plays everybody else's next step for every Machine: it boots instances, creates Machines,
// lets Nodes join, and finishes the deletion of one Machine.
func (s *story) step(g Gomega) {
	instances := map[string]cloud.Instance{}
	for _, i := range s.instances(g) {
		if i.State == cloud.InstanceRunning && i.Bootstrap.State == cloud.BootstrapPending {
			i.Bootstrap = cloud.Bootstrap{State: cloud.BootstrapSucceeded}
			if s.fails != nil && s.fails(i) {
				i.Bootstrap = s.failure
			}
			suite.Cloud.SetBootstrap(i.Name, i.Bootstrap)
		}
		instances[i.Hostname] = i
	}
	machines := map[string]clusterv1.Machine{}
	available := 0
	for _, m := range s.machines(g) {
		machines[m.Name] = m
		if m.DeletionTimestamp.IsZero() && conditions.IsTrue(&m, clusterv1.MachineAvailableCondition) {
			available++
		}
	}
	s.fewest, s.most = min(s.fewest, available), max(s.most, len(instances))
	ended := false
	fooMachines := s.fooMachines(g)
	for _, m := range machines {
		s.missFooMachine(g, &m, fooMachines)
	}
	for _, fooMachine := range fooMachines {
		machine, ok := machines[fooMachine.Name]
		instance, there := instances[fooMachine.Name]
		switch {
		case !ok && fooMachine.DeletionTimestamp.IsZero():
			_, err := suite.CreateMachineFor(s.ctx, s.cluster, &fooMachine)
			g.Expect(err).NotTo(HaveOccurred())
		case ok && !machine.DeletionTimestamp.IsZero() && !ended && machine.Name != s.held:
			ended = true
			s.end(g, &machine, &fooMachine)
		case ok && there && instance.Bootstrap.State == cloud.BootstrapSucceeded && !machine.Status.NodeRef.IsDefined():
			g.Expect(suite.SetMachineAvailable(s.ctx, &machine, metav1.ConditionTrue)).To(Succeed())
		}
	}
}

// missFooMachine reports a missing FooMachine as Cluster API does: the reason depends on whether
// Cluster API had seen it provisioned.
func (s *story) missFooMachine(g Gomega, machine *clusterv1.Machine, fooMachines []infrav1.FooMachine) {
	if !machine.DeletionTimestamp.IsZero() || slices.ContainsFunc(fooMachines, func(f infrav1.FooMachine) bool { return f.Name == machine.Name }) {
		return
	}
	reason := clusterv1.MachineInfrastructureDoesNotExistReason
	if ptr.Deref(machine.Status.Initialization.InfrastructureProvisioned, false) {
		reason = clusterv1.MachineInfrastructureDeletedReason
	}
	before := machine.DeepCopy()
	conditions.Set(machine, metav1.Condition{
		Type: clusterv1.MachineInfrastructureReadyCondition, Status: metav1.ConditionFalse, Reason: reason,
	})
	g.Expect(suite.Client.Status().Patch(s.ctx, machine, client.MergeFrom(before))).To(Succeed())
}

// end drains a Machine, and then plays the controllers of Machine and FooMachine.
func (s *story) end(g Gomega, machine *clusterv1.Machine, fooMachine *infrav1.FooMachine) {
	id, err := cloud.InstanceID(fooMachine.Spec.ProviderID)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(suite.Client.Delete(s.ctx, fooMachine)).To(Succeed())
	g.Expect(suite.Cloud.DeleteInstance(s.ctx, id)).To(Or(Succeed(), MatchError(cloud.IsNotFound, "not found")))
	s.drained = append(s.drained, machine.Name)
	noFinalizers := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	for _, object := range []client.Object{machine, fooMachine} {
		g.Expect(client.IgnoreNotFound(suite.Client.Patch(s.ctx, object, noFinalizers))).To(Succeed())
	}
}

// watch starts watching the budget.
func (s *story) watch() {
	s.fewest, s.most = 1000, 0
	s.drained = nil
}

// settles steps until the pool has this many instances, all available and of the current revision.
func (s *story) settles(replicas int) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		s.step(g)
		pool := s.get(g)
		g.Expect(pool.Status.ObservedGeneration).To(Equal(pool.Generation))
		instances := s.instances(g)
		g.Expect(instances).To(HaveLen(replicas))
		for _, i := range instances { // the status does not tell whether a change of the MachinePool was seen
			g.Expect(i.KubernetesVersion).To(Equal(s.machinePool.Spec.Template.Spec.Version))
		}
		g.Expect(pool.Spec.ProviderIDList).To(HaveLen(replicas))
		g.Expect(pool.Status.Replicas).To(HaveValue(BeEquivalentTo(replicas)))
		g.Expect(pool.Status.UpdatedReplicas).To(HaveValue(BeEquivalentTo(replicas)))
		g.Expect(pool.Status.AvailableReplicas).To(HaveValue(BeEquivalentTo(replicas)))
		g.Expect(s.machines(g)).To(HaveLen(replicas))
		g.Expect(conditions.IsFalse(pool, infrav1.FooMachinePoolRollingOutCondition)).To(BeTrue())
	}).WithPolling(stepTime).Should(Succeed(), "the pool settles")
}

// has steps until the pool has a condition, and returns its message. The condition must be one that
// lasts.
func (s *story) has(kind string, status metav1.ConditionStatus, reason string) string {
	GinkgoHelper()
	return s.comesTo(s.step, metav1.Condition{Type: kind, Status: status, Reason: reason})
}

// shows waits without stepping until the pool has a condition, and returns its message.
func (s *story) shows(kind string, status metav1.ConditionStatus, reason string) string {
	GinkgoHelper()
	return s.comesTo(func(Gomega) {}, metav1.Condition{Type: kind, Status: status, Reason: reason})
}

func (s *story) comesTo(meanwhile func(Gomega), want metav1.Condition) string {
	GinkgoHelper()
	message := ""
	Eventually(func(g Gomega) {
		meanwhile(g)
		c := conditions.Get(s.get(g), want.Type)
		g.Expect(c).NotTo(BeNil())
		g.Expect(c.Status).To(Equal(want.Status), c.Message)
		g.Expect(c.Reason).To(Equal(want.Reason), c.Message)
		message = c.Message
	}).WithPolling(stepTime).Should(Succeed(), "the controller reports the condition")
	return message
}

// stays steps for a while and expects that no Machine is deleted.
func (s *story) stays() {
	GinkgoHelper()
	before := len(s.drained)
	Consistently(func(g Gomega) {
		s.step(g)
		g.Expect(s.drained).To(HaveLen(before))
		for _, machine := range s.machines(g) {
			g.Expect(machine.DeletionTimestamp.IsZero()).To(BeTrue())
		}
	}, "1s", "50ms").Should(Succeed(), "nothing is deleted")
}

func namesOfInstances(instances []cloud.Instance) []string {
	names := make([]string, 0, len(instances))
	for _, i := range instances {
		names = append(names, i.Name)
	}
	return names
}
