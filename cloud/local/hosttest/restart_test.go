//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttest

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

var _ = Describe("daemon", func() {
	for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "stopped": syscall.SIGTERM} {
		It("finds everything again after it was "+name, func(ctx SpecContext) {
			d := newDaemon()
			balancer := d.balance(ctx)
			kept, lost := d.boot(ctx, "kept", ""), d.boot(ctx, "lost", "")
			pid := d.firstProcess(kept.ID)
			d.kill(signal)
			Expect(ask(balancer)).To(BeElementOf("kept", "lost"), "load balancers and instances outlive the daemon")
			dead := d.firstProcess(lost.ID)
			Expect(syscall.Kill(dead, syscall.SIGKILL)).To(Succeed())
			Eventually(func() error { return syscall.Kill(dead, 0) }, soon).Should(MatchError(syscall.ESRCH), "the kernel ends it in its own time")
			d.start()
			Expect(d.awaitState(ctx, lost.ID, cloud.InstanceStopped).Message).To(ContainSubstring("was not running"))
			now, err := d.client.GetInstance(ctx, kept.ID)
			Expect(err).NotTo(HaveOccurred())
			Expect(now).To(Equal(kept), "nothing of it changed")
			Expect(d.firstProcess(kept.ID)).To(Equal(pid), "it was not started again")
			again := d.balance(ctx)
			Expect(again.Address).To(Equal(balancer.Address))
			Eventually(ask, soon).WithArguments(balancer).Should(Equal("kept"), "the load balancer is told that the other is gone")
			Expect(syscall.Kill(pid, syscall.SIGKILL)).To(Succeed())
			d.awaitState(ctx, kept.ID, cloud.InstanceStopped)
		})
	}

	It("finishes what was half made when it was killed", func(ctx SpecContext) {
		d := newDaemon()
		_, err := d.client.EnsurePool(ctx, cloud.PoolSpec{
			Name: "pool", HostnamePrefix: "p", Size: 8, Revision: "r", Template: spec("x", "").InstanceTemplate,
		}, "")
		Expect(err).NotTo(HaveOccurred())
		d.kill(syscall.SIGKILL)
		d.start()
		instances, err := d.client.ListInstances(ctx, cloud.InstanceFilter{Pool: "pool"})
		Expect(err).NotTo(HaveOccurred())
		Expect(instances).To(HaveLen(8))
		for _, instance := range instances {
			d.await(ctx, instance.ID, func(i cloud.Instance) bool { return i.Bootstrap.State == cloud.BootstrapSucceeded })
		}
		Eventually(d.cards, soon).Should(HaveLen(8), "no half-made network card is left")
	})

	It("finishes deletions that were going on when it was killed", func(ctx SpecContext) {
		d := newDaemon()
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				defer GinkgoRecover()
				made := d.boot(ctx, fmt.Sprintf("n%d", i), "")
				Expect(d.client.DeleteInstance(ctx, made.ID)).To(Succeed())
			})
		}
		all.Wait()
		d.kill(syscall.SIGKILL)
		d.start()
		Eventually(func() ([]cloud.Instance, error) {
			return d.client.ListInstances(ctx, cloud.InstanceFilter{})
		}, soon).Should(BeEmpty(), "a deletion goes on by itself")
		Eventually(d.cards, soon).Should(BeEmpty(), "the kernel removes cards in its own time")
	})

	It("leaves nothing behind when it is destroyed", func(ctx SpecContext) {
		before := hostState()
		d := newDaemon()
		d.balance(ctx)
		d.boot(ctx, "one", "(sleep 1000 &) ; (setsid sleep 1000 &)")
		Expect(d.processes(d.state)).NotTo(BeEmpty())
		// Kill the daemon, so that everything is still running when it is destroyed.
		d.kill(syscall.SIGKILL)
		d.destroy()
		Expect(d.state).NotTo(BeADirectory())
		Eventually(func() []int { return d.processes(d.state) }, soon).Should(BeEmpty(), "processes are reaped in their own time")
		Eventually(hostState, soon).Should(Equal(before), "the kernel removes cards in its own time")
	})
})

// hostState returns the host's state that a cloud of these tests could leave behind: interfaces
// with their addresses, and mounts.
func hostState() map[string]string {
	GinkgoHelper()
	state := map[string]string{}
	interfaces, err := net.Interfaces()
	Expect(err).NotTo(HaveOccurred())
	for _, link := range interfaces {
		if ofOthers(link.Name) {
			continue
		}
		addresses, err := link.Addrs()
		Expect(err).NotTo(HaveOccurred())
		state[link.Name] = fmt.Sprint(addresses)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	Expect(err).NotTo(HaveOccurred())
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, "foo-hosttest") {
			state["mount "+line] = ""
		}
	}
	return state
}

// ofOthers reports whether an interface does not belong to the clouds of these tests, whose
// interfaces have names of their own.
func ofOthers(name string) bool {
	return !strings.HasPrefix(name, "fooht") && !strings.HasPrefix(name, "fooi")
}
