// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/templates"
	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

func TestVariablesOfClassesAreDescribed(t *testing.T) {
	g := NewWithT(t)
	all, err := flavors.Build()
	g.Expect(err).NotTo(HaveOccurred())
	for _, class := range all.Classes {
		spec, err := specOf(class)
		g.Expect(err).NotTo(HaveOccurred())
		for _, variable := range spec.Variables {
			for _, field := range fields(variable.Name, variable.Schema.OpenAPIV3Schema) {
				g.Expect(field.Meaning).To(HaveSuffix("."), field.Name)
			}
		}
	}
	_, err = specOf(all.Flavors[0])
	g.Expect(err).To(MatchError(ContainSubstring("read the ClusterClass")))
}

func TestIncompleteDescriptionsAreRefused(t *testing.T) {
	const pods = "- name: FOO_POD_CIDR\n"
	for name, test := range map[string]struct{ to, want string }{
		"a variable without a meaning": {"- name: FOO_PODS_CIDR\n",
			"cluster-template.yaml: the variable FOO_POD_CIDR is not in variables.yaml: document it there"},
		"a variable that no flavor has": {"- {name: FOO_GONE, meaning: x, allowed: y}\n" + pods,
			"variables.yaml describes [FOO_GONE], which no flavor uses: delete them"},
		"a variable without allowed values": {"- {name: FOO_GONE, meaning: x}\n" + pods,
			`variable "FOO_GONE": want it once, with a name, a meaning and the allowed values`},
		"a variable twice": {"- {name: FOO_POD_CIDR, meaning: x, allowed: y}\n" + pods, `variable "FOO_POD_CIDR": want it once`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			meanings, err := templates.Sources.ReadFile("variables.yaml")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(meanings)).To(ContainSubstring(pods))
			_, err = templatesPage([]byte(strings.Replace(string(meanings), pods, test.to, 1)))
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}
