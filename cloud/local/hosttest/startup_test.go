//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttest

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
)

// refusal runs a daemon that is expected not to start, and returns its output.
func refusal(cmd *exec.Cmd) string {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	limited := exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...)
	limited.SysProcAttr = cmd.SysProcAttr
	output, err := limited.CombinedOutput()
	Expect(ctx.Err()).NotTo(HaveOccurred(), "it must not start: "+string(output))
	Expect(err).To(HaveOccurred(), string(output))
	return string(output)
}

var _ = Describe("start", func() {
	It("needs root", func() {
		Expect(os.Chmod(programs.folder, 0o755)).To(Succeed())
		cmd := prepare().command()
		const nobody = 65534
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		Expect(refusal(cmd)).To(ContainSubstring("not root"))
	})

	It("is preceded by a check of what the node agent needs", func() {
		d := prepare()
		check := func(script string) *exec.Cmd {
			agent := filepath.Join(programs.folder, "checked-agent")
			Expect(os.WriteFile(agent, []byte("#!/bin/sh\ntest \"$*\" = check || exit 2\n"+script), 0o755)).To(Succeed())
			return exec.Command(programs.foocloud, "check", "--state-dir", d.state, "--system-dir", programs.system, "--agent", agent)
		}
		output, err := check("exit 0").CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(output))
		Expect(refusal(check("echo no nftables; exit 1"))).To(ContainSubstring("this host lacks something that the node agent needs: no nftables"))
		Expect(refusal(exec.Command(programs.foocloud, "check", "--state-dir", d.state, "--system-dir", programs.system, "--agent", "/no/agent"))).To(ContainSubstring("--agent"))
		misconfigured := check("exit 0")
		misconfigured.Args = append(misconfigured.Args, "--config", "/does/not/exist")
		Expect(refusal(misconfigured)).To(ContainSubstring("read the configuration: open /does/not/exist"))
		Expect(os.ReadDir(filepath.Dir(d.state))).To(BeEmpty(), "a check leaves nothing")
	})

	It("refuses what another daemon uses", func() {
		first := newDaemon()
		Expect(refusal(first.command())).To(ContainSubstring("in use by another foocloud (process"))

		other := prepare()
		other.network = first.network
		Expect(refusal(other.command())).To(And(ContainSubstring("network "+first.network+" is in use"), ContainSubstring(first.bridge)))

		other = prepare()
		other.bridge = first.bridge
		Expect(refusal(other.command())).To(And(ContainSubstring("interface "+first.bridge+" exists"), ContainSubstring("--bridge")))

		Expect(refusal(prepare().command("--listen", first.endpoint()))).To(ContainSubstring("is in use by another process"))
	})

	It("is refused by a wider route only the first time", func() {
		d := prepare()
		attrs := netlink.NewLinkAttrs()
		attrs.Name = "foohtvpn"
		vpn := &netlink.Bridge{LinkAttrs: attrs}
		Expect(netlink.LinkAdd(vpn)).To(Succeed())
		DeferCleanup(func() error { return netlink.LinkDel(vpn) })
		Expect(netlink.LinkSetUp(vpn)).To(Succeed())
		_, network, err := net.ParseCIDR(d.network)
		Expect(err).NotTo(HaveOccurred())
		network.Mask = net.CIDRMask(23, 32)
		network.IP = network.IP.Mask(network.Mask)
		route := &netlink.Route{LinkIndex: vpn.Attrs().Index, Dst: network, Scope: netlink.SCOPE_LINK}
		Expect(netlink.RouteAdd(route)).To(Succeed())
		Expect(refusal(d.command())).To(ContainSubstring("is in use: a route by interface foohtvpn has " + network.String()))

		Expect(netlink.RouteDel(route)).To(Succeed())
		d.start()
		Expect(netlink.RouteAdd(route)).To(Succeed())
		d.kill(syscall.SIGKILL)
		d.start()
	})

	It("leaves nothing when it is given a configuration that is wrong", func() {
		d := prepare()
		Expect(refusal(d.command("--config", "/does/not/exist"))).To(ContainSubstring("read the configuration"))
		Expect(d.state).NotTo(BeADirectory())
		d.start()
	})

	It("leaves what can be destroyed when it ends before it has a state", func() {
		d := prepare()
		destroy := exec.Command(programs.foocloud, "destroy", "--yes", "--state-dir", d.state)
		// A daemon leaves this behind if it is killed while it checks whether instances can have
		// their root.
		Expect(os.MkdirAll(filepath.Join(d.state, ".root-check-1", "root"), 0o700)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(d.state, "lock"), nil, 0o600)).To(Succeed())
		output, err := destroy.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(output))
		Expect(d.state).NotTo(BeADirectory())

		Expect(os.MkdirAll(filepath.Join(d.state, "photos"), 0o700)).To(Succeed())
		Expect(refusal(destroy)).To(ContainSubstring("is not a state folder of foocloud"))
		Expect(filepath.Join(d.state, "photos")).To(BeADirectory(), "what is of others stays")
	})

	It("refuses to use a state folder with another network", func() {
		d := newDaemon()
		d.kill(syscall.SIGTERM)
		made := d.network
		d.network = "10.91.250.0/24"
		Expect(refusal(d.command())).To(ContainSubstring("was created with --bridge " + d.bridge + " --network " + made))
	})

	DescribeTable("says what is wrong with its flags", func(word string, arguments ...string) {
		Expect(refusal(prepare().command(arguments...))).To(ContainSubstring(word))
	},
		Entry("no images", "of a release, or what `make node` builds", "--images-dir", os.TempDir()),
		Entry("no folder of images", "--images-dir", "--images-dir", "/does/not/exist"),
		Entry("no operating system", "holds no operating system", "--system-dir", os.TempDir()),
		Entry("no folder of an operating system", "--system-dir", "--system-dir", "/does/not/exist"),
		Entry("no OCI runtime", "install the package runc", "--runtime", "/does/not/exist"),
		Entry("no agent", "--agent", "--agent", "/does/not/exist"),
		Entry("network", "must be an IPv4 network", "--network", "10.77.0.0"),
		Entry("small network", "at least 16 addresses", "--network", "10.91.0.0/30"),
		Entry("bridge", "1 to 15 characters", "--bridge", "much-too-long-a-name"),
		Entry("listen", "must be unix:///path or https://address:port", "--listen", "http://localhost:1"),
		Entry("configuration", "/does/not/exist", "--config", "/does/not/exist"),
		Entry("state folder", "must not hold commas", "--state-dir", "/tmp/foo-hosttest,state"),
	)
})

var _ = Describe("tenants", func() {
	It("are kept apart by their tokens, also over https", func(ctx SpecContext) {
		d := prepare()
		config := filepath.Join(filepath.Dir(d.state), "config.yaml")
		Expect(os.WriteFile(config, []byte("tenants: [{name: default, quota: {instances: 1}}, {name: other}]"), 0o600)).To(Succeed())
		const address = "https://127.0.0.1:19091"
		d.start("--config", config, "--listen", d.endpoint(), "--listen", address)
		as := func(options client.Options) *client.Client {
			c, err := client.NewClient(options)
			Expect(err).NotTo(HaveOccurred())
			return c
		}
		d.boot(ctx, "mine", "")
		_, err := d.client.EnsureInstance(ctx, spec("second", ""))
		Expect(cloud.IsQuotaExceeded(err)).To(BeTrue(), "%v", err)
		Expect(d.run("quota")).To(MatchRegexp(`instances +1 +1\n`))

		other := as(client.Options{
			Endpoint: address, TokenFile: filepath.Join(d.state, "token-other"), CAFile: filepath.Join(d.state, "tls.crt"),
		})
		list, err := other.ListInstances(ctx, cloud.InstanceFilter{})
		Expect(err).NotTo(HaveOccurred())
		Expect(list).To(BeEmpty())

		_, err = as(client.Options{Endpoint: d.endpoint(), Token: "wrong"}).Zones(ctx)
		Expect(cloud.IsUnauthorized(err)).To(BeTrue(), "%v", err)
		_, err = as(client.Options{Endpoint: address, TokenFile: filepath.Join(d.state, "token-other")}).Zones(ctx)
		Expect(err).To(MatchError(ContainSubstring("CA file")))
		for _, secret := range []string{"token", "token-other", "tls.key", "state.db", "foocloud.sock"} {
			info, err := os.Stat(filepath.Join(d.state, secret))
			Expect(err).NotTo(HaveOccurred())
			Expect(info.Mode().Perm()).To(BeEquivalentTo(0o600), secret)
		}
	})

	It("see the cloud in a terminal", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "default.one", "")
		Expect(d.run("instances")).To(And(ContainSubstring("BOOTSTRAP"), ContainSubstring(made.ID)))
		Expect(d.run("instances", "-o", "json")).To(ContainSubstring(`"providerID": "` + made.ProviderID + `"`))
		Expect(d.run("zones")).To(ContainSubstring("zone-a"))
		Expect(d.run("images")).To(ContainSubstring(version))
		Expect(d.run("instance-types")).To(MatchRegexp(`small +2 +2Gi +unlimited *\n`))
		for _, empty := range []string{"pools", "load-balancers"} {
			Expect(d.run(empty)).To(Equal("No " + strings.ReplaceAll(empty, "-", " ") + " found.\n"))
		}
	})
})
