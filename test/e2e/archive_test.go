//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// What a user does without Go and without a network: everything comes from the archive.
var _ = Describe("The archive of a release", Ordered, Label("archive", "slow", needsArchive), func() {
	var prefix, state, kubeconfig string
	network := []string{"--bridge=" + quickstartBridge, "--network=" + quickstartNetwork, "--timeout=" + clusterUp.String()}
	installed := func(ctx context.Context, program string, args ...string) *exec.Cmd {
		cmd := command(ctx, program, args...)
		cmd.Path = filepath.Join(prefix, program)
		cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + suiteDir, "KUBECONFIG=" + kubeconfig}
		return cmd
	}
	foo := func(ctx context.Context, args ...string) string {
		GinkgoHelper()
		return output(installed(ctx, "bin/foo", append(args, "--state-dir="+state)...))
	}
	demo := func(ctx context.Context, args ...string) string {
		GinkgoHelper()
		return output(installed(ctx, "lib/foo/"+kubectl(), append([]string{"--context=foo-demo"}, args...)...))
	}
	nothingLeft := func() {
		GinkgoHelper()
		Expect(leftovers(state)).To(BeEmpty())
		Expect(hasBridge(quickstartBridge)).To(BeFalse(), "its bridge is left")
		Expect(state).NotTo(BeAnExistingFile(), "its state folder is left")
	}

	BeforeAll(func(ctx SpecContext) {
		prefix, state, kubeconfig = filepath.Join(suiteDir, "prefix"), filepath.Join(suiteDir, "archive"), filepath.Join(suiteDir, "archive.kubeconfig")
		said := output(installer(ctx, "--prefix", prefix))
		Expect(said).To(ContainSubstring("Installed Foo v0.1.0"))
		DeferCleanup(func(ctx SpecContext) {
			end(installed(ctx, "bin/foo", "quickstart", "delete", "--state-dir="+state))
			Expect(output(installed(ctx, "lib/foo/install.sh", "--uninstall", "--prefix", prefix))).To(ContainSubstring("Removed Foo"))
			Expect(prefix).NotTo(BeAnExistingFile())
		}, NodeTimeout(clusterGone))
	}, NodeTimeout(clusterUp))

	It("has the commands, with completion and manual pages", func(ctx SpecContext) {
		Expect(output(installed(ctx, "bin/foocloud", "--help"))).To(ContainSubstring("A cloud on this host"))
		Expect(filepath.Join(prefix, "share/man/man1/foo-create-cluster.1")).To(BeARegularFile())
		Expect(filepath.Join(prefix, "share/bash-completion/completions/foo")).To(BeARegularFile())
	}, NodeTimeout(soon))

	It("makes a cluster whose Pods a port of each Node reaches", func(ctx SpecContext) {
		said := foo(ctx, append([]string{"create", "cluster", "demo", "--worker-machine-count=1"}, network...)...)
		Expect(said).To(ContainSubstring("kubectl --context foo-demo get nodes"))
		demo(ctx, "--namespace=kube-system", "wait", "deployment/coredns", "--for=condition=Available", "--timeout="+clusterUp.String())
		demo(ctx, "--namespace=kube-system", "expose", "deployment", "coredns", "--name=web", "--type=NodePort", "--port=9153")
		port := demo(ctx, "--namespace=kube-system", "get", "service", "web", "--output=jsonpath={.spec.ports[0].nodePort}")
		addresses := demo(ctx, "get", "nodes", `--output=jsonpath={.items[*].status.addresses[?(@.type=="InternalIP")].address}`)
		Expect(strings.Fields(addresses)).To(HaveLen(2))
		for _, address := range strings.Fields(addresses) {
			Eventually(func() (string, error) { return fetch(ctx, "http://"+address+":"+port+"/metrics") }).WithContext(ctx).WithTimeout(clusterUp).
				Should(ContainSubstring("coredns_build_info"), address)
		}
	}, NodeTimeout(2*clusterUp))

	It("is upgraded while the cluster runs, whose next machines are of the new release", func(ctx SpecContext) {
		const perNode = "{range .items[*]}{.metadata.uid} {end}"
		nodes := strings.Fields(demo(ctx, "get", "nodes", "--output=jsonpath="+perNode))
		before := systemOf(prefix)
		Expect(output(installer(ctx, "--prefix", prefix, nextArchive(ctx)))).To(ContainSubstring("Installed Foo " + nextRelease))
		Expect(systemOf(prefix)).NotTo(Equal(before))
		Expect(filepath.Join(prefix, "lib/foo", before)).To(BeADirectory(), "running instances use it")
		foo(ctx, "stop")
		foo(ctx, append([]string{"start"}, network...)...)
		output(installed(ctx, "lib/foo/"+kubectl(), "--kubeconfig="+filepath.Join(state, "management.kubeconfig"), "scale", "machinepool", "demo-workers", "--replicas=2"))
		Eventually(func() []string { return strings.Fields(demo(ctx, "get", "nodes", "--output=jsonpath="+perNode)) }).
			WithContext(ctx).WithTimeout(clusterUp).Should(And(HaveLen(3), ContainElements(nodes)), "a worker joins, and no machine is replaced")
		demo(ctx, "wait", "nodes", "--all", "--for=condition=Ready", "--timeout="+clusterUp.String())
	}, NodeTimeout(3*clusterUp))

	It("deletes the cluster, and the next installation what only its machines have used", func(ctx SpecContext) {
		Expect(foo(ctx, "delete", "cluster", "demo")).To(ContainSubstring("It was the last cluster"))
		nothingLeft()
		output(installer(ctx, "--prefix", prefix))
		systems, err := os.ReadDir(filepath.Join(prefix, "lib/foo/systems"))
		Expect(err).NotTo(HaveOccurred())
		Expect(systems).To(HaveLen(1))
	}, NodeTimeout(2*clusterUp))

	It("makes a management cluster with Pods", func(ctx SpecContext) {
		said := foo(ctx, append([]string{"quickstart", "--management", "--exit"}, network...)...)
		Expect(said).To(And(ContainSubstring("management cluster up: all providers are installed"),
			ContainSubstring(filepath.Join(prefix, "lib/foo/tools/clusterctl"))))
		nothingLeft()
	}, NodeTimeout(3*clusterUp))
})

func installer(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, filepath.Join(bin, "archive/packages/install.sh"), args...)
}

// systemOf returns the operating system of the next instances, relative to lib/foo.
func systemOf(prefix string) string {
	GinkgoHelper()
	system, err := os.Readlink(filepath.Join(prefix, "lib/foo/system"))
	Expect(err).NotTo(HaveOccurred())
	return system
}

// nextArchive packs the release again with another version, another operating system, and another
// file of each program, all of which do the same.
func nextArchive(ctx context.Context) string {
	GinkgoHelper()
	archives, err := filepath.Glob(filepath.Join(bin, "archive/packages/foo-*.tar.gz"))
	Expect(err).NotTo(HaveOccurred())
	Expect(archives).To(HaveLen(1))
	next := filepath.Join(suiteDir, "foo-"+nextRelease+".tar.gz")
	repack := exec.CommandContext(ctx, "bash", "-euc", `
		mkdir next && tar -xzf "$1" -C next --numeric-owner && cd next/*
		echo "$3" >VERSION
		system=$(readlink system)
		mv "$system" "$system-next" && ln -sfn "$system-next" system
		for program in kubernetes/*/* foo*; do [ ! -x "$program" ] || echo >>"$program"; done
		cd .. && tar -cf - --numeric-owner * | gzip -1 >"$2" && rm -r "$PWD"`, "bash", archives[0], next, nextRelease)
	repack.Dir = suiteDir
	output(repack)
	return next
}
