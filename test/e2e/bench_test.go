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

// The shortest form: the results do not matter here, only that each part still works. The tests of
// bench measure pools.
var _ = Describe("The benchmark", Label("bench", needsBenchmark), func() {
	DescribeTable("measures", func(ctx SpecContext, parts string, benchmarks ...string) {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "bench"), "--parts="+parts, "--runs=1", "--clusters=1", "--machines=1",
			"--idle=1s", "--timeout="+clusterUp.String(), "--state-dir="+filepath.Join(suiteDir, "bench"), "--bridge="+quickstartBridge, "--network="+quickstartNetwork)
		cmd.Dir = filepath.Dir(bin)
		Expect(output(cmd)).To(containAll(benchmarks))
	},
		Entry("clusters", Label(needsInMemoryProvider), NodeTimeout(3*clusterUp), "bare,foo,inmemory,many,memory",
			"BenchmarkBare 1 ", "BenchmarkFoo 1 ", "BenchmarkInMemory 1 ", "BenchmarkMany/clusters=1 1 ", "BenchmarkManyInMemory/clusters=1 1 ",
			"BenchmarkMemory 1 "),
		Entry("control planes", Label("slow", needsAllVersions, needsKubeadmControlPlane), NodeTimeout(3*clusterUp), "control-planes",
			"BenchmarkControlPlane/kind=FooControlPlane 1 ", "BenchmarkControlPlane/kind=KubeadmControlPlane 1 "),
	)
})
