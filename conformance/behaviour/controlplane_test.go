// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestReportedVersions(t *testing.T) {
	for status, ok := range map[string]bool{"v1.31.0": true, "1.31.0": true, "1.31": true, "1.30": false, "": false} {
		for field, value := range map[string]any{"version": status, "versions": []any{map[string]any{"version": status}}} {
			t.Run(field+" "+status, func(t *testing.T) {
				object := &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "demo.example.com/v1", "kind": "DemoControlPlane", "metadata": map[string]any{"name": "demo"},
					"spec": map[string]any{"version": "v1.31.0"}, "status": map[string]any{field: value},
				}}
				s := &story{
					Client: fake.NewClientBuilder().WithObjects(object).Build(), ctx: t.Context(), checker: &Checker{Config: &Config{KubernetesVersion: "v1.36.3"}},
				}
				NewWithT(t).Expect(s.reportsVersion(object, "status-version") == nil).To(Equal(ok))
			})
		}
	}
}

// A Machine may go between two looks.
func TestFirstMachine(t *testing.T) {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(clusterv1.AddToScheme(scheme)).To(Succeed())
	s := &story{Client: fake.NewClientBuilder().WithScheme(scheme).Build(), ctx: t.Context(), namespace: "demo"}
	_, err := s.firstMachine()
	g.Expect(err).To(MatchError("it has created no Machine"))
	g.Expect(s.Create(t.Context(), &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "m0"}})).To(Succeed())
	g.Expect(s.firstMachine()).To(HaveField("Name", "m0"))
}
