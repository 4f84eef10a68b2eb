//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// replaceExtension replaces the Pods of the runtime extension, as an upgrade does.
func (m *management) replaceExtension(ctx context.Context) {
	GinkgoHelper()
	const namespace = "runtime-extension-foo-system"
	m.kubectl(ctx, "--namespace="+namespace, "rollout", "restart", "deployment")
	m.deploymentsAvailable(ctx)
	Eventually(func(g Gomega) {
		var pods corev1.PodList
		g.Expect(m.List(ctx, &pods, client.InNamespace(namespace))).To(Succeed())
		g.Expect(pods.Items).To(HaveEach(HaveField("DeletionTimestamp", BeNil())))
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "the replaced Pods are not gone")
}

// expectNoFailedCall changes the topology of a cluster without pause during an operation, so that
// Cluster API calls the runtime extension for its patches, and expects that each call succeeds.
func (c *cluster) expectNoFailedCall(ctx context.Context, do func()) {
	GinkgoHelper()
	const label = "e2e.foo/change"
	began := time.Now().UTC().Format(time.RFC3339)
	c.patchCluster(ctx, `[{"op":"add","path":"/spec/topology/controlPlane/metadata","value":{"labels":{}}}]`)

	done, changes := make(chan struct{}), make(chan int, 1)
	go func() {
		defer GinkgoRecover()
		change := 0
		defer func() { changes <- change }()
		for {
			select {
			case <-done:
				return
			default:
			}
			change++
			value := strconv.Itoa(change)
			c.patchCluster(ctx, fmt.Sprintf(`[{"op":"add","path":"/spec/topology/controlPlane/metadata/labels","value":{%q:%q}}]`, label, value))
			Eventually(func(g Gomega) { g.Expect(c.controlPlane(g, ctx).Labels).To(HaveKeyWithValue(label, value)) }).
				WithContext(ctx).WithPolling(20 * time.Millisecond).WithTimeout(clusterUp).Should(Succeed())
		}
	}()
	do()
	close(done)
	made := <-changes
	AddReportEntry("changes of the topology", made)
	Expect(made).To(BeNumerically(">", 20))

	said := c.kubectl(ctx, "--namespace=capi-system", "logs", "deployment/capi-controller-manager", "--since-time="+began)
	Expect(said).NotTo(ContainSubstring("Failed to call extension handler"))
}
