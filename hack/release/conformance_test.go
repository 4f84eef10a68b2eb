// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	. "github.com/onsi/gomega"

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
	conformance.Run(t, conformance.Options{
		Checkers: []conformance.Checker{&lint.Linter{Releases: releases}}, Contracts: conformance.Versions, Strict: true,
	})
}
