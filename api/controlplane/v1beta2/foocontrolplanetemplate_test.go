//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

var _ = Describe("FooControlPlaneTemplate", func() {
	It("can be empty", func(ctx context.Context) {
		namespace, err := env.CreateNamespace(ctx, "template")
		Expect(err).NotTo(HaveOccurred())
		created := &controlplanev1.FooControlPlaneTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "empty"}}
		Expect(env.Client.Create(ctx, created)).To(Succeed())

		var list controlplanev1.FooControlPlaneTemplateList
		Expect(env.Client.List(ctx, &list, client.InNamespace(namespace))).To(Succeed())
		Expect(list.Items).To(HaveLen(1))
	})

	It("has no field for what a topology says", func(ctx context.Context) {
		namespace, err := env.CreateNamespace(ctx, "template")
		Expect(err).NotTo(HaveOccurred())
		template := &unstructured.Unstructured{Object: map[string]any{
			"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"version": "v1.36.3"}}},
		}}
		template.SetGroupVersionKind(controlplanev1.GroupVersion.WithKind("FooControlPlaneTemplate"))
		template.SetNamespace(namespace)
		template.SetName("with-version")
		err = env.Client.Create(ctx, template, client.FieldValidation(metav1.FieldValidationStrict))
		Expect(err).To(MatchError(ContainSubstring(`unknown field "spec.template.spec.version"`)))
	})
})
