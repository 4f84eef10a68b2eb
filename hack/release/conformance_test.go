// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/lint"
)

func TestReleaseMeetsTheContracts(t *testing.T) {
	g := NewWithT(t)
	output := t.TempDir()
	g.Expect(run(release{sources: sources, version: version, output: output})).To(Succeed())
	releases, err := lint.Load(nil, output)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(releases).To(HaveLen(len(providers)))
	options := conformance.Options{
		Checkers: []conformance.Checker{&lint.Linter{Releases: releases}}, Contracts: conformance.Versions, Strict: true,
	}
	conformance.Run(t, options)

	content, err := os.ReadFile(filepath.Join(sources, "docs/contract/lint.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	var stored conformance.Report
	g.Expect(yaml.UnmarshalStrict(content, &stored)).To(Succeed())
	found, err := conformance.Check(t.Context(), options)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found.Results).To(ConsistOf(stored.Results), "docs/contract/lint.yaml differs from this run: run make contract-report, and commit what it writes")
}
