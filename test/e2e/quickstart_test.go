//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// Exit codes of foo besides 0.
const (
	exitFailed = 1
	// exitInvalid means that it started nothing.
	exitInvalid     = 2
	exitInterrupted = 130
)

var _ = Describe("quickstart", Label("quickstart"), func() {
	It("brings up a cluster, shows it, and leaves nothing", func(ctx SpecContext) {
		state := filepath.Join(suiteDir, "quickstart")
		began := time.Now()
		got := end(command(ctx, "foo", "quickstart", "--exit", "--state-dir="+state, "--bridge="+quickstartBridge, "--network="+quickstartNetwork,
			"--kubernetes-version="+currentVersion, "--timeout="+clusterUp.String(), "--cluster-name=shown", "--control-plane-machine-count=1", "--worker-machine-count=3"))
		AddReportEntry("quickstart", time.Since(began).Round(time.Second).String()+"\n"+got.stdout)
		Expect(got.code).To(BeZero(), got.stdout+got.stderr)

		By("checking its output")
		Expect(got.stdout).To(containAll([]string{
			"Cluster default/shown", "FooControlPlane default/shown-control-plane", // the tree
			"containerd://", currentVersion, "Ready", // the nodes
			"TOOK", // the phases
			"export KUBECONFIG=", "scale machinepool shown-workers", "scale foocontrolplane shown-control-plane", "describe cluster shown", "delete cluster shown",
		}))
		By("checking the host")
		Expect(leftovers(state)).To(BeEmpty())
		Expect(hasBridge(quickstartBridge)).To(BeFalse(), "its bridge is left")
		Expect(state).NotTo(BeAnExistingFile(), "its state folder is left")
	}, NodeTimeout(2*clusterUp))
})

var _ = Describe("A quickstart that fails", Label("bad-input"), func() {
	It("says why at once, leaves its logs, and nothing else", func(ctx SpecContext) {
		state := filepath.Join(suiteDir, "failed")
		cmd := command(ctx, "foo", "quickstart", "--exit", "--state-dir="+state, "--bridge="+quickstartBridge, "--network="+quickstartNetwork, "--timeout="+clusterUp.String())
		cmd.Env = append(cmd.Env, "FOO_CONTROL_PLANE_INSTANCE_TYPE=huge")
		got := end(cmd)
		Expect(got.code).To(Equal(exitFailed), got.stdout+got.stderr)
		Expect(got.stdout).To(containAll([]string{"FAILED", "the cluster cannot come up", "FooMachine demo-control-plane", `"huge"`, "small", "medium", "large", "logs are in"}))
		Expect(filepath.Join(state, "logs", "manager.log")).To(BeARegularFile())
		Expect(processesOf(state)).To(BeEmpty())
		Expect(mountsUnder(state)).To(BeEmpty())
		Expect(hasBridge(quickstartBridge)).To(BeFalse(), "its bridge is left")
	}, NodeTimeout(2*clusterUp))
})

var _ = Describe("What quickstart rejects", Label("bad-input"), func() {
	refused := func(ctx SpecContext, args []string, says ...string) {
		state := filepath.Join(suiteDir, "refused")
		// A flag that is given twice has its last value.
		args = append([]string{"quickstart", "--exit", "--state-dir=" + state, "--bridge=" + quickstartBridge, "--network=" + quickstartNetwork}, args...)
		got := end(command(ctx, "foo", args...))
		Expect(got.code).To(Equal(exitInvalid), got.stdout+got.stderr)
		Expect(got.stderr).To(containAll(says))
		Expect(state).NotTo(BeAnExistingFile(), "it started although it rejected its configuration")
		Expect(hasBridge(quickstartBridge)).To(BeFalse(), "it started although it rejected its configuration")
	}

	DescribeTable("in its flags", refused,
		Entry("a Kubernetes version that is not built", NodeTimeout(soon), []string{"--kubernetes-version=v1.30.0"},
			"v1.30.0", "built: ", currentVersion, "make node KUBERNETES_VERSION=v1.30.0"),
		Entry("no Kubernetes version", NodeTimeout(soon), []string{"--kubernetes-version=latest"}, "--kubernetes-version", "v1.36.3"),
		Entry("an even control plane", NodeTimeout(soon), []string{"--control-plane-machine-count=2"}, "--control-plane-machine-count 2", "odd"),
		Entry("a negative number of workers", NodeTimeout(soon), []string{"--worker-machine-count=-1"}, "--worker-machine-count -1", "0 or more"),
		Entry("an invalid network", NodeTimeout(soon), []string{"--network=10.92.0.1"}, "--network", "10.77.0.0/16"),
		Entry("an unknown flag", NodeTimeout(soon), []string{"--workers=3"}, "--workers", "--help"),
		Entry("an argument", NodeTimeout(soon), []string{"up"}, `"up"`, "--help"),
	)

	It("a bridge and a network that are in use", func(ctx SpecContext) {
		sharedManagement(ctx)
		refused(ctx, []string{"--bridge=" + suiteBridge}, "interface "+suiteBridge+" exists", "another name with --bridge")
		refused(ctx, []string{"--network=10.92.0.0/16"}, "network 10.92.0.0/16 is in use", "another network with --network")
	}, NodeTimeout(clusterUp))

	It("a folder that another quickstart uses, or that is not a state folder", func(ctx SpecContext) {
		m := sharedManagement(ctx)
		got := end(command(ctx, "foo", "quickstart", "--resume", "--state-dir="+m.state, "--bridge="+suiteBridge, "--network="+suiteNetwork))
		Expect(got.code).To(Equal(exitInvalid), got.stdout+got.stderr)
		Expect(got.stderr).To(And(ContainSubstring(m.state), ContainSubstring("another quickstart is running")))
		got = end(command(ctx, "foo", "quickstart", "--state-dir=/etc", "--bridge="+quickstartBridge, "--network="+quickstartNetwork))
		Expect(got.code).To(Equal(exitInvalid), got.stdout+got.stderr)
		Expect(got.stderr).To(And(ContainSubstring("/etc"), ContainSubstring("not a state folder")))
	}, NodeTimeout(clusterUp))

	It("a port that is taken", func(ctx SpecContext) {
		port := listen(ctx)
		refused(ctx, []string{"--management-port=" + port}, "--management-port "+port+" is taken", "choose another one")
	}, NodeTimeout(soon))
})
