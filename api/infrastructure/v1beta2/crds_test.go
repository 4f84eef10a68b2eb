//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

var (
	_ conditions.Setter = &infrav1.FooCluster{}
	_ conditions.Setter = &infrav1.FooMachine{}
	_ conditions.Setter = &infrav1.FooMachinePool{}
)

var _ = Describe("The CRDs", func() {
	DescribeTable("are as Cluster API wants them", func(ctx context.Context, kind string) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		name := contract.CalculateCRDName(infrav1.GroupVersion.Group, kind)
		Expect(env.Client.Get(ctx, client.ObjectKey{Name: name}, crd)).To(Succeed())
		Expect(crd.Spec.Scope).To(Equal(apiextensionsv1.NamespaceScoped))
		Expect(crd.Spec.Names.Categories).To(ContainElement("cluster-api"))
		Expect(crd.Spec.Names.ShortNames).To(HaveLen(1))
		Expect(crd.Labels).To(And(
			HaveKeyWithValue("cluster.x-k8s.io/v1beta2", "v1beta2"),
			HaveKeyWithValue("cluster.x-k8s.io/provider", "infrastructure-foo"),
			HaveKeyWithValue("clusterctl.cluster.x-k8s.io", ""),
		))
	},
		Entry("FooCluster", "FooCluster"),
		Entry("FooClusterTemplate", "FooClusterTemplate"),
		Entry("FooMachine", "FooMachine"),
		Entry("FooMachineTemplate", "FooMachineTemplate"),
		Entry("FooMachinePool", "FooMachinePool"),
		Entry("FooMachinePoolTemplate", "FooMachinePoolTemplate"),
	)
})

var _ = Describe("The statuses", func() {
	DescribeTable("have no terminal failure fields", func(ctx context.Context, kind string) {
		// In a pool, such a field makes the controllers of Cluster API v1.14 panic.
		created, err := create(ctx, kind, map[string]any{})
		Expect(err).NotTo(HaveOccurred())
		created.Object["status"] = map[string]any{"failureReason": "Broken", "failureMessage": "broken"}
		err = env.Client.Status().Update(ctx, created, client.FieldValidation("Strict"))
		Expect(err).To(MatchError(And(
			ContainSubstring(`unknown field "status.failureReason"`), ContainSubstring(`unknown field "status.failureMessage"`),
		)))
	},
		Entry("FooCluster", "FooCluster"),
		Entry("FooMachine", "FooMachine"),
		Entry("FooMachinePool", "FooMachinePool"),
	)
})

// create creates an object from its spec as a user would write it, and returns it as the API server
// stores it.
func create(ctx context.Context, kind string, spec map[string]any) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetGroupVersionKind(infrav1.GroupVersion.WithKind(kind))
	object.SetNamespace(namespace)
	object.SetGenerateName("test-")
	return object, env.Client.Create(ctx, object, client.FieldValidation("Strict"))
}

// template wraps a spec in a template.
func template(spec map[string]any) map[string]any {
	return map[string]any{"template": map[string]any{"spec": spec}}
}

// asUnstructured reads an object as it is stored, without the fields that Go would add.
func asUnstructured(ctx context.Context, kind string, object client.Object) *unstructured.Unstructured {
	GinkgoHelper()
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(infrav1.GroupVersion.WithKind(kind))
	Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(object), stored)).To(Succeed())
	return stored
}
