//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

// machineObjects returns the current Machine and the objects it refers to.
func (f *fixture) machineObjects(ctx context.Context) (*clusterv1.Machine, *bootstrapv1.KubeadmConfig, *unstructured.Unstructured) {
	GinkgoHelper()
	machine := f.machines(ctx)[0]
	config := &bootstrapv1.KubeadmConfig{}
	Expect(c.Get(ctx, client.ObjectKeyFromObject(&machine), config)).To(Succeed())
	infra := infraObject("FooMachine", machine.ObjectMeta)
	Expect(c.Get(ctx, client.ObjectKeyFromObject(&machine), infra)).To(Succeed())
	return &machine, config, infra
}

func (f *fixture) template2(ctx context.Context, change func(*controlplanev1.FooControlPlaneMachineTemplate)) {
	GinkgoHelper()
	update(ctx, f.controlPlane, func() { change(&f.controlPlane.Spec.MachineTemplate) })
}

var _ = Describe("Propagation in place", func() {
	It("takes labels and annotations to Machines and what they refer to, and takes them away again", func(ctx SpecContext) {
		f := newFixture(ctx, func(f *fixture) {
			f.controlPlane.Spec.MachineTemplate.ObjectMeta = clusterv1.ObjectMeta{
				Labels: map[string]string{"stays": "1", "changes": "1", "goes": "1"}, Annotations: map[string]string{"note-goes": "1"},
			}
		})
		f.provision(ctx)
		f.initialize(ctx)
		machine, config, infra := f.machineObjects(ctx)
		for _, object := range []client.Object{machine, config, infra} {
			before := object.DeepCopyObject().(client.Object)
			labels := object.GetLabels()
			labels["others"] = "1"
			object.SetLabels(labels)
			Expect(c.Patch(ctx, object, client.MergeFrom(before), client.FieldOwner("somebody"))).To(Succeed())
		}
		f.template2(ctx, func(template *controlplanev1.FooControlPlaneMachineTemplate) {
			template.ObjectMeta.Labels = map[string]string{"stays": "1", "changes": "2", "new": "1"}
			template.ObjectMeta.Annotations = map[string]string{"note-new": "1"}
		})
		Eventually(func(g Gomega) {
			machine, config, infra := f.machineObjects(ctx)
			for _, object := range []client.Object{machine, config, infra} {
				g.Expect(object.GetLabels()).To(And(
					HaveKeyWithValue("stays", "1"), HaveKeyWithValue("changes", "2"), HaveKeyWithValue("new", "1"), Not(HaveKey("goes")),
					HaveKeyWithValue("others", "1"), HaveKeyWithValue(clusterv1.ClusterNameLabel, f.cluster.Name),
					HaveKeyWithValue(clusterv1.MachineControlPlaneLabel, ""), HaveKeyWithValue(clusterv1.MachineControlPlaneNameLabel, f.controlPlane.Name),
				), "%T", object)
				g.Expect(object.GetAnnotations()).To(And(HaveKeyWithValue("note-new", "1"), Not(HaveKey("note-goes"))), "%T", object)
			}
			g.Expect(machine.Annotations).To(HaveKey(controlplanev1.PreTerminateHookCleanupAnnotation))
			g.Expect(infra.GetAnnotations()).To(HaveKey(clusterv1.TemplateClonedFromNameAnnotation))
		}).Should(Succeed())
		Expect(f.machines(ctx)).To(HaveLen(1))
		Expect(f.machines(ctx)[0].UID).To(Equal(machine.UID), "there is no rollout")
	})

	It("puts back what somebody else has changed", func(ctx SpecContext) {
		f := newFixture(ctx, func(f *fixture) {
			f.controlPlane.Spec.MachineTemplate.ObjectMeta.Labels = map[string]string{"team": "a"}
		})
		f.provision(ctx)
		f.initialize(ctx)
		machine, _, _ := f.machineObjects(ctx)
		update(ctx, machine, func() { machine.Labels["team"] = "b" })
		Eventually(func() map[string]string { return f.machines(ctx)[0].Labels }).Should(HaveKeyWithValue("team", "a"))
	})

	It("takes timeouts, readiness gates and taints to Machines, and takes them away again", func(ctx SpecContext) {
		f := newFixture(ctx, func(f *fixture) {
			spec := &f.controlPlane.Spec.MachineTemplate.Spec
			spec.Deletion.NodeDrainTimeoutSeconds = ptr.To[int32](5)
			spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "Goes"}}
			spec.Taints = []clusterv1.MachineTaint{{
				Key: "goes", Effect: corev1.TaintEffectNoSchedule, Propagation: clusterv1.MachineTaintPropagationAlways,
			}}
		})
		f.provision(ctx)
		f.initialize(ctx)
		first := f.machines(ctx)[0]
		Expect(first.Spec.ReadinessGates).To(ContainElement(HaveField("ConditionType", "Goes")))
		f.template2(ctx, func(template *controlplanev1.FooControlPlaneMachineTemplate) {
			template.Spec.Deletion = controlplanev1.FooControlPlaneMachineTemplateDeletionSpec{NodeVolumeDetachTimeoutSeconds: ptr.To[int32](6)}
			template.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "New"}}
			template.Spec.Taints = []clusterv1.MachineTaint{{
				Key: "new", Effect: corev1.TaintEffectNoExecute, Propagation: clusterv1.MachineTaintPropagationAlways,
			}}
		})
		Eventually(func(g Gomega) {
			spec := f.machines(ctx)[0].Spec
			g.Expect(spec.Deletion.NodeDrainTimeoutSeconds).To(BeNil())
			g.Expect(spec.Deletion.NodeVolumeDetachTimeoutSeconds).To(HaveValue(Equal(int32(6))))
			g.Expect(spec.ReadinessGates).To(And(
				ContainElements(HaveField("ConditionType", "New"), HaveField("ConditionType", controlplanev1.MachineEtcdMemberHealthyCondition)),
				Not(ContainElement(HaveField("ConditionType", "Goes"))),
			))
			g.Expect(spec.Taints).To(ConsistOf(HaveField("Key", "new")))
		}).Should(Succeed())
		Expect(f.machines(ctx)[0].UID).To(Equal(first.UID), "there is no rollout")
	})

	It("takes timeouts to a Machine that is being deleted, but no labels", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.provision(ctx)
		f.initialize(ctx)
		machine := f.machines(ctx)[0]
		update(ctx, &machine, func() { machine.Finalizers = []string{"test.example.com/machine"} })
		DeferCleanup(func(ctx SpecContext) { release(ctx, &machine) })
		Expect(c.Delete(ctx, &machine)).To(Succeed())
		seen(ctx, &machine)
		f.template2(ctx, func(template *controlplanev1.FooControlPlaneMachineTemplate) {
			template.ObjectMeta.Labels = map[string]string{"late": "1"}
			template.Spec.Deletion.NodeDrainTimeoutSeconds = ptr.To[int32](1)
		})
		Eventually(func() *int32 { return f.machines(ctx)[0].Spec.Deletion.NodeDrainTimeoutSeconds }).Should(HaveValue(Equal(int32(1))))
		Expect(f.machines(ctx)[0].Labels).NotTo(HaveKey("late"))
	})

	It("takes labels away that KubeadmControlPlane had set on Machines", func(ctx SpecContext) {
		f := newFixture(ctx, func(f *fixture) {
			f.controlPlane.Labels = map[string]string{clusterv1.WatchLabel: "later"}
			f.controlPlane.Spec.MachineTemplate.ObjectMeta.Labels = map[string]string{"team": "a"}
		})
		f.standalone(ctx, "old", "v1.36.3")
		machine, config, infra := f.machineObjects(ctx)
		for object, manager := range map[client.Object]string{
			machine: "capi-kubeadmcontrolplane", config: "capi-kubeadmcontrolplane-metadata", infra: "capi-kubeadmcontrolplane-metadata",
		} {
			kind, err := c.GroupVersionKindFor(object)
			Expect(err).NotTo(HaveOccurred())
			applied := &unstructured.Unstructured{}
			applied.SetGroupVersionKind(kind)
			applied.SetNamespace(object.GetNamespace())
			applied.SetName(object.GetName())
			applied.SetLabels(map[string]string{clusterv1.ClusterNameLabel: f.cluster.Name, "team": "a"})
			Expect(c.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(manager), client.ForceOwnership)).To(Succeed())
		}
		update(ctx, f.controlPlane, func() { f.controlPlane.Labels = map[string]string{clusterv1.WatchLabel: watchFilter} })
		Eventually(func(g Gomega) {
			machine, config, infra := f.machineObjects(ctx)
			for _, object := range []client.Object{machine, config, infra} {
				g.Expect(object.GetManagedFields()).To(And(ContainElement(HaveField("Manager", metadataManager)),
					Not(ContainElement(HaveField("Manager", HavePrefix("capi-kubeadmcontrolplane"))))), "%T", object)
			}
		}).Should(Succeed())
		f.template2(ctx, func(template *controlplanev1.FooControlPlaneMachineTemplate) { template.ObjectMeta.Labels = nil })
		Eventually(func(g Gomega) {
			machine, config, infra := f.machineObjects(ctx)
			for _, object := range []client.Object{machine, config, infra} {
				g.Expect(object.GetLabels()).NotTo(HaveKey("team"), "%T", object)
			}
		}).Should(Succeed())
	})

	It("has one field manager for each concern, and writes nothing when nothing changes", func(ctx SpecContext) {
		f := newFixture(ctx, func(f *fixture) {
			f.controlPlane.Spec.MachineTemplate.ObjectMeta.Labels = map[string]string{"team": "a"}
		})
		f.provision(ctx)
		f.initialize(ctx)
		f.template2(ctx, func(template *controlplanev1.FooControlPlaneMachineTemplate) {
			template.Spec.Deletion.NodeDrainTimeoutSeconds = ptr.To[int32](1)
		})
		Eventually(func() []string {
			var managers []string
			for _, entry := range f.machines(ctx)[0].ManagedFields {
				managers = append(managers, string(entry.Operation)+" "+entry.Manager)
			}
			return managers
		}).Should(ContainElements("Apply "+metadataManager, "Apply "+settingsManager))
		Eventually(f.condition(ctx, controlplanev1.AvailableCondition)).Should(HavePrefix("True"))
		// Earlier writes may still be in progress. One that failed is repeated after two seconds.
		versions := func() []string {
			machine, config, infra := f.machineObjects(ctx)
			return []string{machine.ResourceVersion, config.ResourceVersion, infra.GetResourceVersion()}
		}
		settled := envtestenv.EventuallyRests(versions, 4*time.Second)
		for range 3 {
			update(ctx, f.controlPlane, func() { f.controlPlane.Annotations = map[string]string{"touched": f.controlPlane.ResourceVersion} })
		}
		Consistently(versions, "1s").Should(Equal(settled))
	})
})
