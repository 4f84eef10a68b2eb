// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// A machine is ready again, and has lost where it is.
func TestAllOfAStatusMustComeBack(t *testing.T) {
	for _, field := range []string{"addresses", "failureDomain", "version", "readyReplicas"} {
		t.Run(field, func(t *testing.T) {
			now := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "demo.example.com/v1", "kind": "DemoMachine", "metadata": map[string]any{"name": "demo"},
				"status": map[string]any{"initialization": map[string]any{"provisioned": true}},
			}}
			before := now.DeepCopy()
			g := NewWithT(t)
			g.Expect(unstructured.SetNestedField(before.Object, "a", "status", field)).To(Succeed())
			s := &story{scenario: scenario{role: InfraMachine}, Client: fake.NewClientBuilder().WithObjects(now).Build(), ctx: t.Context(), contract: "v1beta2"}
			g.Expect(s.rebuilt(now, now.DeepCopy())).To(Succeed())
			g.Expect(s.rebuilt(now, before)).To(MatchError("status." + field + " of demo was a before, and is not set"))
		})
	}
}
