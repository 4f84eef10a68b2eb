//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("foo", Label("commands"), func() {
	It("creates clusters side by side, keeps them in the background, and deletes them one by one", func(ctx SpecContext) {
		state, kubeconfig := filepath.Join(suiteDir, "foo"), filepath.Join(suiteDir, "foo.kubeconfig")
		foo := func(ctx context.Context, args ...string) *exec.Cmd {
			cmd := command(ctx, "foo", append(args, "--state-dir="+state)...)
			cmd.Env = append(cmd.Env, "KUBECONFIG="+kubeconfig)
			return cmd
		}
		network := []string{"--bridge=" + quickstartBridge, "--network=" + quickstartNetwork, "--timeout=" + clusterUp.String()}
		DeferCleanup(func(ctx SpecContext) { end(foo(ctx, "quickstart", "delete")) }, NodeTimeout(clusterGone))

		By("creating two clusters")
		for _, name := range []string{"one", "two"} {
			got := end(foo(ctx, append([]string{"create", "cluster", name, "--worker-machine-count=1"}, network...)...))
			Expect(got.code).To(BeZero(), got.stdout+got.stderr)
			Expect(got.stdout).To(ContainSubstring("kubectl --context foo-" + name + " get nodes"))
		}
		Expect(strings.Fields(output(foo(ctx, "get", "clusters", "--output=name")))).To(Equal([]string{"one", "two"}))
		for _, name := range []string{"one", "two"} {
			nodes := output(command(ctx, kubectl(), "--kubeconfig="+kubeconfig, "--context=foo-"+name, "get", "nodes", "--output=name"))
			Expect(strings.Fields(nodes)).To(HaveEach(HavePrefix("node/" + name + "-")))
		}

		By("naming a cluster that exists, and one that does not")
		got := end(foo(ctx, append([]string{"create", "cluster", "one"}, network...)...))
		Expect(got.code).To(Equal(exitInvalid))
		Expect(got.stderr).To(ContainSubstring("foo delete cluster one"))
		got = end(foo(ctx, "delete", "cluster", "three"))
		Expect(got.code).To(Equal(exitInvalid))
		Expect(got.stderr).To(ContainSubstring("default/one, default/two"))

		By("stopping and starting the management cluster")
		output(foo(ctx, "stop"))
		Expect(end(foo(ctx, "get", "clusters")).stderr).To(ContainSubstring("foo start"))
		output(command(ctx, kubectl(), "--kubeconfig="+kubeconfig, "--context=foo-one", "get", "nodes"))
		output(foo(ctx, "start"))

		By("deleting one cluster after the other")
		output(foo(ctx, "delete", "cluster", "one"))
		Expect(strings.Fields(output(foo(ctx, "get", "clusters", "--output=name")))).To(Equal([]string{"two"}))
		contexts := []string{"--kubeconfig=" + kubeconfig, "config", "get-contexts", "--output=name"}
		Expect(output(command(ctx, kubectl(), contexts...))).To(Equal("foo-two\n"))
		Expect(output(foo(ctx, "delete", "cluster", "two"))).To(ContainSubstring("the last cluster"))
		Expect(output(command(ctx, kubectl(), contexts...))).To(BeEmpty())
		Expect(leftovers(state)).To(BeEmpty())
		Expect(hasBridge(quickstartBridge)).To(BeFalse(), "its bridge is left")
		Expect(state).NotTo(BeAnExistingFile(), "its state folder is left")
	}, NodeTimeout(4*clusterUp))
})
