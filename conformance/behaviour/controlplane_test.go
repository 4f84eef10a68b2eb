// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestReportedVersions(t *testing.T) {
	for status, ok := range map[string]bool{"v1.31.0": true, "1.31.0": true, "1.31": true, "1.30": false, "": false} {
		for field, value := range map[string]any{"version": status, "versions": []any{map[string]any{"version": status}}} {
			t.Run(field+" "+status, func(t *testing.T) {
				object := &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "demo.example.com/v1", "kind": "DemoControlPlane", "metadata": map[string]any{"name": "demo"}, "status": map[string]any{field: value},
				}}
				s := &story{
					Client: fake.NewClientBuilder().WithObjects(object).Build(), ctx: t.Context(), checker: &Checker{Config: &Config{KubernetesVersion: "v1.31.0"}},
				}
				NewWithT(t).Expect(s.reportsVersion(object, "status-version") == nil).To(Equal(ok))
			})
		}
	}
}
