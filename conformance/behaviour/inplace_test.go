// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// A control plane may have no spec.machineTemplate.spec, or one whose fields are pruned.
func TestChangeOfAMachineTemplate(t *testing.T) {
	for name, test := range map[string]struct {
		contract, path string
		template       any
	}{
		"v1beta1":                {"v1beta1", "spec.machineTemplate", map[string]any{}},
		"v1beta2":                {"v1beta2", "spec.machineTemplate.spec", map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{}}}},
		"v1beta2 without a spec": {"v1beta2", "spec.machineTemplate.spec", map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := &Checker{Config: &Config{Kinds: map[Role]*Kind{ControlPlane: {Features: []string{"machines", "minReadySeconds", "readinessGates", "taints"}}}}}
			g.Expect(c.readRules()).To(Succeed())
			s := &story{scenario: scenario{role: ControlPlane}, checker: c, contract: test.contract}
			object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"machineTemplate": test.template}}}
			s.changeMachineTemplate(object)
			g.Expect(fields.At(object, "spec.machineTemplate.metadata.labels")).To(HaveKeyWithValue(changedLabel, "yes"))
			g.Expect(fields.At(object, test.path)).To(HaveKey("readinessGates"))
		})
	}
}
