// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fields_test

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

func TestConditions(t *testing.T) {
	for name, test := range map[string]struct {
		condition map[string]any
		want      string
	}{
		// The contract has defaults for everything else, and ignores what it does not know.
		"only what is required":  {map[string]any{"type": "Ready", "status": "True"}, ""},
		"of the deprecated type": {map[string]any{"type": "Ready", "status": "False", "severity": "Error"}, ""},
		"no type":                {map[string]any{"status": "True"}, "has no type"},
		"no status":              {map[string]any{"type": "Ready"}, `has the status "", want True, False or Unknown`},
		"another status":         {map[string]any{"type": "Ready", "status": "Yes"}, `has the status "Yes"`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			object := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": []any{test.condition}}}}
			err := fields.CheckConditions(fields.Conditions(object, "status.conditions"))
			if test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(test.want)))
			}
		})
	}
}

func TestRebuilt(t *testing.T) {
	g := NewWithT(t)
	object := func(path string, value any) *unstructured.Unstructured {
		content := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "demo"}}}
		g.Expect(unstructured.SetNestedField(content.Object, value, "status", path)).To(Succeed())
		return content
	}
	a, b := map[string]any{"name": "a"}, map[string]any{"name": "b", "controlPlane": true}
	one, other := object("failureDomains", []any{b, a}), object("failureDomains", []any{a, b})
	g.Expect(fields.Rebuilt(one, other)).To(Succeed())
	g.Expect(one).To(Equal(object("failureDomains", []any{b, a})), "the object stays as it is")
	g.Expect(fields.Rebuilt(object("failureDomains", []any{a, a}), object("failureDomains", []any{a}))).NotTo(Succeed())
	g.Expect(fields.Rebuilt(object("versions", []any{b, a}), object("versions", []any{a, b}))).To(MatchError(ContainSubstring("status.versions of demo was")))
	g.Expect(fields.Rebuilt(object("addresses", []any{a}), object("other", "b"))).To(MatchError("status.addresses of demo was - name: a before, and is not set"))
}
