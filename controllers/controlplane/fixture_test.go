//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

const infraGroup = "infrastructure.cluster.x-k8s.io"

// infraObject returns an object of the infrastructure provider. The controller knows it only by
// contract.
func infraObject(kind string, meta metav1.ObjectMeta) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(infraGroup + "/v1beta2")
	object.SetKind(kind)
	object.SetNamespace(meta.Namespace)
	object.SetName(meta.Name)
	object.SetLabels(meta.Labels)
	set(object, map[string]any{}, "spec")
	return object
}

func set(object *unstructured.Unstructured, value any, path ...string) {
	GinkgoHelper()
	Expect(unstructured.SetNestedField(object.Object, value, path...)).To(Succeed())
}

// fixture is one cluster. The test plays Cluster API's controllers and the infrastructure provider.
type fixture struct {
	cluster      *clusterv1.Cluster
	infra        *unstructured.Unstructured
	template     *unstructured.Unstructured
	controlPlane *controlplanev1.FooControlPlane
}

// newFixture creates a Cluster whose infrastructure reports nothing yet.
func newFixture(ctx context.Context, changes ...func(*fixture)) *fixture {
	GinkgoHelper()
	namespace, err := env.CreateNamespace(ctx, "controlplane")
	Expect(err).NotTo(HaveOccurred())
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{clusterv1.WatchLabel: watchFilter}}
	}
	f := &fixture{
		cluster:      &clusterv1.Cluster{ObjectMeta: meta("c1")},
		infra:        infraObject("FooCluster", meta("c1-infra")),
		template:     infraObject("FooMachineTemplate", meta("c1-template")),
		controlPlane: &controlplanev1.FooControlPlane{ObjectMeta: meta("c1-cp")},
	}
	f.cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: infraGroup, Kind: "FooCluster", Name: f.infra.GetName()}
	f.cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{
		APIGroup: controlplanev1.GroupVersion.Group, Kind: "FooControlPlane", Name: f.controlPlane.Name,
	}
	set(f.template, "small", "spec", "template", "spec", "instanceType")
	f.controlPlane.Spec.Replicas = ptr.To[int32](1)
	f.controlPlane.Spec.Version = "v1.36.3"
	f.controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{
		APIGroup: infraGroup, Kind: "FooMachineTemplate", Name: f.template.GetName(),
	}
	f.controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.EncryptionAlgorithm = bootstrapv1.EncryptionAlgorithmECDSAP256
	for _, change := range changes {
		change(f)
	}
	Expect(c.Create(ctx, f.cluster)).To(Succeed())
	owner := metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: f.cluster.Name, UID: f.cluster.UID}
	f.infra.SetOwnerReferences([]metav1.OwnerReference{owner})
	f.controlPlane.OwnerReferences = []metav1.OwnerReference{owner}
	for _, object := range []client.Object{f.infra, f.template, f.controlPlane} {
		Expect(c.Create(ctx, object)).To(Succeed())
	}
	return f
}

func replicas(number int32) func(*fixture) {
	return func(f *fixture) { f.controlPlane.Spec.Replicas = ptr.To(number) }
}

func (f *fixture) key() client.ObjectKey { return client.ObjectKeyFromObject(f.cluster) }

// seen waits until the controller's cache shows the current version of the objects, or that they
// are deleted. Each kind has its own watch, so a test that changes two objects has to wait in
// between if the controller must not see the second change first. Secrets must belong to a Cluster.
func seen(ctx context.Context, objects ...client.Object) {
	GinkgoHelper()
	for _, object := range objects {
		version := func(g Gomega, reader client.Reader) string {
			found, ok := object.DeepCopyObject().(client.Object)
			g.Expect(ok).To(BeTrue())
			err := reader.Get(ctx, client.ObjectKeyFromObject(object), found)
			if apierrors.IsNotFound(err) {
				return ""
			}
			g.Expect(err).NotTo(HaveOccurred())
			return found.GetResourceVersion()
		}
		cache := cached
		if _, ok := object.(*corev1.Secret); ok {
			cache = cachedSecrets
		}
		Eventually(func(g Gomega) {
			g.Expect(version(g, cache)).To(Equal(version(g, c)))
		}).WithPolling(10*time.Millisecond).Should(Succeed(), "the cache shows %T %s", object, object.GetName())
	}
}

// update changes an object and its status, and waits until the controller's cache shows the change.
func update[T client.Object](ctx context.Context, object T, change func()) {
	GinkgoHelper()
	Expect(c.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
	before := object.DeepCopyObject().(client.Object)
	change()
	status := object.DeepCopyObject().(client.Object)
	Expect(c.Patch(ctx, object, client.MergeFrom(before))).To(Succeed())
	Expect(c.Status().Patch(ctx, status, client.MergeFrom(before))).To(Succeed())
	seen(ctx, object)
	Expect(c.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
}

// nameEndpoint sets the endpoint of the infrastructure cluster, before anything else.
func (f *fixture) nameEndpoint(ctx context.Context) {
	GinkgoHelper()
	update(ctx, f.infra, func() {
		set(f.infra, map[string]any{"host": "10.9.8.7", "port": int64(6443)}, "spec", "controlPlaneEndpoint")
	})
}

// provision sets the failure domains of the infrastructure cluster and marks it as provisioned.
func (f *fixture) provision(ctx context.Context, zones ...string) {
	GinkgoHelper()
	f.nameEndpoint(ctx)
	update(ctx, f.infra, func() {
		var domains []any
		for _, zone := range zones {
			domains = append(domains, map[string]any{"name": zone, "controlPlane": !strings.HasPrefix(zone, "worker")})
		}
		if len(domains) > 0 {
			set(f.infra, domains, "status", "failureDomains")
		}
		set(f.infra, true, "status", "initialization", "provisioned")
	})
}

func (f *fixture) machines(ctx context.Context) []clusterv1.Machine {
	GinkgoHelper()
	list := &clusterv1.MachineList{}
	Expect(c.List(ctx, list, client.InNamespace(f.cluster.Namespace), client.HasLabels{clusterv1.MachineControlPlaneLabel})).To(Succeed())
	slices.SortFunc(list.Items, func(a, b clusterv1.Machine) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	return list.Items
}

func (f *fixture) expectMachines(ctx context.Context, number int) []clusterv1.Machine {
	GinkgoHelper()
	Eventually(func() []clusterv1.Machine { return f.machines(ctx) }).Should(HaveLen(number))
	Consistently(func() []clusterv1.Machine { return f.machines(ctx) }).Should(HaveLen(number))
	return f.machines(ctx)
}

// join gives a Node to each Machine that has none.
func (f *fixture) join(ctx context.Context) {
	GinkgoHelper()
	for _, machine := range f.machines(ctx) {
		if machine.Status.NodeRef.Name != "" {
			continue
		}
		workloads.addNode(f.key(), machine.Name)
		update(ctx, &machine, func() { machine.Status.NodeRef.Name = machine.Name })
	}
}

// initialize lets the first Machine initialize the control plane, and tells the Cluster.
func (f *fixture) initialize(ctx context.Context) {
	GinkgoHelper()
	first := f.expectMachines(ctx, 1)[0]
	update(ctx, &first, func() { first.Status.Initialization.InfrastructureProvisioned = ptr.To(true) })
	workloads.change(f.key(), func(cluster *fakeCluster) { cluster.initialized = true })
	Eventually(func() bool { return f.initialized(ctx) }).Should(BeTrue())
	f.join(ctx)
	f.tellCluster(ctx)
}

func (f *fixture) tellCluster(ctx context.Context) {
	GinkgoHelper()
	update(ctx, f.cluster, func() {
		conditions.Set(f.cluster, metav1.Condition{
			Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue, Reason: "Initialized",
		})
	})
}

func (f *fixture) get(ctx context.Context) *controlplanev1.FooControlPlane {
	GinkgoHelper()
	Expect(c.Get(ctx, client.ObjectKeyFromObject(f.controlPlane), f.controlPlane)).To(Succeed())
	return f.controlPlane
}

func (f *fixture) initialized(ctx context.Context) bool {
	GinkgoHelper()
	return ptr.Deref(f.get(ctx).Status.Initialization.ControlPlaneInitialized, false)
}

// condition returns a function for Eventually that reads a condition as "Status Reason: Message".
func (f *fixture) condition(ctx context.Context, conditionType string) func() string {
	return func() string {
		GinkgoHelper()
		condition := conditions.Get(f.get(ctx), conditionType)
		if condition == nil {
			return ""
		}
		return string(condition.Status) + " " + condition.Reason + ": " + condition.Message
	}
}

func (f *fixture) secret(ctx context.Context, suffix string) func() (*corev1.Secret, error) {
	return func() (*corev1.Secret, error) {
		secret := &corev1.Secret{}
		err := c.Get(ctx, client.ObjectKey{Namespace: f.cluster.Namespace, Name: f.cluster.Name + suffix}, secret)
		return secret, err
	}
}
