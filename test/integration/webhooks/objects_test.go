//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	jsonpatch "github.com/evanphx/json-patch/v5"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// fixtureName is the name of each object. Each object has a namespace of its own.
const fixtureName = "fixture"

// valid holds the objects of testdata/valid.yaml by version and kind.
var valid = func() map[schema.GroupVersionKind]map[string]any {
	var objects []map[string]any
	read("valid.yaml", &objects)
	result := map[schema.GroupVersionKind]map[string]any{}
	for _, object := range objects {
		result[(&unstructured.Unstructured{Object: object}).GroupVersionKind()] = object
	}
	return result
}()

// kinds holds the kinds that have two versions, by group.
var kinds = map[string][]string{
	"controlplane.cluster.x-k8s.io":   {"FooControlPlane", "FooControlPlaneTemplate"},
	"infrastructure.cluster.x-k8s.io": {"FooCluster", "FooClusterTemplate", "FooMachine", "FooMachineTemplate", "FooMachinePool", "FooMachinePoolTemplate"},
}

// read decodes a file of testdata. Ginkgo builds its tree from the result, so no spec can fail yet.
func read(name string, into any) {
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = yaml.UnmarshalStrict(content, into)
	}
	if err != nil {
		AbortSuite(name + ": " + err.Error())
	}
}

func groupOf(kind string) string {
	for group, names := range kinds {
		for _, name := range names {
			if name == kind {
				return group
			}
		}
	}
	return ""
}

// fixture returns the valid object of a kind in a new namespace, changed by a merge patch.
func fixture(ctx context.Context, version, kind string, patch any) *unstructured.Unstructured {
	GinkgoHelper()
	base, found := valid[schema.GroupVersionKind{Group: groupOf(kind), Version: version, Kind: kind}]
	Expect(found).To(BeTrue(), "testdata/valid.yaml has no %s in %s", kind, version)
	object := merged(base, patch)
	namespace, err := environment.CreateNamespace(ctx, "webhooks")
	Expect(err).NotTo(HaveOccurred())
	object.SetNamespace(namespace)
	object.SetName(fixtureName)
	return object
}

// merged returns an object changed by a merge patch.
func merged(object map[string]any, patch any) *unstructured.Unstructured {
	GinkgoHelper()
	before, err := json.Marshal(object)
	Expect(err).NotTo(HaveOccurred())
	if patch == nil {
		patch = map[string]any{}
	}
	content, err := json.Marshal(patch)
	Expect(err).NotTo(HaveOccurred())
	after, err := jsonpatch.MergePatch(before, content)
	Expect(err).NotTo(HaveOccurred())
	result := &unstructured.Unstructured{}
	Expect(result.UnmarshalJSON(after)).To(Succeed())
	return result
}

// get reads an object in a version.
func get(ctx SpecContext, object client.Object, version string) *unstructured.Unstructured {
	GinkgoHelper()
	kind := object.GetObjectKind().GroupVersionKind()
	result := &unstructured.Unstructured{}
	result.SetGroupVersionKind(kind.GroupKind().WithVersion(version))
	Expect(environment.Client.Get(ctx, client.ObjectKeyFromObject(object), result)).To(Succeed())
	return result
}

func mergePatch(change any) client.Patch {
	GinkgoHelper()
	content, err := json.Marshal(change)
	Expect(err).NotTo(HaveOccurred())
	return client.RawPatch("application/merge-patch+json", content)
}

// specOf returns the spec without empty objects, which Cluster API's v1beta1 types always write.
func specOf(object *unstructured.Unstructured) any {
	spec, _ := object.Object["spec"].(map[string]any)
	return withoutEmpty(spec)
}

func withoutEmpty(object map[string]any) map[string]any {
	result := map[string]any{}
	for key, value := range object {
		if nested, isObject := value.(map[string]any); isObject {
			if nested = withoutEmpty(nested); len(nested) == 0 {
				continue
			}
			value = nested
		}
		result[key] = value
	}
	return result
}
