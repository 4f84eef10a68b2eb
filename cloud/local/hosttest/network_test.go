//go:build integration && host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/nftables"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
)

// newTenants starts a daemon with two tenants, and returns it once for each tenant.
func newTenants() (first, other *daemon) {
	GinkgoHelper()
	first = prepare()
	config := filepath.Join(filepath.Dir(first.state), "config.yaml")
	Expect(os.WriteFile(config, []byte("tenants: [{name: default}, {name: other}]"), 0o600)).To(Succeed())
	first.start("--config", config)
	same := *first
	var err error
	same.client, err = client.NewClient(client.Options{Endpoint: first.endpoint(), TokenFile: filepath.Join(first.state, "token-other")})
	Expect(err).NotTo(HaveOccurred())
	return first, &same
}

// connects returns "yes" or "no", depending on whether the instance can open a TCP connection to
// the agent of another instance. It runs the commands in how first.
func (n *node) connects(to *node, how string) string {
	GinkgoHelper()
	return n.do(fmt.Sprintf("%s\ntimeout 2 bash -c '</dev/tcp/%s/6443' 2>/dev/null && echo yes || echo no", how, to.Address))
}

// reaches waits until the instance can connect to another one, whose agent reports before it
// listens.
func (n *node) reaches(to *node) {
	GinkgoHelper()
	Eventually(n.connects, soon).WithArguments(to, "").Should(Equal("yes"))
}

// hears returns the sender's hardware and IP address of each frame that reached the instance while
// meanwhile ran.
func (n *node) hears(meanwhile func()) string {
	GinkgoHelper()
	listen := exec.Command("nsenter", "--target", fmt.Sprint(n.firstProcess(n.ID)), "--net", "perl", "-e", `$| = 1;
socket($s, 17, 3, 0x0300) or die $!; print "listening\n"; $SIG{TERM} = sub { exit };
while (defined recv($s, $frame, 2000, 0)) {
	my $ip = unpack("n", substr($frame, 12, 2)) == 0x0806 ? 28 : 26;
	print join(":", unpack("(H2)6", substr($frame, 6, 6))), " ", join(".", unpack("C4", substr($frame, $ip, 4))), "\n";
}`)
	var said strings.Builder
	output, err := listen.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(listen.Start()).To(Succeed())
	first := make([]byte, len("listening\n"))
	_, err = output.Read(first)
	Expect(err).NotTo(HaveOccurred())
	Expect(string(first)).To(Equal("listening\n"))
	meanwhile()
	Expect(listen.Process.Signal(syscall.SIGTERM)).To(Succeed())
	for buffer := make([]byte, 4096); err == nil; {
		var length int
		length, err = output.Read(buffer)
		said.Write(buffer[:length])
	}
	_ = listen.Wait()
	return said.String()
}

// address returns the address in the daemon's network that ends with the given number.
func (d *daemon) address(last int) string {
	return strings.TrimSuffix(d.network, "0/24") + fmt.Sprint(last)
}

// filters returns the names of the host's nftables tables for network cards.
func filters() []string {
	GinkgoHelper()
	conn, err := nftables.New()
	Expect(err).NotTo(HaveOccurred())
	tables, err := conn.ListTablesOfFamily(nftables.TableFamilyNetdev)
	Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, table := range tables {
		names = append(names, table.Name)
	}
	return names
}

var _ = Describe("network", func() {
	It("keeps the instances of each tenant to themselves", func(ctx SpecContext) {
		d, other := newTenants()
		one, two := &node{daemon: d, Instance: d.boot(ctx, "one", "")}, &node{daemon: d, Instance: d.boot(ctx, "two", "")}
		theirs := &node{daemon: other, Instance: other.boot(ctx, "theirs", "")}
		one.reaches(two)
		two.reaches(one)
		theirs.reaches(theirs)
		Expect(one.connects(theirs, "")).To(Equal("no"))
		Expect(theirs.connects(one, "")).To(Equal("no"))

		By("sending straight to the other's card, and through the host, which forwards")
		hardware := func(n *node) string { return n.do("cat /sys/class/net/eth0/address") }
		direct := "ip neigh replace %s lladdr %s dev eth0"
		Expect(one.connects(theirs, fmt.Sprintf(direct, theirs.Address, hardware(theirs)))).To(Equal("no"))
		forwarding := readFile("/proc/sys/net/ipv4/ip_forward")
		Expect(os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o600)).To(Succeed())
		DeferCleanup(os.WriteFile, "/proc/sys/net/ipv4/ip_forward", []byte(forwarding), os.FileMode(0o600))
		bridge := strings.TrimSpace(readFile("/sys/class/net/" + d.bridge + "/address"))
		Expect(theirs.hears(func() {
			one.connects(theirs, fmt.Sprintf(direct, theirs.Address, bridge))
		})).NotTo(ContainSubstring(one.Address))

		By("listening to what others send to all")
		var heard string
		called := two.hears(func() {
			heard = theirs.hears(func() {
				one.do("for i in $(seq 5); do timeout 1 bash -c '</dev/tcp/" + d.address(200) + "/1'; done 2>/dev/null; true")
			})
		})
		Expect(called).To(ContainSubstring(hardware(one)), "the same tenant hears it")
		Expect(heard).NotTo(ContainSubstring(hardware(one)))
	})

	It("lets an instance send only as itself", func(ctx SpecContext) {
		d, other := newTenants()
		mine := &node{daemon: d, Instance: d.boot(ctx, "mine", "")}
		theirs := &node{daemon: other, Instance: other.boot(ctx, "theirs", "")}
		balancer := d.balance(ctx)
		Expect(theirs.do("getent hosts theirs")).NotTo(BeEmpty())

		By("taking the address of another tenant's instance, to ask for its names")
		asks := fmt.Sprintf("ip addr add %[1]s/32 dev eth0; ip route replace %[2]s dev eth0 src %[1]s; ip neigh flush dev eth0\n"+
			"timeout 2 getent hosts mine || echo no; ip route del %[2]s; ip addr del %[1]s/32 dev eth0", mine.Address, d.address(1))
		Expect(theirs.do(asks)).To(Equal("no"))
		Expect(theirs.do("ip link set eth0 address $(cat /sys/class/net/eth0/address | sed s/^02/06/)\n"+
			"timeout 2 bash -c '</dev/tcp/"+balancer.Address+"/6443' 2>/dev/null && echo yes || echo no")).To(Equal("no"), "with a hardware address of its own choice")
		Expect(mine.do("getent hosts mine")).NotTo(BeEmpty(), "nobody else suffers")
	})

	It("mends its packet filter when others have removed it", func(ctx SpecContext) {
		d, other := newTenants()
		one, two := &node{daemon: d, Instance: d.boot(ctx, "one", "")}, &node{daemon: d, Instance: d.boot(ctx, "two", "")}
		theirs := &node{daemon: other, Instance: other.boot(ctx, "theirs", "")}
		removeFilter := func() {
			conn, err := nftables.New()
			Expect(err).NotTo(HaveOccurred())
			conn.DelTable(&nftables.Table{Name: "foocloud-" + d.bridge, Family: nftables.TableFamilyNetdev})
			Expect(conn.Flush()).To(Succeed())
		}
		removeFilter()
		Eventually(filters, soon).Should(ContainElement("foocloud-" + d.bridge))
		Eventually(one.connects, soon).WithArguments(theirs, "").Should(Equal("no"))
		one.reaches(two)

		By("starting the daemon, and an instance, without it")
		d.kill(syscall.SIGTERM)
		removeFilter()
		d.start("--config", filepath.Join(filepath.Dir(d.state), "config.yaml"))
		Expect(one.connects(theirs, "")).To(Equal("no"))
		removeFilter()
		three := &node{daemon: d, Instance: d.boot(ctx, "three", "")}
		three.reaches(one)
		Expect(three.connects(theirs, "")).To(Equal("no"))
	})

	It("forgets its packet filter when it is destroyed", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", "")
		Expect(filters()).To(ContainElement("foocloud-" + d.bridge))
		Expect(d.client.DeleteInstance(ctx, made.ID)).To(Succeed())
		d.nothingLeft(ctx, made.ID)
		d.destroy()
		Expect(filters()).NotTo(ContainElement("foocloud-" + d.bridge))
	})
})
