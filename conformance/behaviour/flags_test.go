// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

func TestNamespaceFlag(t *testing.T) {
	for name, test := range map[string]struct {
		help        string
		controllers bool
		want        conformance.Status
	}{
		"pflag":               {"Usage:\n      --namespace string   to watch\n", true, conformance.Passed},
		"with a short form":   {"  -n, --namespace string   to watch\n", true, conformance.Passed},
		"flag":                {"  -namespace string\n    \tto watch\n", true, conformance.Passed},
		"another flag":        {"      --leader-elect-namespace string   of the lease\n", true, conformance.Failed},
		"a longer flag":       {"      --namespace-selector string   to watch\n", true, conformance.Failed},
		"only in a text":      {"      --leader-elect   in the --namespace\n", true, conformance.Failed},
		"without controllers": {"", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p := &process{name: "manager", controllers: test.controllers, arguments: []string{"printf", "%.0s" + test.help}}
			c := &Checker{Config: &Config{}, programs: &launcher{processes: []*process{p}}}
			results := c.checkFlags(t.Context(), []string{"v1beta2"})
			if test.want == "" {
				g.Expect(results).To(BeEmpty())
				return
			}
			g.Expect(results).To(HaveExactElements(HaveField("Status", test.want)))
		})
	}
}

func TestGroupsOfAServiceAccount(t *testing.T) {
	NewWithT(t).Expect(groupsOf("system:serviceaccount:demo-system:manager")).To(Equal([]string{"system:serviceaccounts", "system:serviceaccounts:demo-system"}))
}
