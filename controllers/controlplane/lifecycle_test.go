//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

// removeOne plays Cluster API for the one Machine that is being deleted: it drains the Machine,
// waits until the hook is removed and removes the finalizers.
func (f *fixture) removeOne(ctx context.Context) {
	GinkgoHelper()
	machine := f.drainOne(ctx)
	Expect(workloads.calls(f.key())).To(ContainElement("remove "+machine.Name), "the member leaves before the hook is removed")
	f.dismiss(ctx, machine)
}

// drainOne plays Cluster API's drain of the one Machine that is being deleted, and returns the
// Machine once its hook is removed.
func (f *fixture) drainOne(ctx context.Context) *clusterv1.Machine {
	GinkgoHelper()
	deleting := func() []clusterv1.Machine {
		return slices.DeleteFunc(f.machines(ctx), func(machine clusterv1.Machine) bool { return machine.DeletionTimestamp.IsZero() })
	}
	Eventually(deleting).Should(HaveLen(1))
	machine := deleting()[0]
	Consistently(func() []string { return workloads.calls(f.key()) }).ShouldNot(ContainElement("remove "+machine.Name), "it is not drained yet")
	update(ctx, &machine, func() {
		conditions.Set(&machine, metav1.Condition{
			Type: clusterv1.MachineDeletingCondition, Status: metav1.ConditionTrue, Reason: clusterv1.MachineDeletingWaitingForPreTerminateHookReason,
		})
	})
	Eventually(func(g Gomega) {
		g.Expect(c.Get(ctx, client.ObjectKeyFromObject(&machine), &machine)).To(Succeed())
		g.Expect(machine.Annotations).NotTo(HaveKey(controlplanev1.PreTerminateHookCleanupAnnotation))
	}).Should(Succeed())
	return &machine
}

// dismiss removes the finalizers of a Machine that is being deleted.
func (f *fixture) dismiss(ctx context.Context, machine *clusterv1.Machine) {
	GinkgoHelper()
	update(ctx, machine, func() { machine.Labels["gone"] = "soon" })
	release(ctx, machine)
}

// release removes all finalizers of an object that is being deleted.
func release(ctx context.Context, object client.Object) {
	GinkgoHelper()
	before := object.DeepCopyObject().(client.Object)
	object.SetFinalizers(nil)
	Expect(client.IgnoreNotFound(c.Patch(ctx, object, client.MergeFrom(before)))).To(Succeed())
}

var _ = Describe("Life", func() {
	It("does nothing while paused, and says so", func(ctx SpecContext) {
		f := newFixture(ctx, func(f *fixture) { f.cluster.Spec.Paused = ptr.To(true) })
		Eventually(f.condition(ctx, clusterv1.PausedCondition)).Should(HavePrefix("True"))
		f.nameEndpoint(ctx)
		Consistently(func() bool { _, err := f.secret(ctx, "-ca")(); return apierrors.IsNotFound(err) }).Should(BeTrue())
		update(ctx, f.cluster, func() { f.cluster.Spec.Paused = ptr.To(false) })
		Eventually(f.secret(ctx, "-kubeconfig")).ShouldNot(BeNil())
		Eventually(f.condition(ctx, clusterv1.PausedCondition)).Should(HavePrefix("False"))
	})

	It("does nothing while paused by annotation", func(ctx SpecContext) {
		f := newFixture(ctx, func(f *fixture) {
			f.controlPlane.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
		})
		Eventually(f.condition(ctx, clusterv1.PausedCondition)).Should(HavePrefix("True"))
		Consistently(func() bool { _, err := f.secret(ctx, "-ca")(); return apierrors.IsNotFound(err) }).Should(BeTrue())
	})

	It("leaves alone what another manager watches", func(ctx SpecContext) {
		f := newFixture(ctx, func(f *fixture) { f.controlPlane.Labels = map[string]string{clusterv1.WatchLabel: "others"} })
		f.provision(ctx)
		Consistently(func() []string { return f.get(ctx).Finalizers }).Should(BeEmpty())
		Expect(f.get(ctx).Status.Conditions).To(BeEmpty())
	})

	It("deletes Machines only after the workers, and itself last", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.provision(ctx)
		f.initialize(ctx)
		pool := &clusterv1.MachinePool{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: f.cluster.Namespace, Name: "workers",
				Labels: map[string]string{clusterv1.ClusterNameLabel: f.cluster.Name}, Finalizers: []string{"test.example.com/pool"},
			},
			Spec: clusterv1.MachinePoolSpec{ClusterName: f.cluster.Name, Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
				ClusterName: f.cluster.Name,
				Bootstrap:   clusterv1.Bootstrap{DataSecretName: ptr.To("none")},
				InfrastructureRef: clusterv1.ContractVersionedObjectReference{
					APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "FooMachinePool", Name: "workers",
				},
			}}},
		}
		Expect(c.Create(ctx, pool)).To(Succeed())
		seen(ctx, pool)
		machine := f.machines(ctx)[0]
		update(ctx, &machine, func() { machine.Finalizers = []string{"test.example.com/machine"} })

		Expect(c.Delete(ctx, f.controlPlane)).To(Succeed())
		Eventually(f.condition(ctx, controlplanev1.DeletingCondition)).Should(And(
			HavePrefix("True "+controlplanev1.DeletingWaitingForWorkersDeletionReason), ContainSubstring("MachinePool workers")))
		Expect(f.machines(ctx)[0].DeletionTimestamp).To(BeNil())
		Eventually(f.condition(ctx, controlplanev1.EtcdClusterHealthyCondition)).Should(HavePrefix("True"), "it is still observed")

		Expect(c.Delete(ctx, pool)).To(Succeed())
		release(ctx, pool)
		Eventually(func(g Gomega) {
			g.Expect(c.Get(ctx, client.ObjectKeyFromObject(&machine), &machine)).To(Succeed())
			g.Expect(machine.DeletionTimestamp).NotTo(BeNil())
			g.Expect(machine.Annotations).NotTo(HaveKey(controlplanev1.PreTerminateHookCleanupAnnotation))
		}).Should(Succeed())
		Eventually(f.condition(ctx, controlplanev1.DeletingCondition)).Should(HavePrefix("True " + controlplanev1.DeletingWaitingForMachineDeletionReason))

		release(ctx, &machine)
		Eventually(func() bool {
			return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(f.controlPlane), f.controlPlane))
		}).Should(BeTrue())
	})

	It("deletes its Machines and itself also after its Cluster", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.provision(ctx)
		f.initialize(ctx)
		Expect(c.Delete(ctx, f.cluster)).To(Succeed())
		seen(ctx, f.cluster)
		Expect(c.Delete(ctx, f.controlPlane)).To(Succeed())
		Eventually(func() bool {
			return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(f.controlPlane), f.controlPlane))
		}).Should(BeTrue())
		Expect(f.machines(ctx)).To(BeEmpty())
	})

	It("writes nothing once it is settled", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.provision(ctx)
		f.initialize(ctx)
		Eventually(f.condition(ctx, controlplanev1.AvailableCondition)).Should(HavePrefix("True"))
		envtestenv.EventuallyRests(func() [2]string {
			return [2]string{f.get(ctx).ResourceVersion, f.machines(ctx)[0].ResourceVersion}
		}, 4*time.Second)
	})
})
