// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func scanned(t *testing.T, path, content string) (evidence, error) {
	t.Helper()
	g := NewWithT(t)
	found := evidence{code: map[string][]place{}, tests: map[string][]place{}}
	file, err := parseFile(path, path, content)
	g.Expect(err).NotTo(HaveOccurred())
	err = found.add(file)
	found.sort()
	return found, err
}

func TestMarkersNameTheirSymbol(t *testing.T) {
	g := NewWithT(t)
	found, err := scanned(t, "controllers/thing.go", `// Package thing does things.
//
//contract:control-plane/scope
package thing

// Spec is a spec.
//
//contract:control-plane/template
type Spec struct {
	// replicas are replicas.
	//contract:control-plane/version
	Version string
	Replicas *int32 // contract:control-plane/replicas
}

const (
	// First is first.
	First = 1
	// Second is second. contract:control-plane/machines is prose here.
	// contract:control-plane/pausing
	Second = 2
)

// Reconcile reconciles.
// contract:control-plane/kubeconfig
func (r *Reconciler) Reconcile() {
	// contract:control-plane/conditions
	run()
}

func plain() {} // contract:control-plane/endpoint
`)
	g.Expect(err).To(MatchError(ContainSubstring(`controllers/thing.go:31: the marker of "control-plane/endpoint" belongs to no declaration`)))
	at := func(name string) []place { return []place{{path: "controllers/thing.go", name: name}} }
	g.Expect(found.code).To(Equal(map[string][]place{
		"control-plane/scope":      at("package thing"),
		"control-plane/template":   at("Spec"),
		"control-plane/version":    at("Spec.Version"),
		"control-plane/replicas":   at("Spec.Replicas"),
		"control-plane/pausing":    at("Second"),
		"control-plane/kubeconfig": at("Reconciler.Reconcile"),
		"control-plane/conditions": at("Reconciler.Reconcile"),
	}))
	g.Expect(found.tests).To(BeEmpty())
}

func TestLabelsNameTheirTest(t *testing.T) {
	g := NewWithT(t)
	found, err := scanned(t, "controllers/thing_test.go", `package thing

var _ = Describe("Thing", Label("contract:infra-cluster.conditions", "slow"), func() {
	Context("when small", func() {
		It("works", Label("contract:infra-cluster.pausing", "contract:infra-machinepool.providerIDList"), func() {})
		It("works", ginkgo.Label("contract:infra-cluster.pausing"), func() {})
	})
	DescribeTable("counts", func(int) {}, Entry("one "+"more", Label("contract:infra-cluster.scope"), 1))
})

// TestPlain tests plainly.
//
//contract:infra-cluster/template
func TestPlain() {}
`)
	g.Expect(err).NotTo(HaveOccurred())
	at := func(name string) []place { return []place{{path: "controllers/thing_test.go", name: name}} }
	g.Expect(found.tests).To(Equal(map[string][]place{
		"infra-cluster/conditions":         at("Thing"),
		"infra-cluster/pausing":            at("Thing when small works"),
		"infra-machinepool/providerIDList": at("Thing when small works"),
		"infra-cluster/scope":              at("Thing counts one"),
		"infra-cluster/template":           at("TestPlain"),
	}))
	g.Expect(found.code).To(BeEmpty())
}

func TestWrongNamesAreErrors(t *testing.T) {
	for name, c := range map[string]struct{ path, content, message string }{
		"unknown rule in a marker": {
			"a.go", "package a\n\n//contract:control-plane/coffee\nfunc a() {}\n",
			`a.go:3: "control-plane/coffee" is not a rule of a contract`,
		},
		"unknown rule in a label": {
			"a_test.go", "package a\n\nvar _ = It(\"a\", Label(\"contract:control-plane.coffee\"))\n",
			`a_test.go:3: "control-plane/coffee" is not a rule of a contract`,
		},
		"label with a slash": {
			"a_test.go", "package a\n\nvar _ = It(\"a\", Label(\"contract:control-plane/scope\"))\n",
			"a_test.go:3: the label \"contract:control-plane/scope\" contains a slash, which Ginkgo rejects: write a dot",
		},
		"label that is concatenated": {
			"a_test.go", "package a\n\nvar _ = It(\"a\", Label(\"contract:\"+name))\n",
			"must be a single literal",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := scanned(t, c.path, c.content)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.message)))
		})
	}
}

func TestScanReadsTheRepositoryOnly(t *testing.T) {
	g := NewWithT(t)
	root := t.TempDir()
	for path, content := range map[string]string{
		"a/a.go":          "package a\n\n//contract:control-plane/scope\nfunc A() {}\n",
		"a/a_test.go":     "package a\n\nvar _ = It(\"a\", Label(\"contract:control-plane.scope\"))\n",
		"bin/b.go":        "package b\n\n//contract:control-plane/coffee\nfunc B() {}\n",
		"a/testdata/c.go": "package c\n\n//contract:control-plane/coffee\nfunc C() {}\n",
		"a/notes.txt":     "//contract:control-plane/coffee\n",
	} {
		g.Expect(os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(root, path), []byte(content), 0o600)).To(Succeed())
	}
	found, err := scan(root)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found.meets("control-plane/scope")).To(BeTrue())
	g.Expect(found.code).To(HaveLen(1))
	g.Expect(found.tests).To(HaveLen(1))
}
