//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("foo", Label("commands"), func() {
	It("creates clusters side by side, keeps them in the background, and deletes them one by one", func(ctx SpecContext) {
		u := newUser("foo")
		u.cleanUp()

		By("creating two clusters")
		for _, name := range []string{"one", "two"} {
			got := end(u.foo(ctx, append([]string{"create", "cluster", name, "--worker-machine-count=1"}, u.network()...)...))
			Expect(got.code).To(BeZero(), got.stdout+got.stderr)
			Expect(got.stdout).To(And(ContainSubstring("The context foo-"+name+" is in "+u.kubeconfig+".\n"), ContainSubstring("kubectl --context foo-"+name+" get nodes")))
		}
		Expect(u.clusters(ctx)).To(Equal([]string{"one", "two"}))
		for _, name := range []string{"one", "two"} {
			nodes := output(command(ctx, kubectl(), "--kubeconfig="+u.kubeconfig, "--context=foo-"+name, "get", "nodes", "--output=name"))
			Expect(strings.Fields(nodes)).To(HaveEach(HavePrefix("node/" + name + "-")))
		}

		By("leaving the folder in which it was started")
		owner, err := os.ReadFile(filepath.Join(u.state, "lock"))
		Expect(err).NotTo(HaveOccurred())
		Expect(os.Readlink("/proc/" + strings.TrimSpace(string(owner)) + "/cwd")).To(Equal("/"))

		By("naming a cluster that does not exist")
		expectOneLine(end(u.foo(ctx, "delete", "cluster", "three")), exitInvalid, "default/one, default/two")

		By("stopping and starting the management cluster")
		output(u.foo(ctx, "stop"))
		expectOneLine(end(u.foo(ctx, "get", "clusters")), exitInvalid, "foo start")
		output(command(ctx, kubectl(), "--kubeconfig="+u.kubeconfig, "--context=foo-one", "get", "nodes"))
		output(u.foo(ctx, "start"))

		By("deleting one cluster after the other")
		output(u.foo(ctx, "delete", "cluster", "one"))
		Expect(u.clusters(ctx)).To(Equal([]string{"two"}))
		contexts := []string{"--kubeconfig=" + u.kubeconfig, "config", "get-contexts", "--output=name"}
		Expect(output(command(ctx, kubectl(), contexts...))).To(Equal("foo-two\n"))
		Expect(output(u.foo(ctx, "delete", "cluster", "two"))).To(ContainSubstring("the last cluster"))
		Expect(output(command(ctx, kubectl(), contexts...))).To(BeEmpty())
		u.expectNothing()
	}, NodeTimeout(4*clusterUp))
})
