//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infratest_test

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/controllers/cluster"
	"github.com/capfoo/cluster-api-provider-foo/controllers/clusteridentity"
	"github.com/capfoo/cluster-api-provider-foo/controllers/machine"
	"github.com/capfoo/cluster-api-provider-foo/controllers/machinepool"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

const filter = "mine"

var suite *infratest.Suite

func TestWatchFilter(t *testing.T) {
	infratest.Run(t, "Watch filter of the infrastructure controllers", &suite, addAll)
}

// tenant is the cloud of all identities.
var tenant = fake.New(fake.Options{})

type connection struct{ *fake.Cloud }

func (connection) Check(context.Context) error { return nil }

func (connection) Close() {}

func addAll(ctx context.Context, mgr ctrl.Manager, c *fake.Cloud, events *cloudevents.Events) error {
	clouds := cloudidentity.NewResolver(cloudidentity.Options{
		Client: mgr.GetClient(), Secrets: mgr.GetAPIReader(), Default: c, Follow: events.Follow,
		Connect: func(cloudidentity.Account) (cloudidentity.Connection, error) { return connection{tenant}, nil },
	})
	if err := clusteridentity.SetupWithManager(ctx, mgr, clusteridentity.Options{Checker: clouds, WatchFilterValue: filter}); err != nil {
		return err
	}
	if err := cluster.SetupWithManager(ctx, mgr, cluster.Options{Clouds: clouds, Events: events, WatchFilterValue: filter}); err != nil {
		return err
	}
	if err := machine.SetupWithManager(ctx, mgr, machine.Options{Clouds: clouds, Events: events, WatchFilterValue: filter}); err != nil {
		return err
	}
	return machinepool.SetupWithManager(ctx, mgr, machinepool.Options{Clouds: clouds, Events: events, WatchFilterValue: filter})
}

// A finalizer is a controller's first write.
var _ = DescribeTable("objects with the label of the filter, and no others, are reconciled",
	func(ctx SpecContext, create func(ctx context.Context, owner *clusterv1.Cluster, name string, labels map[string]string) client.Object) {
		namespace, err := suite.Namespace(ctx)
		Expect(err).NotTo(HaveOccurred())
		owner := infratest.NewCluster(namespace, "one")
		Expect(suite.Client.Create(ctx, owner)).To(Succeed())
		createFooCluster(ctx, owner, owner.Name, nil)
		mine := create(ctx, owner, "mine", map[string]string{clusterv1.WatchLabel: filter})
		other := create(ctx, owner, "other", map[string]string{clusterv1.WatchLabel: "another"})
		finalizers := func(g Gomega, object client.Object) []string {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
			return object.GetFinalizers()
		}
		suite.Cloud.DropWatches() // makes the controllers reconcile all objects that they know
		Eventually(finalizers).WithArguments(mine).ShouldNot(BeEmpty(), "the label matches")
		Consistently(finalizers, "1s").WithArguments(other).Should(BeEmpty(), "the label does not match")
	},
	Entry("FooCluster", createFooCluster),
	Entry("FooMachine", createFooMachine),
	Entry("FooMachinePool", createFooMachinePool),
	Entry("FooClusterIdentity", createIdentity),
)

// createIdentity creates an identity that the controller finds through its Secret and through a
// deleted FooCluster.
func createIdentity(ctx context.Context, owner *clusterv1.Cluster, name string, labels map[string]string) client.Object {
	GinkgoHelper()
	object := newIdentity(owner.Namespace, name)
	object.Labels = map[string]string{}
	create(ctx, object, labels)
	Expect(suite.Client.Create(ctx, newCredentials(owner.Namespace, name))).To(Succeed())
	return object
}

func newIdentity(namespace, name string) *infrav1.FooClusterIdentity {
	return &infrav1.FooClusterIdentity{
		ObjectMeta: metav1.ObjectMeta{Name: namespace + "-" + name, Labels: map[string]string{clusterv1.WatchLabel: filter}},
		Spec: infrav1.FooClusterIdentitySpec{
			Endpoint: "https://cloud.example.com", Tenant: "red",
			CredentialsRef:    infrav1.FooClusterIdentitySecretReference{Namespace: namespace, Name: name},
			AllowedNamespaces: infrav1.AllowedNamespaces{List: []string{namespace}},
		},
	}
}

func newCredentials(namespace, name string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Type: infrav1.FooClusterIdentitySecretType,
		StringData: map[string]string{infrav1.FooClusterIdentityTokenKey: "token"},
	}
}

func createFooCluster(ctx context.Context, owner *clusterv1.Cluster, name string, labels map[string]string) client.Object {
	GinkgoHelper()
	object := infratest.NewFooCluster(owner)
	object.Name = name
	return create(ctx, object, labels)
}

func createFooMachine(ctx context.Context, owner *clusterv1.Cluster, name string, labels map[string]string) client.Object {
	GinkgoHelper()
	m := infratest.NewMachine(owner, name)
	Expect(suite.Client.Create(ctx, m)).To(Succeed())
	return create(ctx, infratest.NewFooMachine(m), labels)
}

func createFooMachinePool(ctx context.Context, owner *clusterv1.Cluster, name string, labels map[string]string) client.Object {
	GinkgoHelper()
	pool := infratest.NewMachinePool(owner, name, 1)
	Expect(suite.Client.Create(ctx, pool)).To(Succeed())
	return create(ctx, infratest.NewFooMachinePool(pool), labels)
}

func create(ctx context.Context, object client.Object, labels map[string]string) client.Object {
	GinkgoHelper()
	merged := object.GetLabels()
	for key, value := range labels {
		merged[key] = value
	}
	object.SetLabels(merged)
	Expect(suite.Client.Create(ctx, object)).To(Succeed())
	return object
}
