//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

// flavorVariables holds a value for each variable without a default.
var flavorVariables = map[string]string{
	"FOO_CLUSTER_IDENTITY": "outer",
	"CLUSTER_NAME":         "demo", "KUBERNETES_VERSION": "v1.36.3", "CONTROL_PLANE_MACHINE_COUNT": "1", "WORKER_MACHINE_COUNT": "3",
	"FOO_ETCD_ENDPOINTS": "[https://192.0.2.1:2379, https://192.0.2.2:2379]",
}

var _ = Describe("What a release publishes", func() {
	all, err := flavors.Build()
	if err != nil {
		AbortSuite("templates: " + err.Error())
	}
	for _, template := range all.Files() {
		It("is accepted by the API server: "+template.File, func(ctx SpecContext) { expectAccepted(ctx, template) })
	}
	for _, template := range earlier() {
		It("is accepted after it: "+template.File, func(ctx SpecContext) { expectAccepted(ctx, template) })
	}
})

// earlier returns the templates and classes of earlier releases, from which users still create
// clusters. Their File is a path.
func earlier() []flavors.Template {
	root := filepath.Join("..", "..", "e2e", "testdata", "releases")
	files, err := filepath.Glob(filepath.Join(root, "v*", "infrastructure-foo", "v*", "cluster*.yaml"))
	if err != nil || len(files) == 0 {
		AbortSuite(fmt.Sprintf("no earlier release in %s: %v", root, err))
	}
	templates := make([]flavors.Template, 0, len(files))
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			AbortSuite("earlier release: " + err.Error())
		}
		name := filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file))
		templates = append(templates, flavors.Template{File: name, Content: content})
	}
	return templates
}

// expectAccepted expects that a user can create all objects of a template.
func expectAccepted(ctx context.Context, template flavors.Template) {
	GinkgoHelper()
	namespace, err := environment.CreateNamespace(ctx, "flavor")
	Expect(err).NotTo(HaveOccurred())
	variables := maps.Clone(flavorVariables)
	variables["NAMESPACE"] = namespace
	objects, err := template.Render(ctx, namespace, variables)
	Expect(err).NotTo(HaveOccurred())
	Expect(objects).NotTo(BeEmpty())
	strict := client.WithFieldValidation(environment.Client, metav1.FieldValidationStrict)
	for _, object := range objects {
		Expect(strict.Create(ctx, &object, client.DryRunAll)).To(Succeed(), "%s %s", object.GetKind(), object.GetName())
	}
}

// The contract documents show types and fragments. These are whole objects with all of their
// fields.
var _ = Describe("An example of the contracts", func() {
	var examples []struct {
		Shows  string         `json:"shows"`
		Object map[string]any `json:"object"`
	}
	read("examples.yaml", &examples)
	for index, example := range examples {
		It("is accepted: "+example.Shows, func(ctx SpecContext) {
			namespace, err := environment.CreateNamespace(ctx, "example")
			Expect(err).NotTo(HaveOccurred())
			object := merged(example.Object, nil)
			object.SetName(fmt.Sprintf("example-%d", index))
			object.SetNamespace(namespace)
			want := merged(object.Object, nil)
			strict := client.WithFieldValidation(environment.Client, metav1.FieldValidationStrict)
			Expect(strict.Create(ctx, object)).To(Succeed())
			status, found, err := unstructured.NestedMap(want.Object, "status")
			Expect(err).NotTo(HaveOccurred())
			if found {
				Expect(unstructured.SetNestedMap(object.Object, status, "status")).To(Succeed())
				Expect(strict.Status().Update(ctx, object)).To(Succeed())
			}
			version := want.GroupVersionKind().Version
			if want.GetKind() == "ClusterRole" {
				want.SetNamespace("")
				object.SetNamespace("")
				Expect(get(ctx, object, version).Object["rules"]).To(Equal(want.Object["rules"]))
				return
			}
			Expect(specOf(get(ctx, object, version))).To(Equal(specOf(want)))
			// The counts of v1beta1 are computed from other fields; other tests cover
			// them.
			if found && version == "v1beta2" {
				read, _, err := unstructured.NestedMap(get(ctx, object, version).Object, "status")
				Expect(err).NotTo(HaveOccurred())
				for field, value := range status {
					Expect(read).To(HaveKeyWithValue(field, value), "status.%s", field)
				}
			}
		})
	}
})
