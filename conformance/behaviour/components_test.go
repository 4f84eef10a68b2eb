// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestServiceAccountOfAProgram(t *testing.T) {
	const one = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: manager, namespace: demo-system}\n"
	const several = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: operator, namespace: demo-system}\n---\n" + one
	for name, test := range map[string]struct {
		components, wanted string
		user, problem      string
	}{
		"none":               {"", "", "", ""},
		"one":                {one, "", "system:serviceaccount:demo-system:manager", ""},
		"one, by its name":   {one, "manager", "system:serviceaccount:demo-system:manager", ""},
		"one of several":     {several, "manager", "system:serviceaccount:demo-system:manager", ""},
		"several":            {several, "", "", "the ServiceAccounts operator, manager: name the one of the program in serviceAccount"},
		"none with the name": {several, "other", "", "no ServiceAccount other; they have operator, manager"},
		"none at all":        {"", "other", "", "no ServiceAccount other; they have none"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			objects, err := decode([]byte(test.components))
			g.Expect(err).NotTo(HaveOccurred())
			user, err := serviceAccount(objects, test.wanted)
			g.Expect(user).To(Equal(test.user))
			if test.problem == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(test.problem)))
			}
		})
	}
}

func TestKindsThatComponentsDefine(t *testing.T) {
	g := NewWithT(t)
	objects, err := decode([]byte(`{kind: Namespace, metadata: {name: demo-system}}
---
{kind: CustomResourceDefinition, spec: {group: demo.example.com, names: {kind: DemoMachine, plural: demomachines}}}
`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(definedKinds(objects)).To(HaveExactElements(schema.GroupKind{Group: "demo.example.com", Kind: "DemoMachine"}))
}
