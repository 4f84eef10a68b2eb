//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infratest_test

import (
	"context"
	"math/rand/v2"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

// world is a cluster with two Machines and a MachinePool, one Machine still without an instance.
type world struct {
	namespace  string
	cloud      *fake.Cloud
	cluster    *clusterv1.Cluster
	fooCluster *infrav1.FooCluster
	// all are the objects that a user created and would delete.
	all []client.Object
}

func (w *world) add(ctx context.Context, object client.Object) {
	GinkgoHelper()
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[clusterv1.WatchLabel] = filter
	object.SetLabels(labels)
	Expect(suite.Client.Create(ctx, object)).To(Succeed())
	w.all = append(w.all, object)
}

func newWorld(ctx context.Context, withIdentity bool) *world {
	GinkgoHelper()
	namespace, err := suite.Namespace(ctx)
	Expect(err).NotTo(HaveOccurred())
	w := &world{namespace: namespace, cloud: suite.Cloud}
	w.cluster = infratest.NewCluster(namespace, "one")
	w.cluster.Finalizers = []string{clusterv1.ClusterFinalizer}
	w.add(ctx, w.cluster)
	w.fooCluster = infratest.NewFooCluster(w.cluster)
	if withIdentity {
		w.cloud = tenant
		w.add(ctx, newCredentials(namespace, "red"))
		identity := newIdentity(namespace, "red")
		w.add(ctx, identity)
		w.fooCluster.Spec.IdentityRef.Name = identity.Name
	}
	w.add(ctx, w.fooCluster)
	if withIdentity {
		secret := newCredentials(namespace, "red")
		Eventually(func(g Gomega) []string {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(secret), secret)).To(Succeed())
			return secret.Finalizers
		}).Should(ConsistOf(infrav1.FooClusterIdentityFinalizer), "it cannot be deleted while it is needed")
	}
	Expect(suite.SetInfrastructureProvisioned(ctx, w.cluster)).To(Succeed())
	w.add(ctx, infratest.NewSecret(namespace, "data", infratest.UserData))
	for _, name := range []string{"m1", "m2"} {
		m := infratest.NewMachine(w.cluster, name)
		m.Finalizers = []string{clusterv1.MachineFinalizer}
		m.Labels[clusterv1.MachineControlPlaneLabel] = ""
		if name == "m1" {
			m.Spec.Bootstrap.DataSecretName = ptr.To("data")
		}
		w.add(ctx, m)
		w.add(ctx, infratest.NewFooMachine(m))
	}
	pool := infratest.NewMachinePool(w.cluster, "pool", 2)
	pool.Finalizers = []string{clusterv1.MachinePoolFinalizer}
	pool.Spec.Template.Spec.Bootstrap.DataSecretName = ptr.To("data")
	before := w.cluster.DeepCopy()
	conditions.Set(w.cluster, metav1.Condition{Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue, Reason: "Test"})
	Expect(suite.Client.Status().Patch(ctx, w.cluster, client.MergeFrom(before))).To(Succeed())
	w.add(ctx, pool)
	w.add(ctx, infratest.NewFooMachinePool(pool))
	Eventually(w.left).WithContext(ctx).Should(HaveLen(5), "1 load balancer, 1 pool, 3 instances")
	Eventually(func(g Gomega) {
		g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(w.fooCluster), w.fooCluster)).To(Succeed())
		g.Expect(conditions.IsTrue(w.fooCluster, infrav1.FooClusterReadyCondition)).To(BeTrue())
	}).Should(Succeed())
	return w
}

// running names the objects whose controllers have not reported yet that they are paused.
func (w *world) running(ctx context.Context) ([]string, error) {
	names := []string{}
	for _, list := range []client.ObjectList{&infrav1.FooMachineList{}, &infrav1.FooMachinePoolList{}, &infrav1.FooClusterList{}} {
		if err := suite.Client.List(ctx, list, client.InNamespace(w.namespace)); err != nil {
			return nil, err
		}
		for _, object := range itemsOf(list) {
			if getter, ok := object.(conditions.Getter); ok && !conditions.IsTrue(getter, clusterv1.PausedCondition) {
				names = append(names, kindOf(object)+" "+object.GetName())
			}
		}
	}
	return names, nil
}

// left names the resources that the cluster has in the cloud.
func (w *world) left(ctx context.Context) ([]string, error) {
	tags := cloud.Tags{"cluster.x-k8s.io/cluster": client.ObjectKeyFromObject(w.cluster).String()}
	balancers, err := w.cloud.ListLoadBalancers(ctx, tags)
	if err != nil {
		return nil, err
	}
	pools, err := w.cloud.ListPools(ctx, tags)
	if err != nil {
		return nil, err
	}
	instances, err := w.cloud.ListInstances(ctx, cloud.InstanceFilter{Tags: tags})
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, b := range balancers {
		names = append(names, "load balancer "+b.Name)
	}
	for _, p := range pools {
		names = append(names, "pool "+p.Name)
	}
	for _, i := range instances {
		names = append(names, "instance "+i.Name)
	}
	return names, nil
}

// remaining does what Cluster API and the garbage collector would do next, and returns the objects
// that are left.
func (w *world) remaining(ctx context.Context, g Gomega) []string {
	lists := []client.ObjectList{
		&clusterv1.MachineList{}, &clusterv1.MachinePoolList{}, &clusterv1.ClusterList{}, &infrav1.FooMachineList{},
		&infrav1.FooMachinePoolList{}, &infrav1.FooClusterList{},
	}
	var objects []client.Object
	for _, list := range lists {
		g.Expect(suite.Client.List(ctx, list, client.InNamespace(w.namespace))).To(Succeed())
		objects = append(objects, itemsOf(list)...)
	}
	var names []string
	for _, object := range objects {
		names = append(names, kindOf(object)+" "+object.GetName())
		w.collect(ctx, g, object)
		switch o := object.(type) {
		case *clusterv1.Machine:
			w.deleteThrough(ctx, g, o, clusterv1.MachineFinalizer, &infrav1.FooMachine{ObjectMeta: meta(o)})
		case *clusterv1.MachinePool:
			w.deleteThrough(ctx, g, o, clusterv1.MachinePoolFinalizer, &infrav1.FooMachinePool{ObjectMeta: meta(o)})
		case *clusterv1.Cluster:
			if !o.DeletionTimestamp.IsZero() && w.deleteMachines(ctx, g, objects) == 0 {
				w.deleteThrough(ctx, g, o, clusterv1.ClusterFinalizer, &infrav1.FooCluster{ObjectMeta: meta(o)})
			}
		}
	}
	for _, object := range w.all {
		if err := suite.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err == nil {
			names = append(names, kindOf(object)+" "+object.GetName())
		}
	}
	return names
}

func meta(object client.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName()}
}

func kindOf(object client.Object) string {
	kind, err := suite.Client.GroupVersionKindFor(object)
	Expect(err).NotTo(HaveOccurred())
	return kind.Kind
}

func itemsOf(list client.ObjectList) (objects []client.Object) {
	switch l := list.(type) {
	case *clusterv1.MachineList:
		objects = pointers(l.Items, func(o *clusterv1.Machine) client.Object { return o })
	case *clusterv1.MachinePoolList:
		objects = pointers(l.Items, func(o *clusterv1.MachinePool) client.Object { return o })
	case *clusterv1.ClusterList:
		objects = pointers(l.Items, func(o *clusterv1.Cluster) client.Object { return o })
	case *infrav1.FooMachineList:
		objects = pointers(l.Items, func(o *infrav1.FooMachine) client.Object { return o })
	case *infrav1.FooMachinePoolList:
		objects = pointers(l.Items, func(o *infrav1.FooMachinePool) client.Object { return o })
	case *infrav1.FooClusterList:
		objects = pointers(l.Items, func(o *infrav1.FooCluster) client.Object { return o })
	}
	return objects
}

func pointers[T any](items []T, as func(*T) client.Object) []client.Object {
	objects := make([]client.Object, 0, len(items))
	for i := range items {
		objects = append(objects, as(&items[i]))
	}
	return objects
}

// collect deletes objects that lost their controller, and completes foreground deletions.
func (w *world) collect(ctx context.Context, g Gomega, object client.Object) {
	if controllerutil.ContainsFinalizer(object, metav1.FinalizerDeleteDependents) {
		w.release(ctx, g, object, metav1.FinalizerDeleteDependents)
	}
	for _, owner := range object.GetOwnerReferences() {
		gone := &metav1.PartialObjectMetadata{}
		gone.APIVersion, gone.Kind = owner.APIVersion, owner.Kind
		err := suite.Client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: owner.Name}, gone)
		if apierrors.IsNotFound(err) && object.GetDeletionTimestamp().IsZero() {
			g.Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, object))).To(Succeed())
		}
	}
}

func (w *world) release(ctx context.Context, g Gomega, object client.Object, finalizer string) {
	before, ok := object.DeepCopyObject().(client.Object)
	g.Expect(ok).To(BeTrue())
	controllerutil.RemoveFinalizer(object, finalizer)
	g.Expect(client.IgnoreNotFound(suite.Client.Patch(ctx, object, client.MergeFrom(before)))).To(Succeed())
}

// deleteThrough deletes the dependents of an object that is being deleted, and then the object
// itself.
func (w *world) deleteThrough(ctx context.Context, g Gomega, object client.Object, finalizer string, infrastructure client.Object) {
	if object.GetDeletionTimestamp().IsZero() {
		return
	}
	err := suite.Client.Get(ctx, client.ObjectKeyFromObject(infrastructure), infrastructure)
	switch {
	case apierrors.IsNotFound(err):
		w.release(ctx, g, object, finalizer)
	case infrastructure.GetDeletionTimestamp().IsZero():
		g.Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, infrastructure))).To(Succeed())
	}
}

// deleteMachines deletes Machines and MachinePools, and returns how many are left.
func (w *world) deleteMachines(ctx context.Context, g Gomega, objects []client.Object) (left int) {
	for _, object := range objects {
		if kind := kindOf(object); kind != "Machine" && kind != "MachinePool" {
			continue
		}
		left++
		if object.GetDeletionTimestamp().IsZero() {
			g.Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, object))).To(Succeed())
		}
	}
	return left
}

// beGone waits until nothing is left of the cluster.
func (w *world) beGone(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) []string { return w.remaining(ctx, g) }).WithPolling(200 * time.Millisecond).Should(BeEmpty())
	Expect(w.left(ctx)).To(BeEmpty())
}

func (w *world) delete(ctx context.Context, object client.Object, options ...client.DeleteOption) {
	GinkgoHelper()
	Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, object, options...))).To(Succeed())
}

// without removes finalizers and owner references, as an impatient user might.
func (w *world) without(ctx context.Context, object client.Object, change func(client.Object)) {
	GinkgoHelper()
	Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
	before, ok := object.DeepCopyObject().(client.Object)
	Expect(ok).To(BeTrue())
	change(object)
	Expect(suite.Client.Patch(ctx, object, client.MergeFrom(before))).To(Succeed())
}

var _ = Describe("All of a cluster's objects", func() {
	DescribeTable("can be deleted at once, in any order", func(ctx SpecContext, withIdentity bool, history uint64) {
		w := newWorld(ctx, withIdentity)
		random := rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), history))
		random.Shuffle(len(w.all), func(i, j int) { w.all[i], w.all[j] = w.all[j], w.all[i] })
		for _, object := range w.all {
			policy := []client.PropagationPolicy{client.PropagationPolicy(metav1.DeletePropagationBackground), client.PropagationPolicy(metav1.DeletePropagationForeground)}
			// The garbage collector of this test does not know the dependents of a Cluster's
			// Secrets.
			if _, ok := object.(*corev1.Secret); ok {
				policy = policy[:1]
			}
			if _, ok := object.(*infrav1.FooClusterIdentity); ok {
				policy = policy[:1]
			}
			w.delete(ctx, object, policy[random.IntN(len(policy))])
		}
		w.beGone(ctx)
	},
		Entry("without an identity, history 1", false, uint64(1)),
		Entry("without an identity, history 2", false, uint64(2)),
		Entry("with an identity, history 3", true, uint64(3)),
		Entry("with an identity, history 4", true, uint64(4)),
		Entry("with an identity, history 5", true, uint64(5)),
	)

	It("are not deleted while machines exist: the FooCluster waits and names the machines", func(ctx SpecContext) {
		w := newWorld(ctx, false)
		w.delete(ctx, w.fooCluster)
		Eventually(func(g Gomega) string {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(w.fooCluster), w.fooCluster)).To(Succeed())
			return conditions.GetMessage(w.fooCluster, infrav1.DeletingCondition)
		}).Should(And(HavePrefix("Waiting for FooMachine m1, FooMachine m2, "), HaveSuffix(" and others to be deleted")))
		Expect(w.left(ctx)).To(HaveLen(5), "nothing is deleted from a cluster that is in use")
		w.delete(ctx, w.cluster)
		w.delete(ctx, infratest.NewSecret(w.namespace, "data", ""))
		w.beGone(ctx)
	})

	It("can be deleted while paused, and are gone once the pause ends", func(ctx SpecContext) {
		w := newWorld(ctx, true)
		w.without(ctx, w.cluster, func(o client.Object) { o.(*clusterv1.Cluster).Spec.Paused = ptr.To(true) })
		Eventually(w.running).WithContext(ctx).Should(BeEmpty(), "each controller must know about the pause before the first deletion")
		for _, object := range w.all {
			w.delete(ctx, object)
		}
		Consistently(w.left, "1s").WithContext(ctx).Should(HaveLen(5))
		w.without(ctx, w.cluster, func(o client.Object) { o.(*clusterv1.Cluster).Spec.Paused = nil })
		w.beGone(ctx)
	})

	It("are deleted even if the Cluster was removed by force and owner references are missing", func(ctx SpecContext) {
		w := newWorld(ctx, true)
		for _, object := range w.all {
			if kind := kindOf(object); kind == "FooMachine" || kind == "FooCluster" {
				w.without(ctx, object, func(o client.Object) { o.SetOwnerReferences(nil) })
			}
		}
		w.delete(ctx, w.cluster)
		w.without(ctx, w.cluster, func(o client.Object) { o.SetFinalizers(nil) })
		for _, object := range w.all {
			w.delete(ctx, object)
		}
		w.beGone(ctx)
	})

	It("can be deleted even if their identity never existed", func(ctx SpecContext) {
		namespace, err := suite.Namespace(ctx)
		Expect(err).NotTo(HaveOccurred())
		w := &world{namespace: namespace, cloud: suite.Cloud, cluster: infratest.NewCluster(namespace, "one")}
		w.cluster.Finalizers = []string{clusterv1.ClusterFinalizer}
		w.add(ctx, w.cluster)
		w.fooCluster = infratest.NewFooCluster(w.cluster)
		w.fooCluster.Spec.IdentityRef.Name = "misspelt"
		w.add(ctx, w.fooCluster)
		m := infratest.NewMachine(w.cluster, "m1")
		m.Finalizers = []string{clusterv1.MachineFinalizer}
		w.add(ctx, m)
		w.add(ctx, infratest.NewFooMachine(m))
		Eventually(func(g Gomega) string {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(w.fooCluster), w.fooCluster)).To(Succeed())
			return conditions.GetMessage(w.fooCluster, infrav1.FooClusterReadyCondition)
		}).Should(ContainSubstring("there is no FooClusterIdentity misspelt"))
		w.delete(ctx, w.cluster)
		w.beGone(ctx)
	})
})
