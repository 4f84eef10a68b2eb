//go:build e2e

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

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

// longestOutage is how long requests through the load balancer may fail while programs die.
const longestOutage = 2 * time.Second

var _ = Describe("Programs and machines that die", Ordered, Label("resilience"), func() {
	const namespace = "resilience"
	var c *cluster

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, namespace)
		c = m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "tough"}, shape{controlPlanes: 1, workers: 1, version: currentVersion})
		c.available(ctx)
		c.nodesReady(ctx, 1, 1)
	}, NodeTimeout(2*clusterUp))

	It("grows the control plane to 3 though the manager and foocloud are killed", Label("contract:control-plane.replicas"), func(ctx SpecContext) {
		asking := c.poll(ctx)
		c.scaleControlPlane(ctx, 3)
		By("killing the manager once it has made the second machine")
		c.waitForMachines(ctx, 2)
		c.expectRestart(ctx, "manager", c.kill("manager"))
		By("killing foocloud once the third machine is ordered")
		c.waitForMachines(ctx, 3)
		c.expectRestart(ctx, "foocloud", c.kill("foocloud"))
		By("waiting for the control plane")
		nodes := c.nodesReady(ctx, 3, 1)
		c.controlPlaneReady(ctx, 3)
		Expect(c.healthyMembers(ctx, nodes)).To(ConsistOf(namesOf(controlPlanesOf(nodes))))

		answers := asking()
		worst := longest(answers)
		AddReportEntry("requests through the load balancer", fmt.Sprintf("%d, longest outage %s %v", len(answers), worst.duration, worst.err))
		Expect(worst.duration).To(BeNumerically("<=", longestOutage), "requests through the load balancer failed: %v", worst.err)
	}, NodeTimeout(3*clusterUp))

	It("reports an instance whose first process is killed", Label("contract:infra-machine.conditions"), func(ctx SpecContext) {
		workers := slices.DeleteFunc(c.fooMachines(Default, ctx), func(machine infrav1.FooMachine) bool {
			_, controlPlane := machine.Labels[clusterv1.MachineControlPlaneLabel]
			return controlPlane
		})
		Expect(workers).To(HaveLen(1))
		victim := &workers[0]
		Expect(syscall.Kill(instanceInit(c.state, victim.Status.InstanceID), syscall.SIGKILL)).To(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(c.Get(ctx, client.ObjectKeyFromObject(victim), victim)).To(Succeed())
			ready := expectCondition(g, victim.Status.Conditions, infrav1.FooMachineReadyCondition, metav1.ConditionFalse)
			g.Expect(ready.Message).NotTo(BeEmpty(), "Ready must say why it is not")
			provisioned := expectCondition(g, victim.Status.Conditions, infrav1.FooMachineInstanceProvisionedCondition, metav1.ConditionFalse)
			g.Expect(provisioned.Reason).To(Equal(infrav1.FooMachineInstanceStoppedReason))
			g.Expect(provisioned.Message).To(ContainSubstring("first process"))
			g.Expect(victim.Status.Initialization.Provisioned).To(HaveValue(BeTrue()), "what was provisioned once stays so")
		}).WithContext(ctx).Should(Succeed())
		Eventually(c.warnings(victim)).WithContext(ctx).Should(ContainElement(ContainSubstring(infrav1.FooMachineInstanceStoppedReason)))
		instances := foocloud[[]instance](ctx, c.management, "instances")
		index := slices.IndexFunc(instances, func(i instance) bool { return i.ID == victim.Status.InstanceID })
		Expect(index).To(BeNumerically(">=", 0), "the instance is lost")
		Expect(instances[index].State).To(Equal("Stopped"))
	}, NodeTimeout(clusterUp))
})

// waitForMachines waits until the control plane has ordered that many machines.
func (c *cluster) waitForMachines(ctx context.Context, count int32) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(ptr.Deref(c.controlPlane(g, ctx).Status.Replicas, 0)).To(BeNumerically(">=", count))
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "the control plane does not grow to %d machines", count)
}

// expectRestart waits until a program that was killed runs again.
func (c *cluster) expectRestart(ctx context.Context, program string, killed int) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		pid := c.pid(g, program)
		g.Expect(pid).NotTo(Equal(killed))
		g.Expect(syscall.Kill(pid, 0)).To(Succeed())
	}).WithContext(ctx).Should(Succeed(), "%s is not started again", program)
}

// answer is how one request went.
type answer struct {
	start, end time.Time
	err        error
}

// poll asks the workload cluster's API for something that etcd must answer, each time over a new connection, until the
// function that it returns is called, which returns all answers in the order of the requests.
func (c *cluster) poll(ctx context.Context) func() []answer {
	GinkgoHelper()
	const every, patience = 100 * time.Millisecond, 5 * time.Second
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	tlsConfig, err := rest.TLSConfigFor(config)
	Expect(err).NotTo(HaveOccurred())
	http1 := &http.Client{Transport: &http.Transport{TLSClientConfig: tlsConfig, DisableKeepAlives: true}, Timeout: patience}

	asking, stop := context.WithCancel(ctx)
	DeferCleanup(stop)
	var answers []answer
	var mu sync.Mutex
	var group sync.WaitGroup
	group.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-asking.Done():
				return
			case <-ticker.C:
			}
			group.Go(func() {
				one := answer{start: time.Now()}
				one.err = ask(context.WithoutCancel(asking), http1, config.Host+"/api/v1/namespaces/kube-system")
				one.end = time.Now()
				mu.Lock()
				defer mu.Unlock()
				answers = append(answers, one)
			})
		}
	})
	return func() []answer {
		stop()
		group.Wait()
		slices.SortFunc(answers, func(a, b answer) int { return a.start.Compare(b.start) })
		return answers
	}
}

func ask(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	if response.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("the API answered %s", response.Status))
	}
	return errors.Join(err, response.Body.Close())
}

// outage is a time without any good answer.
type outage struct {
	duration time.Duration
	// err is what the first request of it got.
	err error
}

// longest returns the longest outage: from the start of the first request that failed to the end of the next good one.
func longest(answers []answer) outage {
	var worst, now outage
	var since time.Time
	for _, one := range answers {
		if one.err != nil && now.err == nil {
			since, now.err = one.start, one.err
		}
		if now.err == nil {
			continue
		}
		now.duration = one.end.Sub(since)
		if now.duration > worst.duration {
			worst = now
		}
		if one.err == nil {
			now = outage{}
		}
	}
	return worst
}
