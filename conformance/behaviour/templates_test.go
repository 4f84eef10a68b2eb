// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

func TestTemplateChangeIsMerged(t *testing.T) {
	spec := map[string]any{"image": map[string]any{"id": "a", "size": "small"}, "zones": []any{"a"}, "name": "x"}
	mergeInto(spec, map[string]any{"image": map[string]any{"size": "large"}, "zones": []any{"b"}, "disk": map[string]any{"size": 1}})
	NewWithT(t).Expect(spec).To(Equal(map[string]any{
		"image": map[string]any{"id": "a", "size": "large"}, "zones": []any{"b"}, "name": "x", "disk": map[string]any{"size": 1},
	}))
}

// Without a change, a dry run says nothing about rules that make a template immutable.
func TestDryRunWithoutAChange(t *testing.T) {
	g := NewWithT(t)
	c := &Checker{Config: &Config{Kinds: map[Role]*Kind{BootstrapConfig: {Kind: "Demo"}}}}
	g.Expect(c.readRules()).To(Succeed())
	s := &story{scenario: templateScenarios(BootstrapConfig)[0], checker: c, contract: "v1beta2", results: &results{}}
	g.Expect(templateDryRun(s)).To(Succeed())
	g.Expect(s.results.list([]string{"v1beta2"})).To(HaveExactElements(HaveField("Status", conformance.NotRun)))
}
