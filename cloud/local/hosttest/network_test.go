//go:build integration && host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttest

import (
	"cmp"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/nftables"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

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

// space returns the cloud's network namespace, and a handle for the interfaces in it.
func (d *daemon) space() (netns.NsHandle, *netlink.Handle) {
	GinkgoHelper()
	ns, err := netns.GetFromPath(filepath.Join(d.state, "network"))
	Expect(err).NotTo(HaveOccurred())
	handle, err := netlink.NewHandleAt(ns, syscall.NETLINK_ROUTE)
	Expect(err).NotTo(HaveOccurred())
	return ns, handle
}

// links returns the interfaces in the cloud's network namespace.
func (d *daemon) links() []netlink.Link {
	GinkgoHelper()
	ns, handle := d.space()
	defer func() { _ = ns.Close() }()
	defer handle.Close()
	// The kernel refuses to list what changes meanwhile.
	var links []netlink.Link
	Eventually(func() (err error) {
		links, err = handle.LinkList()
		return err
	}, soon).Should(Succeed())
	return links
}

// cards returns the network cards of instances on the daemon's bridge.
func (d *daemon) cards() []string {
	GinkgoHelper()
	var names []string
	for _, link := range d.links() {
		if name := link.Attrs().Name; strings.HasPrefix(name, "foo") {
			names = append(names, name)
		}
	}
	return names
}

// addresses returns the addresses of the daemon's bridge.
func (d *daemon) addresses() string {
	GinkgoHelper()
	ns, handle := d.space()
	defer func() { _ = ns.Close() }()
	defer handle.Close()
	var list []netlink.Addr
	Eventually(func() (err error) {
		list, err = handle.AddrList(nil, syscall.AF_INET)
		return err
	}, soon).Should(Succeed())
	return fmt.Sprint(list)
}

// networkSettings returns the host's network settings and inotify limits, and the names of its packet
// filters.
func networkSettings(d *daemon) map[string]string {
	GinkgoHelper()
	settings := map[string]string{}
	for _, root := range []string{"/proc/sys/net", "/proc/sys/fs/inotify"} {
		Expect(filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.Name() == d.bridge {
				return cmp.Or(err, fs.SkipDir)
			}
			// A file that counts connections is not a setting, and some can only be written.
			if text, err := os.ReadFile(path); err == nil && entry.Name() != "nf_conntrack_count" {
				settings[path] = string(text)
			}
			return nil
		})).To(Succeed())
	}
	conn, err := nftables.New()
	Expect(err).NotTo(HaveOccurred())
	tables, err := conn.ListTables()
	Expect(err).NotTo(HaveOccurred())
	for _, table := range tables {
		settings["nftables"] += table.Name + "\n"
	}
	return settings
}

// forward makes the host forward packets until the spec ends.
func forward() {
	GinkgoHelper()
	const setting = "/proc/sys/net/ipv4/ip_forward"
	before := readFile(setting)
	Expect(os.WriteFile(setting, []byte("1"), 0o600)).To(Succeed())
	DeferCleanup(os.WriteFile, setting, []byte(before), os.FileMode(0o600))
}

var _ = Describe("network", func() {
	It("keeps the instances of each tenant to themselves", func(ctx SpecContext) {
		// New namespaces inherit this.
		forward()
		d, other := newTenants()
		one, two := &node{daemon: d, Instance: d.boot(ctx, "one", "")}, &node{daemon: d, Instance: d.boot(ctx, "two", "")}
		theirs := &node{daemon: other, Instance: other.boot(ctx, "theirs", "")}
		one.reaches(two)
		two.reaches(one)
		theirs.reaches(theirs)
		Expect(one.connects(theirs, "")).To(Equal("no"))
		Expect(theirs.connects(one, "")).To(Equal("no"))

		By("sending straight to the other's card, and through the host and the bridge")
		hardware := func(n *node) string { return n.do("cat /sys/class/net/eth0/address") }
		direct := "ip neigh replace %s lladdr %s dev eth0"
		Expect(one.connects(theirs, fmt.Sprintf(direct, theirs.Address, hardware(theirs)))).To(Equal("no"))
		routers := map[string]string{"host": strings.TrimSpace(readFile("/sys/class/net/" + d.bridge + "/address"))}
		for _, link := range d.links() {
			if link.Type() == "bridge" {
				routers["bridge"] = link.Attrs().HardwareAddr.String()
			}
		}
		Expect(routers).To(HaveLen(2))
		for router, address := range routers {
			Expect(theirs.hears(func() {
				one.connects(theirs, fmt.Sprintf(direct, theirs.Address, address))
			})).NotTo(ContainSubstring(one.Address), router)
		}

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

	It("reaches the host at the second address, and is reached by it", func(ctx SpecContext) {
		d := newDaemon()
		one := &node{daemon: d, Instance: d.boot(ctx, "one", "")}
		Eventually(answers(one.Instance), soon).Should(Equal("one"), "it starts to listen by itself")
		listener, err := net.Listen("tcp", net.JoinHostPort(d.address(2), "0"))
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(listener.Close)
		accepted := make(chan string, 1)
		go func() {
			if conn, err := listener.Accept(); err == nil {
				accepted <- conn.RemoteAddr().String()
				_ = conn.Close()
			}
		}()
		one.do(fmt.Sprintf("timeout 10 bash -c '</dev/tcp/%s/%d'", d.address(2), listener.Addr().(*net.TCPAddr).Port))
		Eventually(accepted, soon).Should(Receive(HavePrefix(one.Address + ":")))
	})

	It("connects the host again when it starts", func(ctx SpecContext) {
		d := newDaemon()
		one := d.boot(ctx, "one", "")
		d.kill(syscall.SIGTERM)
		link, err := netlink.LinkByName(d.bridge)
		Expect(err).NotTo(HaveOccurred())
		Expect(netlink.LinkDel(link)).To(Succeed())
		d.start()
		Eventually(answers(one), soon).Should(Equal("one"))

		By("losing the namespace, as after a reboot")
		Expect(d.client.DeleteInstance(ctx, one.ID)).To(Succeed())
		d.nothingLeft(ctx, one.ID)
		d.kill(syscall.SIGTERM)
		Expect(syscall.Unmount(filepath.Join(d.state, "network"), 0)).To(Succeed())
		d.start()
		Eventually(answers(d.boot(ctx, "two", "")), soon).Should(Equal("two"), "it starts to listen by itself")
	})

	It("lets in those that the host forwards for", func(ctx SpecContext) {
		forward()
		d := newDaemon()
		d.boot(ctx, "one", "")
		balancer := d.balance(ctx)
		container := exec.Command("sleep", "infinity")
		container.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		Expect(container.Start()).To(Succeed())
		DeferCleanup(func() {
			Expect(container.Process.Kill()).To(Succeed())
			_ = container.Wait()
		})
		output, err := exec.Command("sh", "-ec", fmt.Sprintf(`pid=%d; inside="nsenter --net --target $pid"
ip link add fooht-c type veth peer name eth0 netns $pid; ip addr add 10.91.251.1/24 dev fooht-c; ip link set fooht-c up
$inside ip addr add 10.91.251.2/24 dev eth0; $inside ip link set eth0 up; $inside ip route add default via 10.91.251.1
$inside timeout 20 bash -c '</dev/tcp/%s/%d'`, container.Process.Pid, balancer.Address, balancer.Port)).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(output))
	})

	It("needs no port of the host", func(ctx SpecContext) {
		for _, port := range []string{"53", "5000", "6443"} {
			// Something else may already have taken it, which is just as good.
			if listener, err := net.Listen("tcp", "0.0.0.0:"+port); err == nil {
				DeferCleanup(listener.Close)
			}
		}
		d := newDaemon()
		one := &node{daemon: d, Instance: d.boot(ctx, "one", "")}
		Expect(ask(d.balance(ctx))).To(Equal("one"))
		Expect(one.do("getent hosts one")).NotTo(BeEmpty())
		Expect(refusal(prepare().command("--registry-port", "53"))).To(And(ContainSubstring("DNS uses"), ContainSubstring("choose another port")))
	})

	It("changes no setting of the host, and leaves no namespace", func(ctx SpecContext) {
		d := prepare()
		before := networkSettings(d)
		d.start()
		made := d.boot(ctx, "one", "")
		Expect(ask(d.balance(ctx))).To(Equal("one"))
		during := networkSettings(d)
		Expect(d.client.DeleteInstance(ctx, made.ID)).To(Succeed())
		d.nothingLeft(ctx, made.ID)
		ns, handle := d.space()
		handle.Close()
		id, err := netlink.GetNetNsIdByFd(int(ns))
		Expect(err).NotTo(HaveOccurred())
		Expect(id).To(BeNumerically(">=", 0))
		Expect(ns.Close()).To(Succeed())
		d.destroy()
		Eventually(func() (string, error) {
			known, err := exec.Command("ip", "netns", "list-id").CombinedOutput()
			return string(known), err
		}, soon).ShouldNot(MatchRegexp(`nsid %d\b`, id), "the kernel removes it in its own time")
		after := networkSettings(d)
		for path, value := range before {
			Expect(after[path]).To(Equal(value), "%s once the cloud is destroyed", path)
			if path != "/proc/sys/fs/inotify/max_user_instances" {
				Expect(during[path]).To(Equal(value), "%s while the cloud exists", path)
			}
		}
	})
})
