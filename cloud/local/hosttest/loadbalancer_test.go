//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttest

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/test/e2e/stopwatch"
)

// balance creates a load balancer for the instances that spec describes, and returns it once it is
// ready.
func (d *daemon) balance(ctx SpecContext) cloud.LoadBalancer {
	GinkgoHelper()
	spec := cloud.LoadBalancerSpec{Name: "default.lb", Port: 443, TargetPort: 6443, Selector: cloud.Tags{"cluster": "one"}}
	_, err := d.client.EnsureLoadBalancer(ctx, spec)
	Expect(err).NotTo(HaveOccurred())
	var now cloud.LoadBalancer
	Eventually(func() (bool, error) {
		now, err = d.client.GetLoadBalancer(ctx, spec.Name)
		return now.Ready, err
	}, soon).Should(BeTrue(), "its process is started by the daemon")
	return now
}

// ask sends a request through a load balancer on a new connection, and returns the host name of the
// backend that answered.
func ask(balancer cloud.LoadBalancer) (string, error) {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	address := net.JoinHostPort(balancer.Address, strconv.Itoa(int(balancer.Port)))
	response, err := (&http.Client{Transport: transport, Timeout: soon}).Get("https://" + address + "/")
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// outage sends requests until stop is closed. It returns the longest time without an answer, not
// counting time for which the test machine itself was held up.
func outage(ctx context.Context, balancer cloud.LoadBalancer, stop <-chan struct{}) time.Duration {
	watch, longest, answered := stopwatch.Start(ctx), time.Duration(0), time.Now()
	for {
		select {
		case <-stop:
			return longest
		default:
		}
		_, err := ask(balancer)
		now := time.Now()
		longest = max(longest, now.Sub(answered)-watch.HeldUp(answered, now))
		if err == nil {
			answered = now
		}
	}
}

var _ = Describe("load balancer", func() {
	It("holds connections until its first backend is up", func(ctx SpecContext) {
		d := newDaemon()
		balancer := d.balance(ctx)
		answer := make(chan string, 1)
		go func() {
			text, err := ask(balancer)
			answer <- fmt.Sprint(text, err)
		}()
		Consistently(answer, "300ms").ShouldNot(Receive(), "there is no backend")
		d.boot(ctx, "first", "sleep 1")
		Eventually(answer, soon).Should(Receive(Equal("first<nil>")), "it is forwarded once the backend is up")
	})

	It("answers while backends come, are killed and are deleted", func(ctx SpecContext) {
		d := newDaemon()
		balancer := d.balance(ctx)
		first := d.boot(ctx, "first", "")
		Expect(ask(balancer)).To(Equal("first"))
		stop, longest := make(chan struct{}), make(chan time.Duration, 1)
		go func() { longest <- outage(ctx, balancer, stop) }()
		second, third := d.boot(ctx, "second", ""), d.boot(ctx, "third", "")
		Eventually(ask, soon).WithArguments(balancer).Should(Equal("third"), "it has its turn once it is ready")
		Expect(syscall.Kill(d.firstProcess(second.ID), syscall.SIGKILL)).To(Succeed())
		d.awaitState(ctx, second.ID, cloud.InstanceStopped)
		Expect(d.client.DeleteInstance(ctx, first.ID)).To(Succeed())
		d.kill(syscall.SIGKILL)
		d.start()
		Eventually(ask, soon).WithArguments(balancer).Should(Equal("third"), "it is the only one left")
		close(stop)
		var took time.Duration
		Eventually(longest, soon).Should(Receive(&took), "the last request ends")
		AddReportEntry("longest time without an answer", took)
		// Two backends may be gone before the balancer is told, and it tries each for a second. The rest is
		// for a busy disk: if the balancer needed the daemon, no request would be answered before it is back.
		Expect(took).To(BeNumerically("<", 6*time.Second))
		d.await(ctx, third.ID, func(i cloud.Instance) bool { return i.State == cloud.InstanceRunning })
	})

	It("is started again when its process dies", func(ctx SpecContext) {
		d := newDaemon()
		balancer := d.balance(ctx)
		d.boot(ctx, "first", "")
		pids := d.processes(filepath.Join(d.state, "load-balancers"))
		Expect(pids).To(HaveLen(1))
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pids[0]))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(name)).To(Equal("foocloud-lb\n"))
		Expect(syscall.Kill(pids[0], syscall.SIGKILL)).To(Succeed())
		Eventually(ask, soon).WithArguments(balancer).Should(Equal("first"), "the daemon starts it at once")
	})

	It("is gone when it is deleted", func(ctx SpecContext) {
		d := newDaemon()
		balancer := d.balance(ctx)
		Expect(d.client.DeleteLoadBalancer(ctx, balancer.Name)).To(Succeed())
		Eventually(func() bool {
			return cloud.IsNotFound(d.client.DeleteLoadBalancer(ctx, balancer.Name))
		}, soon).Should(BeTrue(), "a deletion ends with NotFound")
		Expect(d.processes(filepath.Join(d.state, "load-balancers"))).To(BeEmpty())
		Expect(d.addresses()).NotTo(ContainSubstring(balancer.Address + "/"))
	})
})
