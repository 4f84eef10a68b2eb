//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// user is somebody with clusters of their own.
type user struct {
	// state is the state folder.
	state, kubeconfig string
	// inside is the command in front of each command of the user; none if empty.
	inside []string
}

func newUser(name string) user {
	return user{state: filepath.Join(suiteDir, name), kubeconfig: filepath.Join(suiteDir, name+".kubeconfig")}
}

// foo returns a command of the user.
func (u user) foo(ctx context.Context, args ...string) *exec.Cmd {
	cmd := command(ctx, "foo", append(args, "--state-dir="+u.state)...)
	cmd.Env = append(cmd.Env, "KUBECONFIG="+u.kubeconfig)
	return u.wrap(cmd)
}

// create returns the command that creates a small cluster.
func (u user) create(ctx context.Context, name string) *exec.Cmd {
	return u.foo(ctx, append([]string{"create", "cluster", name, "--worker-machine-count=0"}, u.network()...)...)
}

func (u user) network() []string {
	return []string{"--bridge=" + quickstartBridge, "--network=" + quickstartNetwork, "--timeout=" + clusterUp.String()}
}

// kubectl returns a command in the management cluster.
func (u user) kubectl(ctx context.Context, args ...string) *exec.Cmd {
	return u.wrap(command(ctx, kubectl(), append([]string{"--kubeconfig=" + filepath.Join(u.state, "management.kubeconfig")}, args...)...))
}

func (u user) wrap(cmd *exec.Cmd) *exec.Cmd {
	if len(u.inside) > 0 {
		cmd.Args = append(append([]string{}, u.inside...), append([]string{cmd.Path}, cmd.Args[1:]...)...)
		cmd.Path = u.inside[0]
	}
	return cmd
}

// clusters lists the user's clusters.
func (u user) clusters(ctx context.Context) []string {
	GinkgoHelper()
	return strings.Fields(output(u.foo(ctx, "get", "clusters", "--output=name")))
}

// expectNothing expects that nothing of the user is left on the machine.
func (u user) expectNothing() {
	GinkgoHelper()
	Expect(leftovers(u.state)).To(BeEmpty())
	Expect(hasBridge(quickstartBridge)).To(BeFalse(), "the bridge is left")
	Expect(u.state).NotTo(BeAnExistingFile(), "the state folder is left")
}

// cleanUp removes everything at the end of a story.
func (u user) cleanUp() {
	DeferCleanup(func(ctx SpecContext) { end(u.foo(ctx, "quickstart", "delete")) }, NodeTimeout(clusterGone))
}

// firstLine returns a command of a shell that shows only the first line of what another one says.
func firstLine(ctx context.Context, cmd *exec.Cmd) *exec.Cmd {
	shell := exec.CommandContext(ctx, "bash", append([]string{"-c", `set -o pipefail; "$@" | head -1`, "bash", cmd.Path}, cmd.Args[1:]...)...)
	shell.Env, shell.Dir = cmd.Env, cmd.Dir
	return shell
}

// expectOneLine expects that a command failed, and said in one line what is wrong and what to do.
func expectOneLine(got outcome, code int, says ...string) {
	GinkgoHelper()
	Expect(got.code).To(Equal(code), got.stdout+got.stderr)
	Expect(got.stderr).To(And(MatchRegexp(`^foo: [^\n]+\n$`), containAll(says)))
}

var _ = Describe("A call of foo that cannot work", Label("commands", "bad-input"), func() {
	DescribeTable("says so in one line, and does nothing", func(ctx SpecContext, call, says string) {
		u := newUser("wrong")
		expectOneLine(end(u.foo(ctx, strings.Fields(call)...)), exitInvalid, says)
		Expect(u.state).NotTo(BeAnExistingFile())
	},
		Entry("an unknown flag", NodeTimeout(soon), "create cluster demo --workers=3", "unknown flag: --workers; see: foo create cluster --help"),
		Entry("no name", NodeTimeout(soon), "create cluster", "want: foo create cluster NAME"),
		Entry("a wrong name", NodeTimeout(soon), "create cluster Demo", "must be at most 40 lower-case letters"),
		Entry("a name that is no string in YAML", NodeTimeout(soon), "create cluster 123", "neither a number nor a word"),
		Entry("a wrong number", NodeTimeout(soon), "create cluster demo --worker-machine-count=many", "see: foo create cluster --help"),
		Entry("a wrong network", NodeTimeout(soon), "start --network=10.77.0.1", "must be an IPv4 network, for example 10.77.0.0/16"),
		Entry("a version that is not built", NodeTimeout(soon), "create cluster demo --kubernetes-version=v1.30.0", "make node KUBERNETES_VERSION=v1.30.0"),
		Entry("a cluster that does not exist", NodeTimeout(soon), "delete cluster demo", "create it with: foo create cluster demo"),
		Entry("a kubeconfig of no cluster", NodeTimeout(soon), "kubeconfig demo", "create it with: foo create cluster demo"),
		Entry("nothing to delete", NodeTimeout(soon), "quickstart delete", "there is nothing to delete in "),
	)

	It("says who may do it", func(ctx SpecContext) {
		const nobody = 65534
		// The user must be able to execute it, wherever the repository is.
		folder, err := os.MkdirTemp("/tmp", "foo-e2e-")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(os.RemoveAll, folder)
		Expect(os.Chmod(folder, 0o755)).To(Succeed())
		program, err := os.ReadFile(filepath.Join(bin, "foo"))
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(filepath.Join(folder, "foo"), program, 0o755)).To(Succeed())
		for _, call := range []string{
			"create cluster demo", "get clusters", "kubeconfig demo", "delete cluster demo", "start", "stop", "quickstart", "quickstart delete",
		} {
			cmd := command(ctx, "foo", strings.Fields(call)...)
			cmd.Path, cmd.Env = filepath.Join(folder, "foo"), []string{"HOME=" + folder}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			expectOneLine(end(cmd), exitInvalid, "not root", "run it with sudo")
		}
	}, NodeTimeout(soon))
})

var _ = Describe("The commands of foo", Ordered, Label("commands"), func() {
	var u user

	BeforeAll(func() {
		u = newUser("together")
		u.cleanUp()
	})

	// interruptTwice interrupts a command until it ends.
	interruptTwice := func(ctx context.Context, d *daemon) {
		GinkgoHelper()
		began := time.Now()
		Eventually(func() bool {
			_ = d.cmd.Process.Signal(syscall.SIGINT) // it may have ended
			return d.ended()
		}).WithContext(ctx).WithTimeout(soon).WithPolling(50 * time.Millisecond).Should(BeTrue())
		AddReportEntry("interrupted", time.Since(began).Round(time.Millisecond).String())
		Expect(d.cmd.ProcessState.ExitCode()).To(Equal(exitInterrupted), string(d.said.Contents()))
	}

	It("leave nothing when the first start is interrupted", func(ctx SpecContext) {
		d := start(u.create(ctx, "one"))
		Eventually(ctx, d.said).WithTimeout(clusterUp).Should(gbytes.Say("CRDs, webhooks and roles installed"))
		Expect(d.interrupt(ctx)).To(Equal(exitInterrupted))
		Expect(string(d.said.Contents())).To(HaveSuffix("foo: interrupted; cluster one was not created\n"))
		u.expectNothing()
	}, NodeTimeout(2*clusterUp))

	It("end at once when the user does not wait for that, and say how to delete what is left", func(ctx SpecContext) {
		d := start(u.create(ctx, "one"))
		Eventually(ctx, d.said).WithTimeout(clusterUp).Should(gbytes.Say("CRDs, webhooks and roles installed"))
		interruptTwice(ctx, d)
		remedy := "foo quickstart delete --state-dir=" + u.state
		Expect(string(d.said.Contents())).To(HaveSuffix("foo: interrupted; to delete what is left, run: " + remedy + "\n"))
		output(u.foo(ctx, "quickstart", "delete"))
		u.expectNothing()
	}, NodeTimeout(2*clusterUp))

	It("explain a start that takes too long, and where to read more", func(ctx SpecContext) {
		got := end(u.foo(ctx, append(append([]string{"start"}, u.network()...), "--timeout=1s")...))
		expectOneLine(got, exitFailed, "the process in the background ended", "its output is in "+filepath.Join(u.state, "foo.log"))
		Expect(got.stdout).To(ContainSubstring("FAILED: "))
		output(u.foo(ctx, "quickstart", "delete"))
		u.expectNothing()
	}, NodeTimeout(2*clusterUp))

	It("create the first two clusters at the same time, also if nobody reads what they say", func(ctx SpecContext) {
		one := start(u.create(ctx, "one"))
		two := start(firstLine(ctx, u.create(ctx, "two")))
		for _, d := range []*daemon{one, two} {
			Eventually(ctx, d.done).WithTimeout(2 * clusterUp).Should(BeClosed())
			Expect(d.cmd.ProcessState.ExitCode()).To(BeZero(), string(d.said.Contents()))
		}
		Expect(u.clusters(ctx)).To(Equal([]string{"one", "two"}))
		contexts := output(command(ctx, kubectl(), "--kubeconfig="+u.kubeconfig, "config", "get-contexts", "--output=name"))
		Expect(strings.Fields(contexts)).To(Equal([]string{"foo-one", "foo-two"}))
	}, NodeTimeout(3*clusterUp))

	It("can be cut by head", func(ctx SpecContext) {
		got := end(firstLine(ctx, u.foo(ctx, "get", "clusters")))
		Expect(got.code).To(BeZero(), got.stderr)
		Expect(got.stdout).To(MatchRegexp(`^NAME +VERSION [^\n]*\n$`))
	}, NodeTimeout(soon))

	It("refuse a network that the management cluster does not have", func(ctx SpecContext) {
		expectOneLine(end(u.foo(ctx, "start", "--network=10.78.0.0/16")), exitInvalid, "the management cluster has "+quickstartNetwork, "leave the flag out")
	}, NodeTimeout(soon))

	It("refuse a name that is taken", func(ctx SpecContext) {
		expectOneLine(end(u.create(ctx, "one")), exitInvalid, `cluster "one" already exists`, "foo delete cluster one")
	}, NodeTimeout(soon))

	It("end when another command deletes what they create", func(ctx SpecContext) {
		d := start(u.create(ctx, "three"))
		Eventually(ctx, d.said).WithTimeout(clusterUp).Should(gbytes.Say("Creating cluster three"))
		output(u.foo(ctx, "delete", "cluster", "three"))
		Eventually(ctx, d.done).WithTimeout(soon).Should(BeClosed())
		Expect(d.cmd.ProcessState.ExitCode()).To(Equal(exitFailed), string(d.said.Contents()))
		Expect(string(d.said.Contents())).To(HaveSuffix("foo: another command has deleted the cluster\n"))
	}, NodeTimeout(2*clusterUp))

	It("refuse the name of a cluster that is being deleted, and continue an interrupted deletion", func(ctx SpecContext) {
		hold := func(finalizers string) {
			GinkgoHelper()
			output(u.kubectl(ctx, "patch", "cluster", "two", "--type=json", "--patch", finalizers))
		}
		hold(`[{"op": "add", "path": "/metadata/finalizers/-", "value": "e2e.example.com/hold"}]`)
		d := start(u.foo(ctx, "delete", "cluster", "two"))
		Eventually(func() string {
			return output(u.kubectl(ctx, "get", "cluster", "two", "--output=jsonpath={.metadata.deletionTimestamp}"))
		}).
			WithContext(ctx).WithTimeout(soon).ShouldNot(BeEmpty())
		expectOneLine(end(u.create(ctx, "two")), exitInvalid, `cluster "two" is being deleted`, "foo get clusters")
		Expect(d.interrupt(ctx)).To(Equal(exitInterrupted))
		Expect(string(d.said.Contents())).To(HaveSuffix("foo: interrupted; continue with: foo delete cluster two --state-dir=" + u.state + "\n"))
		// The others are removed once nothing is left to delete.
		Eventually(func() string {
			return output(u.kubectl(ctx, "get", "cluster", "two", "--output=jsonpath={.metadata.finalizers}"))
		}).
			WithContext(ctx).WithTimeout(clusterGone).Should(Equal(`["e2e.example.com/hold"]`))
		hold(`[{"op": "remove", "path": "/metadata/finalizers"}]`)
		got := end(u.foo(ctx, "delete", "cluster", "two"))
		Expect(got.code).To(BeZero(), got.stdout+got.stderr)
		Expect(u.clusters(ctx)).To(Equal([]string{"one"}))
	}, NodeTimeout(2*clusterGone))

	It("delete the last clusters together, one of them twice", func(ctx SpecContext) {
		output(u.create(ctx, "two"))
		var all []*daemon
		for _, name := range []string{"one", "two", "two"} {
			all = append(all, start(u.foo(ctx, "delete", "cluster", name)))
		}
		for _, d := range all {
			Eventually(ctx, d.done).WithTimeout(clusterGone).Should(BeClosed())
			Expect(d.cmd.ProcessState.ExitCode()).To(BeZero(), string(d.said.Contents()))
		}
		u.expectNothing()
		Expect(output(command(ctx, kubectl(), "--kubeconfig="+u.kubeconfig, "config", "get-contexts", "--output=name"))).To(BeEmpty())
	}, NodeTimeout(2*clusterUp))
})

var _ = Describe("A full disk", Label("commands", "bad-input"), func() {
	// disk mounts a small file system as the state folder of a user.
	disk := func(name, size string) user {
		GinkgoHelper()
		folder := filepath.Join(suiteDir, name)
		Expect(os.Mkdir(folder, 0o700)).To(Succeed())
		Expect(unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size="+size)).To(Succeed())
		DeferCleanup(unix.Unmount, folder, 0)
		return newUser(filepath.Join(name, "state"))
	}

	It("is refused from the start", func(ctx SpecContext) {
		u := disk("small-disk", "64m")
		expectOneLine(end(u.create(ctx, "demo")), exitInvalid, "64 MiB of free space", "--state-dir")
		Expect(u.state).NotTo(BeAnExistingFile())
	}, NodeTimeout(soon))

	It("is named when a cluster is created, and does not prevent the clean-up", func(ctx SpecContext) {
		u := disk("filled-disk", "1600m")
		u.cleanUp()
		output(u.foo(ctx, append([]string{"start"}, u.network()...)...))
		creation := start(u.foo(ctx, append(append([]string{"create", "cluster", "demo"}, u.network()...), "--timeout=1m")...))
		Eventually(ctx, creation.said).WithTimeout(clusterUp).Should(gbytes.Say("Creating cluster demo"))
		filler, err := os.Create(filepath.Join(suiteDir, "filled-disk", "filler"))
		Expect(err).NotTo(HaveOccurred())
		defer func() { _ = filler.Close() }()
		zeros, err := os.Open("/dev/zero")
		Expect(err).NotTo(HaveOccurred())
		defer func() { _ = zeros.Close() }()
		_, err = io.Copy(filler, zeros)
		Expect(err).To(MatchError(unix.ENOSPC))
		Eventually(ctx, creation.done).WithTimeout(2 * clusterUp).Should(BeClosed())
		Expect(creation.cmd.ProcessState.ExitCode()).To(Equal(exitFailed), string(creation.said.Contents()))
		Expect(string(creation.said.Contents())).To(MatchRegexp(`\nfoo: [^\n]*the disk is full: free some space[^\n]*\n$`))
		refused := end(u.create(ctx, "next"))
		Expect(refused.code).To(Equal(exitInvalid), refused.stdout+refused.stderr)
		Expect(refused.stderr).To(ContainSubstring(" MiB of free space"))
		output(u.foo(ctx, "quickstart", "delete"))
		Expect(leftovers(u.state)).To(BeEmpty())
		Expect(hasBridge(quickstartBridge)).To(BeFalse(), "the bridge is left")
	}, NodeTimeout(2*clusterUp))
})

var _ = Describe("A machine without a network", Label("commands"), func() {
	It("creates a cluster, and deletes it", func(ctx SpecContext) {
		offline := start(exec.CommandContext(context.WithoutCancel(ctx), "unshare", "--net", "sleep", "infinity"))
		DeferCleanup(func(ctx SpecContext) { offline.interrupt(ctx) }, NodeTimeout(clusterGone))
		space := fmt.Sprintf("/proc/%d/ns/net", offline.cmd.Process.Pid)
		Eventually(func() (string, error) { return os.Readlink(space) }).WithContext(ctx).WithTimeout(soon).ShouldNot(Equal(mine()))
		loopbackUp(space)

		u := newUser("offline")
		nsenter, err := exec.LookPath("nsenter")
		Expect(err).NotTo(HaveOccurred())
		u.inside = []string{nsenter, "--net=" + space}
		u.cleanUp()
		output(u.create(ctx, "alone"))
		Expect(hasBridge(quickstartBridge)).To(BeFalse(), "it is in the network of the tests")
		nodes := output(u.wrap(command(ctx, kubectl(), "--kubeconfig="+u.kubeconfig, "--context=foo-alone", "get", "nodes", "--output=name")))
		Expect(strings.Fields(nodes)).To(ConsistOf(HavePrefix("node/alone-control-plane-")))
		output(u.foo(ctx, "delete", "cluster", "alone"))
		u.expectNothing()
	}, NodeTimeout(2*clusterUp))
})

// mine is the network namespace of the tests.
func mine() string {
	GinkgoHelper()
	own, err := os.Readlink("/proc/" + strconv.Itoa(os.Getpid()) + "/ns/net")
	Expect(err).NotTo(HaveOccurred())
	return own
}

// loopbackUp gives a new network namespace what every machine has.
func loopbackUp(path string) {
	GinkgoHelper()
	space, err := netns.GetFromPath(path)
	Expect(err).NotTo(HaveOccurred())
	defer func() { _ = space.Close() }()
	handle, err := netlink.NewHandleAt(space, unix.NETLINK_ROUTE)
	Expect(err).NotTo(HaveOccurred())
	defer handle.Close()
	loopback, err := handle.LinkByName("lo")
	Expect(err).NotTo(HaveOccurred())
	Expect(handle.LinkSetUp(loopback)).To(Succeed())
}
