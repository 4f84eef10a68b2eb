//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttest

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// needUserNamespace lists the escapes that the kernel leaves open to a root with CAP_SYS_ADMIN that
// is also root on the host.
var needUserNamespace = []string{
	"devtmpfs", "settings-remount", "settings-fresh-proc", "sysrq", "sysfs-remount", "sysfs-fresh", "tracefs", "debugfs", "securityfs", "configfs",
	"pstore", "efivarfs", "binary-formats", "bpf", "kernel-log",
}

// hostView returns the state of the host that an instance must not change.
func hostView() map[string]string {
	GinkgoHelper()
	state := host()
	for _, path := range []string{
		"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/sysrq", "/proc/sys/vm/swappiness", "/proc/self/mountinfo",
	} {
		state[path] = readFile(path)
	}
	// How often a module is used changes by itself.
	for module := range strings.Lines(readFile("/proc/modules")) {
		name, _, _ := strings.Cut(module, " ")
		state["modules"] += name + "\n"
	}
	for _, folder := range []string{"/dev", "/proc/sys/fs/binfmt_misc", "/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory"} {
		entries, _ := os.ReadDir(folder)
		for _, entry := range entries {
			// All clouds of the host share this cgroup, and each checks on startup whether it can
			// create one.
			if entry.Name() != "foo" && !strings.HasPrefix(entry.Name(), "foo-check-") {
				state[folder] += entry.Name() + " " + entry.Type().String() + "\n"
			}
		}
	}
	return state
}

// hostDisk returns the device numbers of the block device that holds a file of the host.
func hostDisk() string {
	GinkgoHelper()
	var stat unix.Stat_t
	Expect(unix.Stat("/etc/passwd", &stat)).To(Succeed())
	return fmt.Sprintf("%d:%d", unix.Major(stat.Dev), unix.Minor(stat.Dev))
}

// lure creates on the host what the escape attempts look for, and returns the command that runs
// those attempts in an instance.
func (d *daemon) lure() string {
	GinkgoHelper()
	file := filepath.Join(filepath.Dir(d.state), "precious")
	Expect(os.WriteFile(file, []byte("the host's\n"), 0o644)).To(Succeed())
	name := filepath.Base(filepath.Dir(d.state))
	listener, err := net.Listen("unix", "@"+name)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(listener.Close)
	// KEY_SPEC_USER_KEYRING: the keys of root in any session.
	const userKeys = -4
	key, err := unix.AddKey("user", name, []byte("the host's"), userKeys)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		_, err := unix.KeyctlInt(unix.KEYCTL_INVALIDATE, key, 0, 0, 0)
		Expect(err).NotTo(HaveOccurred())
	})
	return fmt.Sprintf("/opt/foo/bin/foonode escape --file %s --state %s --bridge %s --program foocloud --abstract %s --key %s --disk %s",
		file, d.state, d.bridge, name, name, hostDisk())
}

// answers returns a function that sends a request to an instance over the network and returns the
// answer.
func answers(instance cloud.Instance) func() (string, error) {
	web := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}}
	return func() (string, error) {
		answer, err := web.Get("https://" + net.JoinHostPort(instance.Address, "6443"))
		if err != nil {
			return "", err
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		return string(text), err
	}
}

// healthy expects that an instance answers and writes to its disk.
func (d *daemon) healthy(neighbour cloud.Instance) {
	GinkgoHelper()
	Eventually(answers(neighbour), soon).Should(Equal(neighbour.Name), "it starts to listen by itself")
	ticks := filepath.Join(d.state, "instances", neighbour.ID, "private", "etcd", "now")
	before := readFile(ticks)
	Eventually(readFile, soon).WithArguments(ticks).ShouldNot(Or(BeEmpty(), Equal(before)), "it writes by itself")
}

// neighbour boots an instance that constantly writes to its disk.
func (d *daemon) neighbour(ctx SpecContext) cloud.Instance {
	GinkgoHelper()
	made := d.boot(ctx, "neighbour", "(while true; do date +%N > /var/lib/etcd/now.new; mv /var/lib/etcd/now.new /var/lib/etcd/now; sleep 0.05; done) &")
	Expect(made.Bootstrap.State).To(Equal(cloud.BootstrapSucceeded))
	d.healthy(made)
	return made
}

// usersOfRoot returns the host's user ID of an instance's root.
func (d *daemon) usersOfRoot(id string) string {
	GinkgoHelper()
	fields := strings.Fields(readFile(fmt.Sprintf("/proc/%d/uid_map", d.firstProcess(id))))
	Expect(fields).To(HaveLen(3))
	return fields[1]
}

var _ = Describe("containment", func() {
	for _, mode := range []string{"off", "on"} {
		Context("with user namespaces "+mode, func() {
			serve := func(arguments ...string) *daemon {
				GinkgoHelper()
				d := prepare()
				if mode == "on" {
					arguments = append(arguments, "--user-namespaces", "on")
				}
				d.start(arguments...)
				return d
			}

			It("lets no instance get out, and none change the host", func(ctx SpecContext) {
				d := serve()
				neighbour := d.neighbour(ctx)
				before := hostView()
				made := d.boot(ctx, "rude", d.lure())
				log := d.log(made.ID, scriptEnded)
				Expect(made.Bootstrap.State).To(Equal(cloud.BootstrapSucceeded), log)
				Expect(log).To(ContainSubstring("host-token: held"))
				tries := regexp.MustCompile(`(?m)^([a-z-]+): (ESCAPED|held: .*)$`).FindAllStringSubmatch(log, -1)
				Expect(len(tries)).To(BeNumerically(">=", 35), log)
				var escaped []string
				for _, try := range tries {
					if try[2] == "ESCAPED" {
						escaped = append(escaped, try[1])
					}
				}
				AddReportEntry("ways out with user namespaces "+mode, strings.Join(escaped, " "))
				if mode == "on" {
					Expect(escaped).To(BeEmpty(), log)
					Expect(d.usersOfRoot(made.ID)).NotTo(Equal(d.usersOfRoot(neighbour.ID)), "no two have the same users")
				} else {
					Expect(needUserNamespace).To(ContainElements(escaped), log)
				}
				Expect(hostView()).To(Equal(before))
				d.healthy(neighbour)
			})

			It("keeps its neighbours and the host well when an instance makes more and more processes", func(ctx SpecContext) {
				d := serve()
				neighbour := d.neighbour(ctx)
				made, err := d.client.EnsureInstance(ctx, spec("bomb", `perl -e 'while (1) { fork } ' & sleep 1000`))
				Expect(err).NotTo(HaveOccurred())
				processes := func() string {
					return readFile("/sys/fs/cgroup/pids/foo/"+made.ID+"/pids.current") + readFile("/sys/fs/cgroup/foo/"+made.ID+"/pids.current")
				}
				Eventually(processes, soon).Should(MatchRegexp(`^40[0-9][0-9]\n$`), "it goes on until it may have no more")
				d.healthy(neighbour)
				later, err := d.client.EnsureInstance(ctx, spec("later", ""))
				Expect(err).NotTo(HaveOccurred())
				Eventually(func() (cloud.BootstrapState, error) {
					now, err := d.client.GetInstance(ctx, later.ID)
					return now.Bootstrap.State, err
				}, soon).Should(Equal(cloud.BootstrapSucceeded), "others still boot")
				Expect(d.client.DeleteInstance(ctx, made.ID)).To(Succeed())
				d.nothingLeft(ctx, made.ID)
				d.healthy(neighbour)
			})

			It("keeps its neighbours well when an instance floods its console", func(ctx SpecContext) {
				d := serve()
				neighbour := d.neighbour(ctx)
				made := d.boot(ctx, "loud", "for i in 1 2 3 4; do (yes 'a line that says nothing' >/proc/1/fd/1 &); done; sleep 1")
				Expect(made.Bootstrap.State).To(Equal(cloud.BootstrapSucceeded))
				d.healthy(neighbour)
				log := filepath.Join(d.state, "instances", made.ID, "console.log")
				Eventually(func() int { return len(readFile(log)) }, soon).Should(BeNumerically(">", 4<<20), "it is taken as fast as is permitted")
				Expect(len(readFile(log))).To(BeNumerically("<", 30<<20))
				d.healthy(neighbour)
			})

			It("holds an instance to the disk of its type, and starts it again when that is full", func(ctx SpecContext) {
				const size = 192 << 20
				config := filepath.Join(GinkgoT().TempDir(), "config.yaml")
				Expect(os.WriteFile(config, []byte("instanceTypes: [{name: small, cpus: 1, memory: 512Mi, disk: 192Mi}]"), 0o600)).To(Succeed())
				d := serve("--config", config)
				Expect(d.output.String()).NotTo(ContainSubstring("Nothing limits"))
				neighbour := d.limitedNeighbour(ctx)
				made := d.boot(ctx, "greedy", `echo kept > /var/lib/kubelet/kept
for folder in /root /var/lib/etcd /var/lib/containerd /var/log /run/foo; do head -c 100M /dev/zero > $folder/full; echo "$folder: $?"; done
for folder in /root /var/lib/etcd /var/lib/containerd /var/log /run/foo; do head -c 1M /dev/zero > $folder/more; echo "more in $folder: $?"; done
`)
				log := d.log(made.ID, scriptEnded)
				Expect(strings.Count(log, ": 0\n")).To(Equal(1), "%s", log)
				Expect(log).To(And(ContainSubstring("/root: 0"), ContainSubstring("more in /run/foo: 1")))
				folder := filepath.Join(d.state, "instances", made.ID)
				var image unix.Stat_t
				Expect(unix.Stat(filepath.Join(folder, "disk.img"), &image)).To(Succeed())
				Expect(image.Blocks * 512).To(BeNumerically("<=", size))
				d.healthyOnDisk(neighbour)

				d.run("instance", "stop", made.ID)
				d.awaitState(ctx, made.ID, cloud.InstanceStopped)
				d.kill(syscall.SIGKILL)
				d.start("--config", config)
				d.run("instance", "start", made.ID)
				d.awaitState(ctx, made.ID, cloud.InstanceRunning)
				Expect(readFile(fmt.Sprintf("/proc/%d/root/var/lib/kubelet/kept", d.firstProcess(made.ID)))).To(Equal("kept\n"))
				Expect(d.client.DeleteInstance(ctx, made.ID)).To(Succeed())
				d.nothingLeft(ctx, made.ID)
				Expect(readFile("/proc/self/mountinfo")).NotTo(ContainSubstring(folder))
				Eventually(func(g Gomega) {
					files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
					g.Expect(err).NotTo(HaveOccurred())
					for _, file := range files {
						g.Expect(readFile(file)).NotTo(ContainSubstring(made.ID))
					}
				}, soon).Should(Succeed(), "the kernel lets go of the file in its own time")
				d.healthyOnDisk(neighbour)
			})

			It("holds an instance to the disk that was asked for, although its type has none", func(ctx SpecContext) {
				d := serve()
				wanted := spec("small", "head -c 1200M /dev/zero > /root/full; echo \"wrote $(stat -c %s /root/full)\"")
				wanted.DiskBytes, wanted.Tags["team"] = 1<<30, "red"
				made, err := d.client.EnsureInstance(ctx, wanted)
				Expect(err).NotTo(HaveOccurred())
				d.awaitState(ctx, made.ID, cloud.InstanceRunning)
				log := d.log(made.ID, scriptEnded)
				var wrote int
				_, result, _ := strings.Cut(log, "wrote ")
				_, err = fmt.Sscan(result, &wrote)
				Expect(err).NotTo(HaveOccurred(), log)
				Expect(wrote).To(And(BeNumerically(">", 900<<20), BeNumerically("<", 1<<30)))
				Expect(d.run("instances", "--output", "json")).To(And(ContainSubstring(`"diskBytes": 1073741824`), ContainSubstring(`"team": "red"`)))
			})

			It("is led nowhere on the host by links in a disk that is kept", func(ctx SpecContext) {
				d := serve()
				trap := filepath.Join(filepath.Dir(d.state), "trap")
				Expect(os.MkdirAll(filepath.Join(trap, "containerd"), 0o777)).To(Succeed())
				Expect(os.Chmod(filepath.Dir(d.state), 0o755)).To(Succeed())
				Expect(os.WriteFile(filepath.Join(trap, "hosts"), []byte("the host's\n"), 0o666)).To(Succeed())
				before := fingerprint(trap)
				made := d.boot(ctx, "rude", `
for path in /etc/kubernetes /etc /var/log /var/lib/etcd /var/lib/kubelet; do umount -l $path; rm -rf $path; ln -s `+trap+` $path; done
rm -rf /opt/foo /usr/local /boot; for path in /opt/foo /usr/local /boot; do ln -s `+trap+` $path; done
for path in /etc /var/log /var/lib/etcd /var/lib/kubelet /opt/foo /usr/local; do test -L $path || exit 1; done
`)
				Expect(made.Bootstrap.State).To(Equal(cloud.BootstrapSucceeded), d.log(made.ID, scriptEnded))
				d.run("instance", "stop", made.ID)
				d.awaitState(ctx, made.ID, cloud.InstanceStopped)
				d.run("instance", "start", made.ID)
				d.await(ctx, made.ID, func(i cloud.Instance) bool {
					return i.State == cloud.InstanceRunning || strings.HasPrefix(i.Message, "the instance did not start again: ")
				})
				Expect(fingerprint(trap)).To(Equal(before))
				Expect(d.client.DeleteInstance(ctx, made.ID)).To(Succeed())
				d.nothingLeft(ctx, made.ID)
				Expect(fingerprint(trap)).To(Equal(before))
			})
		})
	}

	It("has a control plane run with a user namespace", func(ctx SpecContext) {
		bin, err := filepath.Abs("../../../bin")
		Expect(err).NotTo(HaveOccurred())
		system, err := filepath.EvalSymlinks(programs.system)
		Expect(err).NotTo(HaveOccurred())
		d := prepare()
		d.start("--system-dir", system, "--images-dir", filepath.Join(bin, "kubernetes"), "--agent", filepath.Join(bin, "foonode"), "--user-namespaces", "on")
		one := d.bootNode(ctx, "one", "large", initData)
		Expect(one.Bootstrap).To(Equal(cloud.Bootstrap{State: cloud.BootstrapSucceeded}), d.run("logs", one.ID))
		one.kubectl(`get node one -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status} {.status.capacity.cpu} {.status.capacity.memory}'`).
			Should(Equal("True 4 8Gi"), "the kubelet registers by itself")
		one.kubectl("get pods -n kube-system -o 'jsonpath={.items[*].status.containerStatuses[0].ready}'").
			Should(Equal("true true true true true"), "etcd, the three programs and kube-proxy start by themselves")
		Expect(d.usersOfRoot(one.ID)).NotTo(Equal("0"))
	})

	It("wants to know whether user namespaces are to be there", func() {
		Expect(refusal(prepare().command("--user-namespaces", "maybe"))).To(ContainSubstring("must be off, auto or on"))
	})
})

// limitedNeighbour boots a neighbour whose disk is limited.
func (d *daemon) limitedNeighbour(ctx SpecContext) cloud.Instance {
	GinkgoHelper()
	made := d.boot(ctx, "neighbour", "")
	Expect(made.Bootstrap.State).To(Equal(cloud.BootstrapSucceeded), d.log(made.ID, scriptEnded))
	d.healthyOnDisk(made)
	return made
}

// healthyOnDisk expects that an instance answers and can write to its disk.
func (d *daemon) healthyOnDisk(neighbour cloud.Instance) {
	GinkgoHelper()
	Eventually(answers(neighbour), soon).Should(Equal(neighbour.Name), "it starts to listen by itself")
	n := &node{daemon: d, Instance: neighbour}
	n.do("head -c 10M /dev/zero > /var/lib/etcd/new && sync /var/lib/etcd/new && rm /var/lib/etcd/new")
}
