//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	capicerts "sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/internal/certs"
	"github.com/capfoo/cluster-api-provider-foo/internal/kubeconfig"
)

var _ = Describe("What the user has to put right", func() {
	It("is shown of a kubeconfig for another cluster", func(ctx SpecContext) {
		other := newFixture(ctx)
		other.nameEndpoint(ctx)
		Eventually(other.secret(ctx, "-kubeconfig")).ShouldNot(BeNil())
		var theirs *corev1.Secret
		Eventually(func() (err error) { theirs, err = other.secret(ctx, "-kubeconfig")(); return err }).Should(Succeed())

		f := newFixture(ctx)
		f.provision(ctx)
		f.initialize(ctx)
		Eventually(f.condition(ctx, controlplanev1.AvailableCondition)).Should(HavePrefix("True"))
		mine, err := f.secret(ctx, "-kubeconfig")()
		Expect(err).NotTo(HaveOccurred())
		before := mine.DeepCopy()
		mine.Data = theirs.Data
		Expect(c.Patch(ctx, mine, client.MergeFrom(before))).To(Succeed())
		seen(ctx, mine)
		update(ctx, f.controlPlane, func() { f.controlPlane.Annotations = map[string]string{"touched": "yes"} })
		Eventually(f.condition(ctx, controlplanev1.AvailableCondition)).Should(And(
			HavePrefix("Unknown"), ContainSubstring("Kubeconfig Secret c1-kubeconfig"), ContainSubstring("another cluster"), ContainSubstring("Secret c1-ca")))
		kept, err := f.secret(ctx, "-kubeconfig")()
		Expect(err).NotTo(HaveOccurred())
		Expect(kept.Data).To(Equal(theirs.Data), "it is reported but not replaced")

		Expect(c.Delete(ctx, kept)).To(Succeed())
		Eventually(f.condition(ctx, controlplanev1.AvailableCondition)).Should(HavePrefix("True"), "deleting it helps, as the message says")
	})

	It("is shown of a spec that is refused", func(ctx SpecContext) {
		f := newFixture(ctx, func(f *fixture) { f.controlPlane.Spec.Rollout.Before.CertificatesExpiryDays = 400 })
		f.provision(ctx)
		Eventually(f.condition(ctx, controlplanev1.ScalingUpCondition)).Should(And(
			ContainSubstring(reasonSpecRefused), ContainSubstring("spec.rollout.before.certificatesExpiryDays: Invalid value: 400")))
		Expect(f.machines(ctx)).To(BeEmpty())
		update(ctx, f.controlPlane, func() { f.controlPlane.Spec.Rollout.Before.CertificatesExpiryDays = 30 })
		f.expectMachines(ctx, 1)
	})

	It("is shown of a certificate authority that was lost while the status was too", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.provision(ctx)
		f.expectMachines(ctx, 1)
		ca, err := f.secret(ctx, "-ca")()
		Expect(err).NotTo(HaveOccurred())
		Expect(c.Delete(ctx, ca)).To(Succeed())
		seen(ctx, ca)
		update(ctx, f.controlPlane, func() { f.controlPlane.Annotations = map[string]string{"touched": "yes"} })
		Eventually(f.condition(ctx, controlplanev1.CertificatesAvailableCondition)).Should(And(HavePrefix("False"), ContainSubstring("c1-ca")))
		_, err = f.secret(ctx, "-ca")()
		Expect(apierrors.IsNotFound(err)).To(BeTrue(), "a Machine may have used it")
	})

	It("is shown of a certificate authority that expires soon", func() {
		now := time.Date(2026, time.March, 9, 9, 0, 0, 0, time.UTC)
		expiries := []certs.Expiry{{Secret: "c1-ca", At: now.AddDate(0, 0, 89)}, {Secret: "c1-etcd", At: now.AddDate(0, 0, 91)}}
		Expect(expiryNotices(expiries, now)).To(ConsistOf("Secret c1-ca: its certificate expires at 2026-06-06T09:00:00Z"))
		Expect(expiryNotices(expiries, now.AddDate(0, 0, -10))).To(BeEmpty())
	})
})

var _ = Describe("Workers", func() {
	It("delay the deletion of the control plane, Machines as well as MachinePools", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.provision(ctx)
		f.initialize(ctx)
		worker := &clusterv1.Machine{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: f.cluster.Namespace, Name: "worker", Labels: map[string]string{clusterv1.ClusterNameLabel: f.cluster.Name},
				Finalizers: []string{"test.example.com/worker"},
			},
			Spec: clusterv1.MachineSpec{
				ClusterName: f.cluster.Name, Bootstrap: clusterv1.Bootstrap{DataSecretName: ptr.To("none")},
				InfrastructureRef: referenceTo(infraGroup, "FooMachine", "worker"),
			},
		}
		Expect(c.Create(ctx, worker)).To(Succeed())
		seen(ctx, worker)
		Expect(c.Delete(ctx, f.controlPlane)).To(Succeed())
		Eventually(f.condition(ctx, controlplanev1.DeletingCondition)).Should(And(
			HavePrefix("True "+controlplanev1.DeletingWaitingForWorkersDeletionReason), ContainSubstring("Machine worker")))
		Consistently(func() *metav1.Time { return f.machines(ctx)[0].DeletionTimestamp }).Should(BeNil())
		Expect(c.Delete(ctx, worker)).To(Succeed())
		Consistently(func() *metav1.Time { return f.machines(ctx)[0].DeletionTimestamp }).Should(BeNil(), "until it is gone")
		release(ctx, worker)
		Eventually(func() bool {
			return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(f.controlPlane), f.controlPlane))
		}).Should(BeTrue())
	})
})

var _ = Describe("Metrics", func() {
	series := func(f *fixture) func() []string {
		return func() []string {
			GinkgoHelper()
			families, err := ctrlmetrics.Registry.Gather()
			Expect(err).NotTo(HaveOccurred())
			var found []string
			for _, family := range families {
				for _, metric := range family.GetMetric() {
					labels := map[string]string{}
					for _, label := range metric.GetLabel() {
						labels[label.GetName()] = label.GetValue()
					}
					if labels[labelNamespace] == f.cluster.Namespace {
						found = append(found, family.GetName())
					}
				}
			}
			return found
		}
	}

	It("exist for each control plane until it is deleted", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.provision(ctx)
		f.initialize(ctx)
		Eventually(series(f)).Should(ContainElements(
			"foo_controlplane_decisions_total", "foo_controlplane_blocks_total", "foo_controlplane_etcd_members",
			"foo_controlplane_etcd_alarms", "foo_controlplane_etcd_database_size_bytes"))
		Expect(c.Delete(ctx, f.controlPlane)).To(Succeed())
		Eventually(series(f)).Should(BeEmpty())
	})
})

var _ = Describe("Permissions", func() {
	It("let the kubeadm bootstrap provider read FooControlPlanes, and nothing else", func(ctx SpecContext) {
		role, binding := &rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{}
		for file, object := range map[string]client.Object{"bootstrap_reader_role.yaml": role, "bootstrap_reader_role_binding.yaml": binding} {
			manifest, err := os.ReadFile(filepath.Join("..", "..", "config", "rbac", "control-plane", file))
			Expect(err).NotTo(HaveOccurred())
			Expect(yaml.UnmarshalStrict(manifest, object)).To(Succeed())
			Expect(c.Create(ctx, object)).To(Succeed())
			DeferCleanup(func(ctx SpecContext) { Expect(c.Delete(ctx, object)).To(Succeed()) })
		}
		config := rest.CopyConfig(env.Config)
		config.Impersonate.UserName = "system:serviceaccount:capi-kubeadm-bootstrap-system:capi-kubeadm-bootstrap-manager"
		bootstrap, err := client.New(config, client.Options{Scheme: env.Scheme})
		Expect(err).NotTo(HaveOccurred())
		f := newFixture(ctx)
		// The API server takes a moment to notice a binding.
		Eventually(func() error {
			return bootstrap.Get(ctx, client.ObjectKeyFromObject(f.controlPlane), &controlplanev1.FooControlPlane{})
		}).Should(Succeed())
		Expect(bootstrap.List(ctx, &controlplanev1.FooControlPlaneList{})).To(Succeed())
		Expect(apierrors.IsForbidden(bootstrap.Delete(ctx, f.controlPlane))).To(BeTrue())
		Expect(apierrors.IsForbidden(bootstrap.List(ctx, &corev1.SecretList{}))).To(BeTrue())
	})
})

var _ = Describe("The kubeconfig's client certificate", func() {
	It("is renewed when half of its life is over", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.nameEndpoint(ctx)
		var made *corev1.Secret
		Eventually(func() (err error) { made, err = f.secret(ctx, "-kubeconfig")(); return err }).Should(Succeed())
		expiry := func(found *corev1.Secret) time.Time {
			config, err := clientcmd.Load(found.Data[secret.KubeconfigDataName])
			Expect(err).NotTo(HaveOccurred())
			certificate, err := capicerts.DecodeCertPEM(config.AuthInfos["c1-admin"].ClientCertificateData)
			Expect(err).NotTo(HaveOccurred())
			return certificate.NotAfter
		}
		Expect(expiry(made)).To(BeTemporally("~", time.Now().AddDate(1, 0, 0), 25*time.Hour))
		controlPlane := f.get(ctx)
		s := &scope{
			now: expiry(made).Add(-capicerts.DefaultCertDuration/2 + time.Hour), controlPlane: controlPlane, cluster: f.cluster,
			infra: infraCluster{Endpoint: clusterv1.APIEndpoint{Host: "10.9.8.7", Port: 6443}},
		}
		reconciler := &Reconciler{
			client: c, certificates: certs.NewStore(c, c), kubeconfigs: kubeconfig.NewStore(c, c), recorder: events.NewFakeRecorder(10),
		}
		Expect(reconciler.ensurePrerequisites(ctx, s)).To(Succeed())
		Expect(s.prerequisites.kubeconfig).To(BeNil())
		renewed, err := f.secret(ctx, "-kubeconfig")()
		Expect(err).NotTo(HaveOccurred())
		Expect(renewed.Data).NotTo(Equal(made.Data))
		Expect(renewed.UID).To(Equal(made.UID))
	})
})
