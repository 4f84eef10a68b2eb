//go:build integration

/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package controlplane_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

var _ = Describe("FooControlPlaneTemplate", Label("contract:control-plane.template"), func() {
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
