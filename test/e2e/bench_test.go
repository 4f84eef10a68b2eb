//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// The shortest form of the benchmark: the results do not matter here, only that each part still
// works.
var _ = Describe("The benchmark", Label("bench"), func() {
	measure := func(ctx SpecContext, parts string, tables ...string) {
		cmd := exec.CommandContext(ctx, "go", "run", "./test/bench", "--parts="+parts, "--runs=1", "--clusters=1", "--machines=1",
			"--pools=5", "--idle=1s", "--timeout="+clusterUp.String(), "--state-dir="+filepath.Join(suiteDir, "bench"), "--bridge="+quickstartBridge, "--network="+quickstartNetwork)
		cmd.Dir = filepath.Dir(bin)
		cmd.Env = append(os.Environ(), "KUBEBUILDER_ASSETS="+filepath.Join(bin, "kubernetes", currentVersion))
		Expect(output(cmd)).To(containAll(tables))
	}

	DescribeTable("measures", measure,
		Entry("clusters", Label(needsInMemoryProvider), NodeTimeout(3*clusterUp), "bare,foo,inmemory,many,memory",
			"kubeadm init itself", "Foo, times a bare kubeadm init", "Foo, times the in-memory provider", "Memory of the cluster"),
		Entry("pools", NodeTimeout(clusterUp), "machine-pools", "A pool from 0 machines"),
		Entry("control planes", Label("slow", needsAllVersions, needsKubeadmControlPlane), NodeTimeout(3*clusterUp), "control-planes",
			"FooControlPlane, times KubeadmControlPlane", "Cluster API drains a machine"),
	)
})
