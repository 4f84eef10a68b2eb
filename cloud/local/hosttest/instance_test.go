//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
)

// fingerprint returns a hash over the names, sizes, modes and modification times of everything
// below the given folders of the host.
func fingerprint(folders ...string) string {
	GinkgoHelper()
	hash := sha256.New()
	for _, folder := range folders {
		Expect(filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(hash, path, info.Size(), info.Mode(), info.ModTime().UnixNano())
			return err
		})).To(Succeed())
	}
	return fmt.Sprintf("%x", hash.Sum(nil))
}

// readFile returns the contents of a file, or "" if it cannot be read.
func readFile(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

var _ = Describe("instance", func() {
	It("has its own host name, network, processes, devices and files", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", `set -e
hostname; cat /etc/hosts; cat /run/foo/instance.json; ls /proc | grep -c '^[0-9]'
grep -q 'Debian GNU/Linux 13' /etc/os-release
test "$(stat -c %a /run/foo/user-data)" = 600
test -w /proc/sys/net/ipv4/ip_forward
! sh -c 'echo 1 > /proc/sys/vm/overcommit_memory' 2>/dev/null
echo x > /dev/null; head -c1 /dev/urandom >/dev/null; test -d /dev/pts; test -e /dev/ptmx; test -d /dev/shm
test -L /opt/foo/bin/systemctl; test -f /opt/foo/kubernetes/kubernetes
for d in /etc/kubernetes /var/lib/containerd /var/lib/etcd /var/lib/kubelet; do test -z "$(ls -A $d)"; touch $d/x; done
test "$(cat /etc/resolv.conf)" = "nameserver `+d.address(1)+`"
test "$(ip route show default | cut -d' ' -f3)" = `+d.address(2)+`
sed -i s/localhost/localhost.localdomain/ /etc/hosts
test "$PATH" = /opt/foo/kubernetes:/opt/foo/bin:/opt/foo/runtime/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
test ! -e `+d.state+`; test ! -e `+programs.folder+`
`)
		log := d.log(made.ID, scriptEnded)
		Expect(made.Bootstrap).To(Equal(cloud.Bootstrap{State: cloud.BootstrapSucceeded}), log)
		Expect(log).To(ContainSubstring("agent: started as process 1\none\n"))
		Expect(log).To(ContainSubstring(made.Address + " one\n"))
		Expect(log).To(ContainSubstring(`"providerID":"` + made.ProviderID + `"`))
	})

	It("lets users other than root in, whatever the umask of who starts the cloud", func(ctx SpecContext) {
		d := prepare()
		DeferCleanup(syscall.Umask, syscall.Umask(0o077))
		d.start()
		made := d.boot(ctx, "one", `
setpriv --reuid=65534 --regid=65534 --clear-groups sh -ec 'cat /etc/hosts; ls / /etc /opt/foo/bin /opt/foo/kubernetes >/dev/null; ! cat /run/foo/user-data'
`)
		log := d.log(made.ID, scriptEnded)
		Expect(made.Bootstrap).To(Equal(cloud.Bootstrap{State: cloud.BootstrapSucceeded}), log)
		Expect(log).To(ContainSubstring(made.Address + " one\n"))
	})

	It("cannot change the host's files", func(ctx SpecContext) {
		before := fingerprint("/etc", "/usr/bin", "/usr/share/doc")
		d := newDaemon()
		made := d.boot(ctx, "one", `echo evil > /etc/passwd; touch /etc/foo-was-here; chmod 777 /etc/shadow
rm -rf /usr/share/doc /usr/bin/env; mkdir /usr/bin/foo-was-here
test ! -e /usr/share/doc && test ! -e /usr/bin/env && echo gone in the instance
`)
		Expect(made.Bootstrap.State).To(Equal(cloud.BootstrapSucceeded))
		d.log(made.ID, "gone in the instance")
		Expect(fingerprint("/etc", "/usr/bin", "/usr/share/doc")).To(Equal(before), "the host is as it was")
		Expect("/etc/foo-was-here").NotTo(BeAnExistingFile())
	})

	It("leaves the CPUs to the host's programs when they need them", func(ctx SpecContext) {
		newDaemon().boot(ctx, "one", "true")
		weight, err := os.ReadFile("/sys/fs/cgroup/foo/cpu.weight")
		if errors.Is(err, fs.ErrNotExist) { // cgroups version 1
			weight, err = os.ReadFile("/sys/fs/cgroup/cpu/foo/cpu.shares")
		}
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.TrimSpace(string(weight))).To(BeElementOf("10", "102"), "a tenth of the default")
	})

	It("is limited to its type, and cannot lift that", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", `
cgroups() { if test -e /sys/fs/cgroup/cgroup.controllers; then echo /sys/fs/cgroup; else echo "/sys/fs/cgroup/memory /sys/fs/cgroup/pids /sys/fs/cgroup/devices"; fi; }
for folder in $(cgroups); do
	for file in memory.limit_in_bytes memory.max pids.max; do
		test ! -e $folder/$file || echo -1 > $folder/$file || echo max > $folder/$file
	done
	test ! -e $folder/devices.allow || echo a > $folder/devices.allow
done
# Not more than the memory of a small instance, whoever asks for it.
head -c 3G /dev/zero | tail >/dev/null; echo memory: $?
# A device of the host that was made by hand.
mknod /run/disk b $(stat -c '%Hd %Ld' /etc/hosts); head -c 1 /run/disk; echo device: $?
perl -e 'while (@made < 9999) { my $child = fork; last unless defined $child; if (!$child) { sleep 1000 } push @made, $child } print "processes: " . @made . "\n"; kill "KILL", @made'
`)
		log := d.log(made.ID, scriptEnded)
		Expect(log).To(ContainSubstring("memory: 137"), "it is killed")
		Expect(log).To(ContainSubstring("device: 1"))
		Expect(log).To(MatchRegexp("processes: 40[0-9][0-9]\n"), "2048 for each CPU, and some were there")
		Expect(d.await(ctx, made.ID, func(cloud.Instance) bool { return true }).State).To(Equal(cloud.InstanceRunning), "and nothing else is")
	})

	It("cannot fill the host's disk by its console, nor hold itself up", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", "(yes 'a line that says nothing' >/proc/1/fd/1 &); (yes 'another one' >/proc/1/fd/1 &); sleep 3; echo end of the script")
		Expect(made.Bootstrap.State).To(Equal(cloud.BootstrapSucceeded))
		neighbour := d.boot(ctx, "two", "echo undisturbed")
		d.log(neighbour.ID, "undisturbed")
		info, err := os.Stat(filepath.Join(d.state, "instances", made.ID, "console.log"))
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Size()).To(BeNumerically("<", 30<<20))
		Expect(d.client.DeleteInstance(ctx, made.ID)).To(Succeed())
		d.nothingLeft(ctx, made.ID)
	})

	It("is deleted whatever it has frozen or swaps to, and leaves no cgroup", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", `
cd /sys/fs/cgroup; test ! -e freezer || cd freezer
mkdir -p below; sleep 1000 & echo $! > below/cgroup.procs
# In cgroups whose path is longer than the kernel accepts, a process that is frozen.
sleep 1000 & perl -e '
	sub put { my ($text, $file, $out) = @_; open($out, ">", $file) && print($out $text) && close($out) }
	for (1 .. 17) { mkdir("n" x 255) && chdir("n" x 255) || die "nest: $!\n" }
	put($ARGV[0], "cgroup.procs") || die "move: $!\n";
	put("FROZEN", "freezer.state") || put(1, "cgroup.freeze") || die "freeze: $!\n";
' $!; echo nested: $?
dd if=/dev/zero of=/var/lib/etcd/swap bs=1M count=8; chmod 600 /var/lib/etcd/swap; mkswap /var/lib/etcd/swap; swapon /var/lib/etcd/swap; echo swapon: $?
(until grep -q Succeeded /run/foo/report/status.json; do sleep 0.1; done; for folder in below .; do echo FROZEN > $folder/freezer.state || echo 1 > $folder/cgroup.freeze; done) 2>/dev/null &
`)
		log := d.log(made.ID, "swapon: ")
		Expect(log).NotTo(ContainSubstring("swapon: 0"))
		Expect(log).To(ContainSubstring("nested: 0"))
		groups := func() (found []string) {
			for _, pattern := range []string{"/sys/fs/cgroup/foo/" + made.ID, "/sys/fs/cgroup/*/foo/" + made.ID} {
				matches, err := filepath.Glob(pattern)
				Expect(err).NotTo(HaveOccurred())
				found = append(found, matches...)
			}
			return found
		}
		Expect(groups()).NotTo(BeEmpty())
		pid := d.firstProcess(made.ID)
		Eventually(func() string {
			return readFile(fmt.Sprintf("/proc/%d/wchan", pid)) + readFile(fmt.Sprintf("/proc/%d/status", pid))
		}, soon).Should(MatchRegexp("freez|refrigerator|State:\\sD"), "it freezes itself")
		Expect(d.client.DeleteInstance(ctx, made.ID)).To(Succeed())
		d.nothingLeft(ctx, made.ID)
		Expect(groups()).To(BeEmpty())
	})

	It("cannot have the host read or open something else than its report", func(ctx SpecContext) {
		d := newDaemon()
		for i, script := range []string{"mkfifo /run/foo/report", "ln -s /dev/null /run/foo/report", "rm -rf /run/foo"} {
			made, err := d.client.EnsureInstance(ctx, spec(fmt.Sprintf("rude%d", i), "cd /run/foo; mv report other; umount report; rm -rf report; "+script+"; echo done; sleep 1000"))
			Expect(err).NotTo(HaveOccurred())
			d.awaitState(ctx, made.ID, cloud.InstanceRunning)
			d.log(made.ID, "done")
			d.kill(syscall.SIGKILL)
			d.start()
			Expect(d.boot(ctx, fmt.Sprintf("calm%d", i), "").Bootstrap.State).To(Equal(cloud.BootstrapSucceeded), "others report")
			Expect(d.client.DeleteInstance(ctx, made.ID)).To(Succeed())
			d.nothingLeft(ctx, made.ID)
		}
	})

	It("cannot change the programs that instances share", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", `
for folder in /opt/foo/bin /opt/foo/kubernetes /usr /; do mount -o remount,rw,bind $folder; mount -o remount,rw $folder; done
for file in /opt/foo/bin/foonode /opt/foo/kubernetes/kubernetes /etc/os-release; do rm $file; echo mine > $file; done
`)
		Expect(made.State).To(Equal(cloud.InstanceRunning))
		again := d.boot(ctx, "another", `set -e
test "$(cat /opt/foo/kubernetes/kubernetes)" != mine; test "$(head -c 4 /opt/foo/bin/foonode)" != mine; grep -q Debian /etc/os-release
`)
		Expect(again.Bootstrap).To(Equal(cloud.Bootstrap{State: cloud.BootstrapSucceeded}), d.log(again.ID, scriptEnded))
	})

	It("is stopped, started, rebooted, frozen and thawed, and keeps what it has written", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", "echo kept > /etc/kept; echo kept > /var/lib/etcd/kept; touch /run/gone; (while true; do echo tick; sleep 0.1; done) &")
		root := func(path string) string { return fmt.Sprintf("/proc/%d/root%s", d.firstProcess(made.ID), path) }
		Expect(d.run("instance", "stop", "one")).To(ContainSubstring("stop requested"))
		Expect(d.awaitState(ctx, made.ID, cloud.InstanceStopped).Message).To(Equal("stopped by a user"))
		d.log(made.ID, "stopped gently")
		d.run("instance", "start", made.ID)
		d.awaitState(ctx, made.ID, cloud.InstanceRunning)
		for _, path := range []string{"/etc/kept", "/var/lib/etcd/kept"} {
			Expect(os.ReadFile(root(path))).To(BeEquivalentTo("kept\n"), path)
		}
		Expect(root("/run/gone")).NotTo(BeAnExistingFile())

		pid := d.firstProcess(made.ID)
		d.run("instance", "reboot", "one")
		// It counts as running until the daemon has noticed that it ended.
		Eventually(d.findFirst, soon).WithArguments(made.ID).ShouldNot(Or(BeZero(), Equal(pid)), "it is ended and started by itself")
		again := d.awaitState(ctx, made.ID, cloud.InstanceRunning)
		Expect(again.Address).To(Equal(made.Address))
		Expect(os.ReadFile(root("/etc/kept"))).To(BeEquivalentTo("kept\n"))

		lively := d.boot(ctx, "two", "(while true; do date +%N > /var/lib/etcd/now; sleep 0.05; done) &")
		now := filepath.Join(d.state, "instances", lively.ID, "private", "etcd", "now")
		lives := func() {
			GinkgoHelper()
			before := readFile(now)
			Eventually(readFile, soon).WithArguments(now).ShouldNot(Equal(before), "it writes by itself")
		}
		lives()
		d.run("instance", "freeze", "two")
		d.await(ctx, lively.ID, func(i cloud.Instance) bool { return i.Message == "frozen by a user" })
		Consistently(readFile, "1s").WithArguments(now).Should(Equal(readFile(now)), "it stands still")
		d.run("instance", "thaw", "two")
		lives()
		d.run("instance", "freeze", "two")
		d.await(ctx, lively.ID, func(i cloud.Instance) bool { return i.Message == "frozen by a user" })
		Expect(d.client.DeleteInstance(ctx, lively.ID)).To(Succeed())
		d.nothingLeft(ctx, lively.ID)
	})

	It("reports a bootstrap that fails", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", "exit 7")
		Expect(made.State).To(Equal(cloud.InstanceRunning))
		Expect(made.Bootstrap).To(Equal(cloud.Bootstrap{State: cloud.BootstrapFailed, Message: "exit status 7"}))
	})

	It("is Stopped when its first process dies, and is not lost", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", "")
		Expect(syscall.Kill(d.firstProcess(made.ID), syscall.SIGKILL)).To(Succeed())
		Expect(d.awaitState(ctx, made.ID, cloud.InstanceStopped).Message).To(ContainSubstring("signal: killed"))
		d.log(made.ID, "agent: started") // its log can still be read
	})

	It("is killed when it is deleted, and its log can be followed to the end", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", "")
		d.log(made.ID, "agent: started") // its log exists from then on
		log, err := d.client.Log(ctx, made.ID, client.LogOptions{Follow: true})
		Expect(err).NotTo(HaveOccurred())
		defer func() { _ = log.Close() }()
		Expect(d.client.DeleteInstance(ctx, made.ID)).To(Succeed())
		text, err := io.ReadAll(log)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(text)).To(And(ContainSubstring("agent: started"), Not(ContainSubstring("stopped gently"))))
		Eventually(func() bool {
			_, err := d.client.GetInstance(ctx, made.ID)
			return cloud.IsNotFound(err)
		}, soon).Should(BeTrue(), "a deletion ends with NotFound")
		Expect(filepath.Join(d.state, "instances", made.ID)).NotTo(BeADirectory())
	})

	It("finds its gateway under one hardware address, whatever instances come and go", func(ctx SpecContext) {
		d := newDaemon()
		address := func() string {
			bridge, err := net.InterfaceByName(d.bridge)
			Expect(err).NotTo(HaveOccurred())
			return bridge.HardwareAddr.String()
		}
		before := address()
		for i := range 4 {
			made := d.boot(ctx, fmt.Sprintf("n%d", i), "")
			Expect(address()).To(Equal(before), "a card came")
			if i%2 == 0 {
				continue
			}
			Expect(d.client.DeleteInstance(ctx, made.ID)).To(Succeed())
			Eventually(d.cards, soon).Should(HaveLen((i+1)/2), "the kernel removes cards in its own time")
			Expect(address()).To(Equal(before), "a card went")
		}
	})

	It("starts fast, also many at once", func(ctx SpecContext) {
		d := newDaemon()
		measure := func(name string) time.Duration {
			began := time.Now()
			made, err := d.client.EnsureInstance(ctx, spec(name, ""))
			Expect(err).NotTo(HaveOccurred())
			// Every poll costs CPU time that the start needs on a busy machine.
			Eventually(func() (cloud.InstanceState, error) {
				now, err := d.client.GetInstance(ctx, made.ID)
				return now.State, err
			}, soon, "2ms").Should(Equal(cloud.InstanceRunning), "it starts by itself")
			return time.Since(began)
		}
		AddReportEntry("one after the other", []time.Duration{measure("a"), measure("b"), measure("c")})
		began := time.Now()
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				defer GinkgoRecover()
				measure(fmt.Sprintf("many-%d", i))
			})
		}
		all.Wait()
		AddReportEntry("ten at once", time.Since(began))
		Expect(time.Since(began)).To(BeNumerically("<", 30*time.Second), "not even a busy machine may take long")
	})

	It("keeps bootstrap data out of files and arguments that others can read", func(ctx SpecContext) {
		// No other program on the machine has it in its arguments.
		const secret = "known-to-this-instance-only"
		d := newDaemon()
		made := d.boot(ctx, "one", "# "+secret)
		Expect(made.Bootstrap.State).To(Equal(cloud.BootstrapSucceeded))
		for _, pid := range d.processes(d.state) {
			arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			Expect(err).NotTo(HaveOccurred())
			Expect(string(arguments)).NotTo(ContainSubstring(secret))
		}
		Expect(filepath.WalkDir(d.state, func(path string, entry fs.DirEntry, err error) error {
			// A namespace looks like a file, but nobody can read it.
			if err != nil || !entry.Type().IsRegular() || path == filepath.Join(d.state, "network") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil || !bytes.Contains(text, []byte(secret)) {
				return err
			}
			info, err := entry.Info()
			Expect(info.Mode().Perm()).To(BeEquivalentTo(0o600), path)
			return err
		})).To(Succeed())
		Expect(d.output.String()).NotTo(ContainSubstring(secret))
		Expect(strings.Contains(d.run("instances", "-o", "json"), secret)).To(BeFalse())
	})
})
