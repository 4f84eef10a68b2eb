//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os/exec"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// conformanceRun is enough time for a cluster and 60 short tests on a slow and busy machine.
const conformanceRun = 45 * time.Minute

// Kubernetes' own tests know nothing about Foo: they find in a cluster what its users find.
var _ = Describe("A cluster", Label("conformance", "slow", needsConformanceParts), func() {
	It("passes 60 of Kubernetes' conformance tests of nodes, networks, storage and apps", func(ctx SpecContext) {
		for _, name := range []string{"e2e.test", "images.tar"} {
			Expect(filepath.Join(bin, "conformance", name)).To(BeARegularFile(), "build it with `make conformance-parts`")
		}
		results := filepath.Join(suiteDir, "conformance")
		cmd := exec.CommandContext(ctx, "go", "run", "./test/conformance", "run", "--tests=test/conformance/subset.txt", "--results="+results,
			"--state-dir="+filepath.Join(suiteDir, "conformance-state"), "--bridge="+quickstartBridge, "--network="+quickstartNetwork)
		cmd.Dir = filepath.Dir(bin)
		Expect(output(cmd)).To(ContainSubstring("60 of 60 passed"))
	}, NodeTimeout(conformanceRun))
})
