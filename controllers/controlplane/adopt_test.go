//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	kubeadmcontrolplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

// standalone creates a control plane Machine without a controller.
func (f *fixture) standalone(ctx context.Context, name, version string, changes ...func(*clusterv1.Machine)) *clusterv1.Machine {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Namespace: f.cluster.Namespace, Name: name, Labels: map[string]string{
		clusterv1.ClusterNameLabel: f.cluster.Name, clusterv1.MachineControlPlaneLabel: "",
	}}
	infra := infraObject("FooMachine", meta)
	set(infra, map[string]any{}, "spec")
	config := &bootstrapv1.KubeadmConfig{ObjectMeta: meta}
	Expect(c.Create(ctx, infra)).To(Succeed())
	Expect(c.Create(ctx, config)).To(Succeed())
	machine := &clusterv1.Machine{ObjectMeta: meta, Spec: clusterv1.MachineSpec{
		ClusterName:       f.cluster.Name,
		Version:           version,
		Bootstrap:         clusterv1.Bootstrap{ConfigRef: referenceTo(bootstrapv1.GroupVersion.Group, "KubeadmConfig", name)},
		InfrastructureRef: referenceTo(infraGroup, "FooMachine", name),
	}}
	for _, change := range changes {
		change(machine)
	}
	Expect(c.Create(ctx, machine)).To(Succeed())
	seen(ctx, infra, config, machine)
	return machine
}

// copySecrets gives the cluster copies of another cluster's Secrets, with this owner.
func (f *fixture) copySecrets(ctx context.Context, source *fixture, owner metav1.OwnerReference, suffixes ...string) {
	GinkgoHelper()
	for _, suffix := range suffixes {
		var made *corev1.Secret
		Eventually(func() (err error) { made, err = source.secret(ctx, suffix)(); return err }).Should(Succeed())
		made.ObjectMeta = metav1.ObjectMeta{
			Namespace: f.cluster.Namespace, Name: made.Name, Labels: made.Labels, OwnerReferences: []metav1.OwnerReference{owner},
		}
		Expect(c.Create(ctx, made)).To(Succeed())
		seen(ctx, made)
	}
}

func controlledBy(kind, name string) func(*clusterv1.Machine) {
	return func(machine *clusterv1.Machine) {
		machine.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: kubeadmcontrolplanev1.GroupVersion.String(), Kind: kind, Name: name, UID: "1", Controller: ptr.To(true),
		}}
	}
}

var _ = Describe("Adoption", func() {
	It("takes over Machines that nobody controls, with their Secrets", func(ctx SpecContext) {
		source := newFixture(ctx)
		f := newFixture(ctx, func(f *fixture) { f.controlPlane.Labels = map[string]string{clusterv1.WatchLabel: "later"} })
		machine := f.standalone(ctx, "old", "v1.35.4", func(machine *clusterv1.Machine) {
			machine.Annotations = map[string]string{kubeadmcontrolplanev1.PreTerminateHookCleanupAnnotation: ""}
		})
		config := &bootstrapv1.KubeadmConfig{}
		Expect(c.Get(ctx, client.ObjectKeyFromObject(machine), config)).To(Succeed())
		owner := *metav1.NewControllerRef(config, configKind)
		suffixes := []string{"-ca", "-etcd", "-sa"}
		f.copySecrets(ctx, source, owner, suffixes...)
		bootstrap := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: f.cluster.Namespace, Name: "c1-bootstrap", Labels: map[string]string{clusterv1.ClusterNameLabel: f.cluster.Name},
				OwnerReferences: []metav1.OwnerReference{owner},
			},
			Type: clusterv1.ClusterSecretType,
		}
		Expect(c.Create(ctx, bootstrap)).To(Succeed())
		update(ctx, machine, func() { machine.Spec.Bootstrap.DataSecretName = ptr.To("c1-bootstrap") })
		update(ctx, f.controlPlane, func() { f.controlPlane.Labels = map[string]string{clusterv1.WatchLabel: watchFilter} })

		Eventually(func() []metav1.OwnerReference { return f.machines(ctx)[0].OwnerReferences }).Should(
			ConsistOf(And(HaveField("UID", f.controlPlane.UID), HaveField("Controller", HaveValue(BeTrue())))))
		adopted := f.machines(ctx)[0]
		Expect(adopted.Annotations).To(And(
			HaveKey(controlplanev1.PreTerminateHookCleanupAnnotation), Not(HaveKey(kubeadmcontrolplanev1.PreTerminateHookCleanupAnnotation))))
		Eventually(func() map[string]string { return f.machines(ctx)[0].Labels }).Should(
			HaveKeyWithValue(clusterv1.MachineControlPlaneNameLabel, f.controlPlane.Name))
		for _, suffix := range suffixes {
			Eventually(func(g Gomega) {
				taken, err := f.secret(ctx, suffix)()
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(taken.OwnerReferences).To(ConsistOf(HaveField("UID", f.controlPlane.UID), HaveField("UID", f.cluster.UID)))
			}).Should(Succeed(), "Secret %s, though another one is missing", suffix)
		}
		Expect(c.Get(ctx, client.ObjectKeyFromObject(bootstrap), bootstrap)).To(Succeed())
		Expect(bootstrap.OwnerReferences).To(ConsistOf(HaveField("UID", config.UID)), "the bootstrap data stays with the KubeadmConfig")

		Eventually(f.condition(ctx, controlplanev1.CertificatesAvailableCondition)).Should(And(
			HavePrefix("False"), ContainSubstring("c1-proxy")), "no certificate is generated, since the Machines use others")
		_, err := f.secret(ctx, "-proxy")()
		Expect(err).To(HaveOccurred())
	})

	DescribeTable("adopts no Machine if it cannot adopt all of them",
		func(ctx SpecContext, version string, change func(*clusterv1.Machine), obstacle string) {
			f := newFixture(ctx, func(f *fixture) { f.controlPlane.Labels = map[string]string{clusterv1.WatchLabel: "later"} })
			f.standalone(ctx, "fine", "v1.36.3")
			f.standalone(ctx, "foreign", version, change)
			update(ctx, f.controlPlane, func() { f.controlPlane.Labels = map[string]string{clusterv1.WatchLabel: watchFilter} })
			f.provision(ctx)
			Eventually(f.condition(ctx, controlplanev1.ScalingUpCondition)).Should(And(
				ContainSubstring("foreign ("+obstacle+")"), Not(ContainSubstring("fine"))))
			for _, machine := range f.machines(ctx) {
				Expect(metav1.IsControlledBy(&machine, f.controlPlane)).To(BeFalse(), machine.Name)
			}
		},
		Entry("another control plane's Machine", "v1.36.3", controlledBy("KubeadmControlPlane", "kcp"), "controlled by KubeadmControlPlane kcp"),
		Entry("a version that is too old", "v1.34.9", func(*clusterv1.Machine) {}, "version v1.34.9 is more than one minor version away from v1.36.3"),
		Entry("another bootstrap provider", "v1.36.3", func(machine *clusterv1.Machine) { machine.Spec.Bootstrap.ConfigRef.Kind = "TalosConfig" },
			`spec.bootstrap.configRef.kind is "TalosConfig", not KubeadmConfig`),
	)

	It("leaves the Secrets of another control plane to it", func(ctx SpecContext) {
		source := newFixture(ctx)
		source.nameEndpoint(ctx)
		f := newFixture(ctx, func(f *fixture) { f.controlPlane.Labels = map[string]string{clusterv1.WatchLabel: "later"} })
		machine := f.standalone(ctx, "foreign", "v1.36.3", controlledBy("KubeadmControlPlane", "kcp"))
		suffixes := []string{"-ca", "-etcd", "-proxy", "-sa", "-kubeconfig"}
		f.copySecrets(ctx, source, machine.OwnerReferences[0], suffixes...)
		update(ctx, f.controlPlane, func() { f.controlPlane.Labels = map[string]string{clusterv1.WatchLabel: watchFilter} })
		f.provision(ctx)
		Eventually(f.condition(ctx, controlplanev1.ScalingUpCondition)).Should(ContainSubstring("foreign (controlled by KubeadmControlPlane kcp)"))
		Expect(f.condition(ctx, controlplanev1.CertificatesAvailableCondition)()).To(HavePrefix("True"))
		Consistently(func(g Gomega) {
			for _, suffix := range suffixes {
				kept, err := f.secret(ctx, suffix)()
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(kept.OwnerReferences).To(Equal(machine.OwnerReferences), "Secret %s", kept.Name)
			}
		}).Should(Succeed())
	})

	It("adopts nothing while it is being deleted", func(ctx SpecContext) {
		f := newFixture(ctx, func(f *fixture) { f.controlPlane.Finalizers = []string{"test.example.com/keep"} })
		Eventually(func() []string { return f.get(ctx).Finalizers }).Should(ContainElement(controlplanev1.FooControlPlaneFinalizer))
		Expect(c.Delete(ctx, f.controlPlane)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { release(ctx, f.controlPlane) })
		f.standalone(ctx, "orphan", "v1.36.3")
		Consistently(func() []metav1.OwnerReference { return f.machines(ctx)[0].OwnerReferences }).Should(BeEmpty())
	})
})
