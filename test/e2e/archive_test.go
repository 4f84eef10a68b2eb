//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The archive of a release", Label("archive", "slow", needsArchive), func() {
	It("is installed, brings up a cluster, and is removed without a trace", func(ctx SpecContext) {
		prefix, state := filepath.Join(suiteDir, "prefix"), filepath.Join(suiteDir, "archive")
		installed := func(program string, args ...string) string {
			GinkgoHelper()
			cmd := command(ctx, program, args...)
			cmd.Path = filepath.Join(prefix, program)
			return output(cmd)
		}
		By("installing it")
		said := output(exec.CommandContext(ctx, filepath.Join(bin, "archive/packages/install.sh"), "--prefix", prefix))
		Expect(said).To(ContainSubstring("Installed Foo v0.1.0"))
		Expect(installed("bin/foocloud", "--help")).To(ContainSubstring("A cloud on this machine"))

		By("bringing up a cluster")
		said = installed("bin/foo", "quickstart", "--exit", "--state-dir="+state, "--bridge="+quickstartBridge, "--network="+quickstartNetwork,
			"--timeout="+clusterUp.String(), "--worker-machine-count=1")
		Expect(said).To(And(MatchRegexp(`worker node demo-workers-\S+ Ready`), ContainSubstring(filepath.Join(prefix, "lib/foo/tools/clusterctl"))))

		By("removing it")
		Expect(installed("lib/foo/install.sh", "--uninstall", "--prefix", prefix)).To(ContainSubstring("Removed Foo"))
		Expect(prefix).NotTo(BeAnExistingFile())
		Expect(leftovers(state)).To(BeEmpty())
	}, NodeTimeout(3*clusterUp))
})
