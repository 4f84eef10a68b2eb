//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"os"
	"testing"

	"github.com/blang/semver/v4"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	kubeadmcontrolplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	capikubeconfig "sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/cluster-api/util/secret"

	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

const clusterConfiguration = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
clusterName: c1
kubernetesVersion: v1.35.4
controlPlaneEndpoint: 10.1.2.3:6443
imageRepository: registry.k8s.io
networking:
  podSubnet: 10.244.0.0/16
  serviceSubnet: 10.96.0.0/12
apiServer:
  extraArgs:
  - name: v
    value: "2"
`

// startCluster starts an API server in place of a workload cluster's, and returns access to it and
// a client.
func startCluster(t *testing.T) (*Connections, client.Client) {
	g := NewWithT(t)
	environment := &envtest.Environment{
		BinaryAssetsDirectory:    os.Getenv("KUBEBUILDER_ASSETS"),
		ControlPlaneStartTimeout: envtestenv.Patience, ControlPlaneStopTimeout: envtestenv.Patience,
	}
	config, err := environment.Start()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(environment.Stop()).To(Succeed()) })
	kubeconfig := capikubeconfig.FromEnvTestConfig(config, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: testCluster.Name}})
	secrets := fake.NewClientBuilder().WithObjects(testSecret(secret.Kubeconfig, map[string][]byte{secret.KubeconfigDataName: kubeconfig})).Build()
	connections := NewConnections(nil, secrets, secrets, 0)
	c, err := client.New(config, client.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	return connections, c
}

func inKubeSystem(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name}
}

func podTemplate(container corev1.Container, volumes ...corev1.Volume) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": container.Name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{container}, Volumes: volumes},
	}
}

func TestUpgradeOfARealCluster(t *testing.T) {
	connections, c := startCluster(t)
	t.Run("preparing", func(t *testing.T) { testPrepare(t, connections, c) })
	t.Run("add-ons", func(t *testing.T) { testAddons(t, connections, c) })
}

func testPrepare(t *testing.T, connections *Connections, c client.Client) {
	g := NewWithT(t)
	ctx := context.Background()
	spec := &bootstrapv1.KubeadmConfigSpec{}
	version := semver.MustParse("1.36.3")
	g.Expect(connections.PrepareUpgrade(ctx, testCluster, spec, version)).To(MatchError(ContainSubstring("kubeadm-config")), "kubeadm did not create this cluster")

	stored := &corev1.ConfigMap{ObjectMeta: inKubeSystem("kubeadm-config"), Data: map[string]string{"ClusterConfiguration": clusterConfiguration}}
	g.Expect(c.Create(ctx, stored)).To(Succeed())
	spec.ClusterConfiguration.ImageRepository = "registry.example.com/k8s"
	spec.ClusterConfiguration.FeatureGates = map[string]bool{"Some": true}
	spec.ClusterConfiguration.Scheduler.ExtraArgs = []bootstrapv1.Arg{{Name: "v", Value: ptr.To("4")}}
	spec.ClusterConfiguration.Etcd.Local.ImageTag = "3.6.5-0"
	spec.ClusterConfiguration.EncryptionAlgorithm = bootstrapv1.EncryptionAlgorithmECDSAP256
	g.Expect(connections.PrepareUpgrade(ctx, testCluster, spec, version)).To(Succeed())

	g.Expect(c.Get(ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
	g.Expect(stored.Data["ClusterConfiguration"]).To(And(
		ContainSubstring("kubernetesVersion: v1.36.3"), ContainSubstring("imageRepository: registry.example.com/k8s"),
		ContainSubstring("Some: true"), ContainSubstring("imageTag: 3.6.5-0"), ContainSubstring("encryptionAlgorithm: ECDSA-P256"),
		ContainSubstring(`value: "4"`), Not(ContainSubstring(`value: "2"`)),
		ContainSubstring("clusterName: c1"), ContainSubstring("podSubnet: 10.244.0.0/16"), ContainSubstring("controlPlaneEndpoint: 10.1.2.3:6443"),
	), "fields that the spec does not set stay")
	for _, name := range []string{"kubeadm:cluster-admins", "kubeadm:apiserver-kubelet-client"} {
		g.Expect(c.Get(ctx, client.ObjectKey{Name: name}, &rbacv1.ClusterRoleBinding{})).To(Succeed(), name)
	}

	before := stored.ResourceVersion
	g.Expect(connections.PrepareUpgrade(ctx, testCluster, spec, version)).To(Succeed())
	g.Expect(c.Get(ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
	g.Expect(stored.ResourceVersion).To(Equal(before), "it writes only what differs")

	g.Expect(connections.PrepareUpgrade(ctx, testCluster, &bootstrapv1.KubeadmConfigSpec{}, version)).To(Succeed())
	g.Expect(c.Get(ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
	g.Expect(stored.Data["ClusterConfiguration"]).To(MatchYAML(`apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
clusterName: c1
kubernetesVersion: v1.36.3
controlPlaneEndpoint: 10.1.2.3:6443
networking: {podSubnet: 10.244.0.0/16, serviceSubnet: 10.96.0.0/12}
apiServer: {}
controllerManager: {}
scheduler: {}
etcd: {}
dns: {}
proxy: {}
`), "settings that left the spec are gone, and those that never were in it stay")
}

func testAddons(t *testing.T, connections *Connections, c client.Client) {
	g := NewWithT(t)
	ctx := context.Background()
	wanted := Addons{Cluster: testCluster, Version: "v1.36.3"}
	wanted.Config.ImageRepository = "registry.example.com/k8s"
	wanted.Config.DNS.ImageTag = "v1.12.0"
	g.Expect(connections.UpdateAddons(ctx, wanted)).To(Succeed(), "add-ons that are not installed are skipped")

	selector := func(name string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	}
	proxy := &appsv1.DaemonSet{ObjectMeta: inKubeSystem("kube-proxy"), Spec: appsv1.DaemonSetSpec{
		Selector: selector("kube-proxy"), Template: podTemplate(corev1.Container{Name: "kube-proxy", Image: "registry.k8s.io/kube-proxy:v1.35.4"}),
	}}
	corefile := &corev1.ConfigMap{ObjectMeta: inKubeSystem("coredns"), Data: map[string]string{"Corefile": ".:53 {\n    errors\n    forward . /etc/resolv.conf\n}\n"}}
	dns := &appsv1.Deployment{ObjectMeta: inKubeSystem("coredns"), Spec: appsv1.DeploymentSpec{
		Selector: selector("coredns"),
		Template: podTemplate(corev1.Container{Name: "coredns", Image: "registry.k8s.io/coredns/coredns:v1.11.1"}, corev1.Volume{
			Name: "config-volume",
			VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "coredns"}, Items: []corev1.KeyToPath{{Key: "Corefile", Path: "Corefile"}},
			}},
		}),
	}}
	for _, object := range []client.Object{proxy, corefile, dns} {
		g.Expect(c.Create(ctx, object)).To(Succeed())
	}
	read := func() (proxyImage, dnsImage string, versions []string) {
		for _, object := range []client.Object{proxy, corefile, dns} {
			g.Expect(c.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
			versions = append(versions, object.GetResourceVersion())
		}
		return proxy.Spec.Template.Spec.Containers[0].Image, dns.Spec.Template.Spec.Containers[0].Image, versions
	}

	kept := wanted
	kept.Annotations = map[string]string{kubeadmcontrolplanev1.SkipKubeProxyAnnotation: "", kubeadmcontrolplanev1.SkipCoreDNSAnnotation: ""}
	_, _, before := read()
	g.Expect(connections.UpdateAddons(ctx, kept)).To(Succeed())
	_, _, after := read()
	g.Expect(after).To(Equal(before), "skipped add-ons stay as they are")

	g.Expect(connections.UpdateAddons(ctx, wanted)).To(Succeed())
	proxyImage, dnsImage, before := read()
	g.Expect(proxyImage).To(Equal("registry.example.com/k8s/kube-proxy:v1.36.3"))
	g.Expect(dnsImage).To(Equal("registry.example.com/k8s/coredns:v1.12.0"))
	g.Expect(corefile.Data).To(HaveKey("Corefile-backup"))
	g.Expect(dns.Spec.Template.Spec.Volumes[0].ConfigMap.Items[0].Key).To(Equal("Corefile"))
	g.Expect(connections.UpdateAddons(ctx, wanted)).To(Succeed())
	_, _, after = read()
	g.Expect(after).To(Equal(before), "it writes only what differs")

	down := wanted
	down.Config.DNS.ImageTag = "v1.10.0"
	g.Expect(connections.UpdateAddons(ctx, down)).To(MatchError(ContainSubstring("Deployment coredns")))
}
