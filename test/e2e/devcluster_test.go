//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	_ "embed"
	"net/http"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/test/inmemory"
)

// devCluster is a cluster of Cluster API's in-memory infrastructure with a FooControlPlane.
//
//go:embed testdata/devcluster.yaml
var devCluster string

// Everything in this infrastructure is fake and none of it is Foo's. This shows that a
// FooControlPlane needs only what Cluster API's contracts promise, even with a kubeadm that has
// little in common with the real one.
var _ = Describe("A FooControlPlane on Cluster API's in-memory infrastructure", Ordered, Label("control-plane", "in-memory", needsInMemoryProvider), func() {
	const namespace = "in-memory"
	var c *cluster

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.startInMemoryProvider(ctx)
		m.namespace(ctx, namespace)
		c = &cluster{management: m, key: client.ObjectKey{Namespace: namespace, Name: "fake"}}
		m.apply(ctx, decodeObjects(strings.NewReader(devCluster)))
	}, NodeTimeout(clusterUp))

	It("comes up", func(ctx SpecContext) {
		c.fakeSettled(ctx, 1, previousVersion)
	}, NodeTimeout(clusterUp))

	It("grows to 3", func(ctx SpecContext) {
		c.scaleControlPlane(ctx, 3)
		c.fakeSettled(ctx, 3, previousVersion)
	}, NodeTimeout(clusterUp))

	It("rolls out a new version", func(ctx SpecContext) {
		c.upgradeControlPlane(ctx, currentVersion)
		c.fakeSettled(ctx, 3, currentVersion)
	}, NodeTimeout(clusterUp))
})

// startInMemoryProvider starts Cluster API's in-memory provider, which runs until the story has
// deleted its clusters.
func (m *management) startInMemoryProvider(ctx context.Context) {
	GinkgoHelper()
	Expect(inmemory.InstallCRDs(ctx, m.Client, filepath.Join(bin, "../hack/tools"))).To(Succeed())
	arguments, ready, err := inmemory.Arguments(ctx, m.kubeconfig, filepath.Join(suiteDir, "in-memory"))
	Expect(err).NotTo(HaveOccurred())
	cmd := command(context.WithoutCancel(ctx), inmemory.Program, arguments...)
	cmd.Env = append(cmd.Env, inmemory.Variable)
	provider := start(cmd)
	DeferCleanup(func(ctx SpecContext) {
		Expect(provider.interrupt(ctx)).To(BeZero(), "the in-memory provider failed: %s", provider.said.Contents())
	}, NodeTimeout(clusterGone))
	Eventually(func(g Gomega) {
		response, err := http.Get(ready)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(response.Body.Close()).To(Succeed())
		g.Expect(response).To(HaveHTTPStatus(http.StatusOK))
	}).WithContext(ctx).Should(Succeed(), "the in-memory provider has not come up")
}

// fakeSettled waits until the control plane has exactly that many Machines of that version, all
// healthy and available.
func (c *cluster) fakeSettled(ctx context.Context, replicas int32, version string) {
	GinkgoHelper()
	c.controlPlaneReady(ctx, replicas)
	Eventually(func(g Gomega) {
		g.Expect(ptr.Deref(c.controlPlane(g, ctx).Status.UpToDateReplicas, 0)).To(Equal(replicas))
		machines := c.controlPlaneMachines(g, ctx)
		g.Expect(machines).To(HaveLen(int(replicas)))
		for _, machine := range machines {
			g.Expect(machine.Spec.Version).To(Equal(version), "version of Machine %s", machine.Name)
			g.Expect(machine.DeletionTimestamp).To(BeNil(), "Machine %s is being deleted", machine.Name)
			expectCondition(g, machine.Status.Conditions, clusterv1.MachineAvailableCondition, metav1.ConditionTrue)
		}
		c.expectSettledStatus(g, ctx, int(replicas), version)
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
}
