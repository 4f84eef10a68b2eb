//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// crowd is how many clusters are moved at once.
const crowd = 100

// moveCrowd moves clusters without machines: Foo's controllers ignore them, and the test writes the
// status that a move requires.
func (c *clusterctl) moveCrowd(ctx context.Context, source, target *management) {
	GinkgoHelper()
	const namespace = "crowd"
	source.kubectl(ctx, "create", "namespace", namespace)
	began := time.Now()
	for number := range crowd {
		source.inert(ctx, client.ObjectKey{Namespace: namespace, Name: fmt.Sprintf("inert-%d", number)})
	}
	source.expectCrowd(ctx, namespace)
	made := time.Since(began)
	began = time.Now()
	c.run(ctx, source, "move", "--namespace="+namespace, "--to-kubeconfig="+target.kubeconfig)
	moved := time.Since(began)
	Expect(source.clusters(namespace)(Default, ctx)).To(BeEmpty())
	target.expectCrowd(ctx, namespace)
	AddReportEntry("clusters moved", ReportEntryVisibilityAlways,
		fmt.Sprintf("| clusters | objects | created in | moved in |\n|---|---|---|---|\n| %d | %d | %s | %s |", crowd, 5*crowd, made.Round(time.Second), moved.Round(time.Second)))
}

// inert creates a cluster whose infrastructure and control plane are paused and report that they
// are ready.
func (m *management) inert(ctx context.Context, key client.ObjectKey) {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Annotations: map[string]string{clusterv1.PausedAnnotation: ""}}
	infrastructure := &infrav1.FooCluster{ObjectMeta: meta}
	infrastructure.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "192.0.2.1", Port: 6443}
	m.withoutMachines(ctx, infrastructure)
	Expect(m.Status().Patch(ctx, infrastructure, client.RawPatch("application/merge-patch+json",
		[]byte(`{"status":{"initialization":{"provisioned":true}}}`)))).To(Succeed())
}

// withoutMachines creates a cluster on an infrastructure cluster. Its control plane is paused and
// reports that it is ready.
func (m *management) withoutMachines(ctx context.Context, infrastructure *infrav1.FooCluster) {
	GinkgoHelper()
	key := client.ObjectKeyFromObject(infrastructure)
	meta := metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Annotations: map[string]string{clusterv1.PausedAnnotation: ""}}
	labelled := metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name + "-kubeconfig", Labels: map[string]string{clusterv1.ClusterNameLabel: key.Name}}
	template := &infrav1.FooMachineTemplate{ObjectMeta: meta}
	template.Spec.Template.Spec.InstanceType = "small"
	controlPlane := &controlplanev1.FooControlPlane{ObjectMeta: meta}
	controlPlane.Spec.Version, controlPlane.Spec.Replicas = currentVersion, ptr.To[int32](1)
	controlPlane.Spec.KubeadmConfigSpec = bootstrapv1.KubeadmConfigSpec{}
	controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{
		APIGroup: infrav1.GroupVersion.Group, Kind: "FooMachineTemplate", Name: key.Name,
	}
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Spec: clusterv1.ClusterSpec{
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: "FooCluster", Name: key.Name},
		ControlPlaneRef:   clusterv1.ContractVersionedObjectReference{APIGroup: controlplanev1.GroupVersion.Group, Kind: "FooControlPlane", Name: key.Name},
	}}
	for _, object := range []client.Object{
		infrastructure, template, controlPlane, cluster, &corev1.Secret{ObjectMeta: labelled, Type: clusterv1.ClusterSecretType},
	} {
		Expect(m.Create(ctx, object)).To(Succeed())
	}
	// A template belongs to its cluster. Normally the controller of the control plane sets that,
	// but it is paused.
	Expect(m.Patch(ctx, template, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil,
		`{"metadata":{"ownerReferences":[{"apiVersion":%q,"kind":"Cluster","name":%q,"uid":%q}]}}`, clusterv1.GroupVersion.String(), key.Name, cluster.UID)))).To(Succeed())
	Expect(m.Status().Patch(ctx, controlPlane, client.RawPatch("application/merge-patch+json",
		[]byte(`{"status":{"initialization":{"controlPlaneInitialized":true}}}`)))).To(Succeed())
}

// expectCrowd waits until Cluster API sees all clusters as they were created, and owns their
// objects.
func (m *management) expectCrowd(ctx context.Context, namespace string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var clusters clusterv1.ClusterList
		g.Expect(m.List(ctx, &clusters, client.InNamespace(namespace))).To(Succeed())
		g.Expect(clusters.Items).To(HaveLen(crowd))
		var infrastructure infrav1.FooClusterList
		g.Expect(m.List(ctx, &infrastructure, client.InNamespace(namespace))).To(Succeed())
		g.Expect(infrastructure.Items).To(And(HaveLen(crowd), HaveEach(HaveField("OwnerReferences", Not(BeEmpty())))))
		var controlPlanes controlplanev1.FooControlPlaneList
		g.Expect(m.List(ctx, &controlPlanes, client.InNamespace(namespace))).To(Succeed())
		g.Expect(controlPlanes.Items).To(And(HaveLen(crowd), HaveEach(HaveField("OwnerReferences", Not(BeEmpty())))))
		var templates infrav1.FooMachineTemplateList
		g.Expect(m.List(ctx, &templates, client.InNamespace(namespace))).To(Succeed())
		g.Expect(templates.Items).To(HaveLen(crowd))
		var secrets corev1.SecretList
		g.Expect(m.List(ctx, &secrets, client.InNamespace(namespace), client.HasLabels{clusterv1.ClusterNameLabel})).To(Succeed())
		g.Expect(secrets.Items).To(HaveLen(crowd))
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
}
