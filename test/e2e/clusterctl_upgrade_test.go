//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/diff"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// expectDefinitions expects that the CRDs are those of both providers of a release, and that all
// objects are stored in its storage version.
func (m *management) expectDefinitions(ctx context.Context, release string) {
	GinkgoHelper()
	for _, provider := range []string{"control-plane", "infrastructure"} {
		content, err := os.ReadFile(filepath.Join(bin, "release", provider+"-foo", release, provider+"-components.yaml"))
		Expect(err).NotTo(HaveOccurred())
		for _, object := range decodeObjects(bytes.NewReader(content)) {
			if object.GetKind() == "CustomResourceDefinition" {
				m.expectDefinition(ctx, object)
			}
		}
	}
}

func (m *management) expectDefinition(ctx context.Context, want *unstructured.Unstructured) {
	GinkgoHelper()
	found, stored := versionsOf(m.definition(Default, ctx, want.GetName())), ""
	for i, version := range versionsOf(want) {
		Expect(reflect.DeepEqual(found[i], version)).To(BeTrue(), func() string {
			return fmt.Sprintf("%s of %s differs from the release: %s", version["name"], want.GetName(), diff.Diff(version, found[i]))
		})
		if version["storage"] == true {
			stored = fmt.Sprint(version["name"])
		}
	}
	Eventually(func(g Gomega) {
		versions, _, err := unstructured.NestedStringSlice(m.definition(g, ctx, want.GetName()).Object, "status", "storedVersions")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(versions).To(Equal([]string{stored}), want.GetName())
	}).WithContext(ctx).Should(Succeed(), "objects are stored in a version other than the storage version")
}

// definition returns a CRD.
func (m *management) definition(g Gomega, ctx context.Context, name string) *unstructured.Unstructured {
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	g.Expect(m.Get(ctx, client.ObjectKey{Name: name}, crd)).To(Succeed())
	return crd
}

// versionsOf returns the versions of a CRD without descriptions, because clusterctl replaces $$
// with $ in them.
func versionsOf(crd *unstructured.Unstructured) []map[string]any {
	GinkgoHelper()
	list, _, err := unstructured.NestedFieldNoCopy(crd.Object, "spec", "versions")
	Expect(err).NotTo(HaveOccurred())
	// A file and an API server may write numbers differently.
	content, err := json.Marshal(list)
	Expect(err).NotTo(HaveOccurred())
	var versions []map[string]any
	Expect(json.Unmarshal(content, &versions)).To(Succeed())
	Expect(versions).NotTo(BeEmpty())
	for _, version := range versions {
		undescribe(version)
	}
	return versions
}

// undescribe removes the descriptions from a schema recursively. A field named description is kept,
// because its value is not text.
func undescribe(value any) {
	switch value := value.(type) {
	case map[string]any:
		if _, ok := value["description"].(string); ok {
			delete(value, "description")
		}
		for _, inner := range value {
			undescribe(inner)
		}
	case []any:
		for _, inner := range value {
			undescribe(inner)
		}
	}
}

// changeSpecs changes the fields below spec in each version of a CRD.
func (m *management) changeSpecs(ctx context.Context, name string, change func(fields map[string]any)) {
	GinkgoHelper()
	Eventually(func(g Gomega) { // the managers also write to it
		crd := m.definition(g, ctx, name)
		versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
		g.Expect(err).NotTo(HaveOccurred())
		for _, version := range versions {
			fields, found, err := unstructured.NestedFieldNoCopy(version.(map[string]any), "schema", "openAPIV3Schema", "properties", "spec", "properties")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(found).To(BeTrue())
			change(fields.(map[string]any))
		}
		g.Expect(unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions")).To(Succeed())
		g.Expect(m.Update(ctx, crd)).To(Succeed())
	}).WithContext(ctx).Should(Succeed())
}
