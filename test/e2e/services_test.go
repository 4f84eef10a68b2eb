//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hasServicesAndDNS expects that the Pods of the Deployment hello, and a Pod on each worker, reach
// Services and DNS.
func (c *cluster) hasServicesAndDNS(ctx context.Context, workers int) {
	GinkgoHelper()
	var api corev1.Service
	Expect(c.workload.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "kubernetes"}, &api)).To(Succeed())
	c.on(ctx, "--namespace=kube-system", "rollout", "status", "daemonset/kube-proxy")
	c.on(ctx, "--namespace=kube-flannel", "rollout", "status", "daemonset/flannel")
	By("connecting to the API server through its Service from a Pod on another Node, once kube-proxy routes it")
	Eventually(func(g Gomega) {
		connected := end(command(ctx, kubectl(), "--kubeconfig="+c.kubeconfig, "exec", "deployment/hello", "--",
			"bash", "-c", ": < /dev/tcp/"+api.Spec.ClusterIP+"/443"))
		g.Expect(connected.code).To(BeZero(), connected.stderr)
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())

	By("looking up that Service in DNS from a Pod on each worker")
	c.on(ctx, "--namespace=kube-system", "wait", "deployment/coredns", "--for=condition=Available", "--timeout="+clusterUp.String())
	for index, node := range workersOf(c.nodesReady(ctx, 1, workers)) {
		asking := c.runPod(ctx, fmt.Sprintf("asking-%d", index), node.Name, corev1.Container{Image: shellImage, Command: hello})
		c.podReady(ctx, asking)
		Eventually(func() []string {
			asked := end(command(ctx, kubectl(), "--kubeconfig="+c.kubeconfig, "exec", asking.Name, "--", "getent", "hosts", "kubernetes.default"))
			return strings.Fields(asked.stdout)
		}).WithContext(ctx).WithTimeout(clusterUp).Should(Equal([]string{api.Spec.ClusterIP, "kubernetes.default.svc.cluster.local"}), node.Name)
		c.on(ctx, "delete", "pod", asking.Name)
	}
}

// hasNodePorts expects that this machine reaches the DNS Pods through a port of every Node.
func (c *cluster) hasNodePorts(ctx context.Context, workers int) {
	GinkgoHelper()
	var dns corev1.Service
	Expect(c.workload.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "kube-dns"}, &dns)).To(Succeed())
	before := dns.DeepCopy()
	dns.Spec.Type = corev1.ServiceTypeNodePort
	Expect(c.workload.Patch(ctx, &dns, client.MergeFrom(before))).To(Succeed())
	index := slices.IndexFunc(dns.Spec.Ports, func(port corev1.ServicePort) bool { return port.Name == "metrics" })
	Expect(index).To(BeNumerically(">=", 0))
	for _, node := range c.nodesReady(ctx, 1, workers) {
		address := fmt.Sprintf("http://%s:%d/metrics", addressOf(node), dns.Spec.Ports[index].NodePort)
		Eventually(func() (string, error) { return fetch(ctx, address) }).WithContext(ctx).WithTimeout(clusterUp).
			Should(ContainSubstring("coredns_build_info"), node.Name)
	}
}
