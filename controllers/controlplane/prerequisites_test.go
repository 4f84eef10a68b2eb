//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"crypto/ecdsa"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

var _ = Describe("Certificates and kubeconfig", func() {
	It("generates the certificates before the infrastructure shows anything", func(ctx SpecContext) {
		f := newFixture(ctx)
		for _, suffix := range []string{"-ca", "-etcd", "-proxy", "-sa"} {
			Eventually(f.secret(ctx, suffix)).Should(And(
				HaveField("Type", clusterv1.ClusterSecretType),
				HaveField("Labels", HaveKeyWithValue(clusterv1.ClusterNameLabel, f.cluster.Name)),
				HaveField("OwnerReferences", ConsistOf(HaveField("UID", f.controlPlane.UID))),
			), "Secret %s", suffix)
		}
		ca, err := f.secret(ctx, "-ca")()
		Expect(err).NotTo(HaveOccurred())
		key, err := certs.DecodePrivateKeyPEM(ca.Data[secret.TLSKeyDataName])
		Expect(err).NotTo(HaveOccurred())
		Expect(key).To(BeAssignableToTypeOf(&ecdsa.PrivateKey{}), "encryptionAlgorithm selects the type of key")
		Eventually(f.condition(ctx, controlplanev1.CertificatesAvailableCondition)).Should(HavePrefix("True"))
	})

	It("writes the kubeconfig as soon as the infrastructure cluster names an endpoint", func(ctx SpecContext) {
		f := newFixture(ctx)
		Eventually(f.secret(ctx, "-sa")).ShouldNot(BeNil())
		Eventually(f.condition(ctx, controlplanev1.ScalingUpCondition)).Should(ContainSubstring("waiting for the infrastructure cluster"))
		_, err := f.secret(ctx, "-kubeconfig")()
		Expect(client.IgnoreNotFound(err)).To(Succeed())
		Expect(err).To(HaveOccurred(), "there is no endpoint yet")

		f.nameEndpoint(ctx)
		var kubeconfig *corev1.Secret
		Eventually(func(g Gomega) {
			var err error
			kubeconfig, err = f.secret(ctx, "-kubeconfig")()
			g.Expect(err).NotTo(HaveOccurred())
		}).Should(Succeed())
		Expect(kubeconfig.Type).To(Equal(clusterv1.ClusterSecretType))
		Expect(kubeconfig.Labels).To(HaveKeyWithValue(clusterv1.ClusterNameLabel, f.cluster.Name))
		Expect(metav1.IsControlledBy(kubeconfig, f.controlPlane)).To(BeTrue())
		config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig.Data[secret.KubeconfigDataName])
		Expect(err).NotTo(HaveOccurred())
		Expect(config.Host).To(Equal("https://10.9.8.7:6443"))
		Expect(f.machines(ctx)).To(BeEmpty(), "the failure domains are not known yet")
	})

	It("honours certificates that the user provides", func(ctx SpecContext) {
		source := newFixture(ctx)
		Eventually(source.secret(ctx, "-ca")).ShouldNot(BeNil())
		var theirs *corev1.Secret
		Eventually(func() (err error) { theirs, err = source.secret(ctx, "-ca")(); return err }).Should(Succeed())

		f := newFixture(ctx, func(f *fixture) {
			Expect(c.Create(ctx, &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: f.cluster.Namespace, Name: f.cluster.Name + "-ca"},
				Type:       corev1.SecretTypeTLS,
				Data:       theirs.Data,
			})).To(Succeed())
		})
		Eventually(f.condition(ctx, controlplanev1.CertificatesAvailableCondition)).Should(HavePrefix("True"))
		kept, err := f.secret(ctx, "-ca")()
		Expect(err).NotTo(HaveOccurred())
		Expect(kept.Data).To(Equal(theirs.Data))
		Expect(kept.OwnerReferences).To(BeEmpty(), "the user's own Secret must outlive the control plane")
	})

	It("names a certificate that is unusable", func(ctx SpecContext) {
		f := newFixture(ctx, func(f *fixture) {
			Expect(c.Create(ctx, &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: f.cluster.Namespace, Name: f.cluster.Name + "-ca"},
				Type:       corev1.SecretTypeTLS,
				Data:       map[string][]byte{secret.TLSCrtDataName: []byte("nonsense"), secret.TLSKeyDataName: []byte("hidden")},
			})).To(Succeed())
		})
		Eventually(f.condition(ctx, controlplanev1.CertificatesAvailableCondition)).Should(And(
			HavePrefix("False"), ContainSubstring(f.cluster.Name+"-ca"), ContainSubstring("tls.crt"), Not(ContainSubstring("hidden"))))
	})

	It("asks for the certificates of an external etcd", func(ctx SpecContext) {
		f := newFixture(ctx, func(f *fixture) {
			f.controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.External = bootstrapv1.ExternalEtcd{
				Endpoints: []string{"https://etcd.example.com:2379"}, CAFile: "/ca.crt", CertFile: "/etcd.crt", KeyFile: "/etcd.key",
			}
		})
		Eventually(f.condition(ctx, controlplanev1.CertificatesAvailableCondition)).Should(And(
			HavePrefix("False"), ContainSubstring("c1-apiserver-etcd-client"), ContainSubstring("c1-etcd")))
	})

	It("never regenerates a certificate once the control plane is initialized", func(ctx SpecContext) {
		f := newFixture(ctx, replicas(3))
		f.settle(ctx)
		proxy, err := f.secret(ctx, "-proxy")()
		Expect(err).NotTo(HaveOccurred())
		Expect(c.Delete(ctx, proxy)).To(Succeed())
		seen(ctx, proxy)
		update(ctx, f.controlPlane, func() { f.controlPlane.Annotations = map[string]string{"touched": "yes"} })
		Eventually(f.condition(ctx, controlplanev1.CertificatesAvailableCondition)).Should(And(
			HavePrefix("False"), ContainSubstring(f.cluster.Name+"-proxy")))
		_, err = f.secret(ctx, "-proxy")()
		Expect(err).To(HaveOccurred())

		By("still looking after the existing Machines")
		Expect(f.condition(ctx, controlplanev1.EtcdClusterHealthyCondition)()).To(HavePrefix("True"))
		Expect(f.condition(ctx, controlplanev1.ControlPlaneComponentsHealthyCondition)()).To(HavePrefix("True"))
		Expect(f.get(ctx).Status.Etcd.Healthy).To(HaveValue(Equal(int32(3))))
		workloads.change(f.key(), func(cluster *fakeCluster) { cluster.observation.Etcd.Members[2].Alarms = []string{"NOSPACE"} })
		Eventually(f.condition(ctx, controlplanev1.EtcdClusterHealthyCondition)).Should(HavePrefix("False"), "the condition shows the current state, not the last known one")
		workloads.change(f.key(), func(cluster *fakeCluster) { cluster.observation.Etcd.Members[2].Alarms = nil })
		machine := f.machines(ctx)[1]
		Expect(c.Delete(ctx, &machine)).To(Succeed())
		f.removeOne(ctx)
		Consistently(func() []string { return f.names(ctx) }).Should(HaveLen(2), "no Machine is created without certificates")
		Eventually(f.plan(ctx)).Should(Equal("Wait " + controlplanev1.CertificatesNotAvailableReason))
	})
})
