//go:build host

/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package hosttest

import (
	"bytes"
	"crypto/sha256"
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

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/client"
)

// fingerprint returns a hash over the names, sizes, modes and times of everything below folders of the host.
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

var _ = Describe("instance", func() {
	It("has its own host name, network, processes, devices and files", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", `set -e
hostname; cat /etc/hosts; cat /run/foo/instance.json; ls /proc | grep -c '^[0-9]'
test "$(stat -c %a /run/foo/user-data)" = 600
test -w /proc/sys/net/ipv4/ip_forward
! sh -c 'echo 1 > /proc/sys/vm/overcommit_memory' 2>/dev/null
echo x > /dev/null; head -c1 /dev/urandom >/dev/null; test -d /dev/pts; test -e /dev/ptmx; test -d /dev/shm
test -L /opt/foo/bin/systemctl; test -f /opt/foo/kubernetes/kubernetes
for d in /etc/kubernetes /var/lib/kubelet /var/lib/etcd; do test -z "$(ls -A $d)"; touch $d/x; done
test ! -s /etc/resolv.conf
test "$PATH" = /opt/foo/kubernetes:/opt/foo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
test -z "$(ls -A `+d.state+`)"
echo mounts of the host: $(grep -c ' /old\|foo-hosttest-state.* - ext4' /proc/self/mountinfo)
`)
		log := d.run("logs", made.ID)
		Expect(made.Bootstrap).To(Equal(cloud.Bootstrap{State: cloud.BootstrapSucceeded}), log)
		Expect(log).To(ContainSubstring("agent: started as process 1\none\n"))
		Expect(log).To(ContainSubstring(made.Address + " one\n"))
		Expect(log).To(ContainSubstring(`"providerID":"` + made.ProviderID + `"`))
	})

	It("can not change the host's files", func(ctx SpecContext) {
		before := fingerprint("/etc", "/usr/bin", "/usr/share/doc")
		d := newDaemon()
		made := d.boot(ctx, "one", `echo evil > /etc/passwd; touch /etc/foo-was-here; chmod 777 /etc/shadow
rm -rf /usr/share/doc /usr/bin/env; mkdir /usr/bin/foo-was-here
test ! -e /usr/share/doc && test ! -e /usr/bin/env && echo gone in the instance
`)
		Expect(made.Bootstrap.State).To(Equal(cloud.BootstrapSucceeded))
		Expect(d.run("logs", made.ID)).To(ContainSubstring("gone in the instance"))
		Expect(fingerprint("/etc", "/usr/bin", "/usr/share/doc")).To(Equal(before), "the host is as it was")
		Expect("/etc/foo-was-here").NotTo(BeAnExistingFile())
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
		Expect(d.run("logs", made.ID)).To(ContainSubstring("agent: started"), "its log can still be read")
	})

	It("is killed when it is deleted, and its log can be followed to the end", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", "")
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
			// Every look costs CPU time that the start needs on a busy machine.
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
		Expect(time.Since(began)).To(BeNumerically("<", 10*time.Second), "not even a busy machine may take long")
	})

	It("keeps bootstrap data out of files and arguments that others can read", func(ctx SpecContext) {
		d := newDaemon()
		made := d.boot(ctx, "one", "# a secret that nobody may see")
		Expect(made.Bootstrap.State).To(Equal(cloud.BootstrapSucceeded))
		for _, pid := range d.processes(d.state) {
			arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			Expect(err).NotTo(HaveOccurred())
			Expect(string(arguments)).NotTo(ContainSubstring("secret"))
		}
		Expect(filepath.WalkDir(d.state, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil || !bytes.Contains(text, []byte("a secret that nobody may see")) {
				return err
			}
			info, err := entry.Info()
			Expect(info.Mode().Perm()).To(BeEquivalentTo(0o600), path)
			return err
		})).To(Succeed())
		Expect(d.output.String()).NotTo(ContainSubstring("secret"))
		Expect(strings.Contains(d.run("instances", "-o", "json"), "secret")).To(BeFalse())
	})
})
