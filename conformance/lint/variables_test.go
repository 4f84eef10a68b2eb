// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/lint"
)

// clusterctl reads the YAML after the substitution, so a variable can be a block of fields, as in Metal3's template.
func TestAVariableAloneOnALineMayBeABlock(t *testing.T) {
	const cluster = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: demo}\nspec:\n  paused: false\n"
	for name, test := range map[string]struct{ template, finding string }{
		"fields":                 {cluster + "# yamllint disable-line rule:syntax\n${EXTRA_FIELDS}\n", ""},
		"Windows' ends of lines": {cluster + "  ${EXTRA_FIELDS} \r\n", ""},
		"the last line":          {cluster + "${EXTRA_FIELDS}", ""},
		"a value":                {cluster + "  class:\n    ${CLASS}\n", ""},
		"an error above":         {"a: [\n---\n" + cluster + "${EXTRA_FIELDS}\n", "line 1: did not find expected node content"},
		"an error below":         {cluster + "${EXTRA_FIELDS}\n---\na: [\n", "line 8: did not find expected node content"},
		"a default":              {cluster + "${EXTRA_FIELDS:-text}\n", "line 7: could not find expected ':'"},
		"text beside it":         {cluster + "a ${EXTRA_FIELDS}\n", "line 7: could not find expected ':'"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			content, err := os.ReadFile(filepath.Join(base, release, components))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(os.WriteFile(filepath.Join(dir, components), content, 0o600)).To(Succeed())
			g.Expect(os.WriteFile(filepath.Join(dir, "cluster-template.yaml"), []byte(test.template), 0o600)).To(Succeed())
			releases, err := lint.Load(nil, dir)
			g.Expect(err).NotTo(HaveOccurred())
			results, err := (&lint.Linter{Releases: releases}).Check(t.Context(), nil)
			g.Expect(err).NotTo(HaveOccurred())
			findings := HaveField("Status", conformance.Passed)
			if test.finding != "" {
				findings = HaveField("Findings", ConsistOf(HaveField("Message", ContainSubstring(test.finding))))
			}
			g.Expect(results).To(ContainElement(And(HaveField("Rule", "clusterctl/template-yaml"), findings)))
			g.Expect(releases[0].Files).To(ContainElement(HaveField("Variables", Not(BeEmpty()))))
		})
	}
}
