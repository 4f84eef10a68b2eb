// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/yamlprocessor"
	"sigs.k8s.io/yaml"

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
			expectDescribed(g, variable.Name, variable.Schema.OpenAPIV3Schema)
		}
	}
	_, err = specOf(all.Flavors[0])
	g.Expect(err).To(MatchError(ContainSubstring("read the ClusterClass")))
}

// expectDescribed checks the descriptions of a variable, and of its fields.
func expectDescribed(g *WithT, name string, schema clusterv1.JSONSchemaProps) {
	g.Expect(schema.Description).To(HaveSuffix("."), name)
	properties := schema.Properties
	if schema.Items != nil {
		properties = schema.Items.Properties
	}
	for field, property := range properties {
		expectDescribed(g, name+"."+field, property)
	}
}

func TestVariablesOfAFlavor(t *testing.T) {
	g := NewWithT(t)
	usual := flavors.Template{Content: []byte("${A} ${B:=1} ${C:=2} ${D}")}
	other := flavors.Template{Content: []byte("${A} ${B:=1} ${C:=3} ${E:=4}")}
	common, err := shared([]flavors.Template{usual, other})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(common).To(Equal(map[string]*string{"A": nil, "B": ptr.To("1"), "C": ptr.To("2")}))
	g.Expect(own(usual, common)).To(Equal(map[string]*string{"D": nil}))
	g.Expect(own(other, common)).To(Equal(map[string]*string{"C": ptr.To("3"), "E": ptr.To("4")}))
	_, err = shared([]flavors.Template{usual, {Content: []byte("${A")}})
	g.Expect(err).To(HaveOccurred())
}

func TestIncompleteDescriptionsAreRefused(t *testing.T) {
	const lacking = "variables.yaml lacks the meaning or the allowed values of the variable FOO_POD_CIDR: add them"
	for name, test := range map[string]struct{ content, want string }{
		"another variable":          {"FOO_PODS_CIDR: {meaning: x, allowed: y}", lacking},
		"without a meaning":         {"FOO_POD_CIDR: {allowed: y}", lacking},
		"without allowed values":    {"FOO_POD_CIDR: {meaning: x}", lacking},
		"twice":                     {"FOO_POD_CIDR: {meaning: x, allowed: y}\nFOO_POD_CIDR: {meaning: x, allowed: y}", `"FOO_POD_CIDR" already set in map`},
		"a field that is not known": {"FOO_POD_CIDR: {meaning: x, allowed: y, default: z}", `variables.yaml: error unmarshaling JSON`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := meaning([]byte(test.content), "FOO_POD_CIDR")
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

// The page shows each variable of a flavor, or it is not written.
func TestDescribedVariablesExist(t *testing.T) {
	g := NewWithT(t)
	content, err := templates.Sources.ReadFile("variables.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	described := map[string]variable{}
	g.Expect(yaml.UnmarshalStrict(content, &described)).To(Succeed())
	all, err := flavors.Build()
	g.Expect(err).NotTo(HaveOccurred())
	for _, flavor := range all.Flavors {
		used, err := yamlprocessor.NewSimpleProcessor().GetVariables(flavor.Content)
		g.Expect(err).NotTo(HaveOccurred())
		for _, name := range used {
			delete(described, name)
		}
	}
	g.Expect(described).To(BeEmpty(), "no flavor uses what templates/variables.yaml describes")
}
