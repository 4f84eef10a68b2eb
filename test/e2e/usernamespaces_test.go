//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("A cluster whose instances have user namespaces", Label("containment", "slow"), func() {
	It("has Pods on all nodes, Services and DNS, and no root of the host", func(ctx SpecContext) {
		const namespace = "mapped"
		m := &management{state: filepath.Join(suiteDir, namespace), bridge: quickstartBridge}
		m.program = startQuickstart(ctx, m.state, m.bridge, quickstartNetwork, "--user-namespaces=on")
		DeferCleanup(m.stop, NodeTimeout(clusterGone))
		m.connect(ctx)
		m.namespace(ctx, namespace)
		c := m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "one"}, shape{controlPlanes: 1, workers: 2, version: currentVersion})
		c.available(ctx)
		c.nodesReady(ctx, 1, 2)
		c.on(ctx, append([]string{"create", "deployment", "hello", "--image=" + shellImage, "--replicas=4", "--"}, hello...)...)
		c.deploymentReady(ctx, "hello", 4)
		c.hasServicesAndDNS(ctx, 2)
		c.hasNodePorts(ctx, 2)
		for _, one := range foocloud[[]instance](ctx, m, "instances") {
			users, err := os.ReadFile(fmt.Sprintf("/proc/%d/uid_map", instanceInit(one.ID)))
			Expect(err).NotTo(HaveOccurred())
			Expect(strings.Fields(string(users))).To(HaveExactElements("0", Not(Equal("0")), "65536"), one.Name)
		}
	}, NodeTimeout(3*clusterUp))
})
