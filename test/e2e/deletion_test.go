//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/test/e2e/stopwatch"
)

// allGone is how long the deletion may take when all objects of a cluster are deleted at once.
const allGone = time.Minute

// Cluster API expects users to delete only the Cluster, which deletes the rest in the right order.
// Users delete what they applied anyway, so each object must wait until nothing needs it any more.
var _ = Describe("A cluster all of whose objects are deleted at once", Label("resilience"), func() {
	DescribeTable("is gone within a minute, and nothing of it is left in the cloud",
		func(ctx SpecContext, name string, inOrder func([]*unstructured.Unstructured) []*unstructured.Unstructured) {
			m := sharedManagement(ctx)
			key := client.ObjectKey{Namespace: "deletion-" + name, Name: "doomed"}
			m.namespace(ctx, key.Namespace)
			want := shape{controlPlanes: 1, workers: 1, version: currentVersion}
			c := m.newCluster(ctx, key, want)
			deployment := machineDeployment(key, "deployed")
			m.apply(ctx, deployment)
			c.available(ctx)
			c.nodesReady(ctx, 1, 2)

			allKinds := kinds("machinedeployments", "machinesets", "foomachinetemplates", "kubeadmconfigtemplates", "secrets")
			took := timed(ctx)
			m.deleteAtOnce(ctx, inOrder(append(m.render(ctx, key, want), deployment...)))
			Eventually(func(g Gomega) {
				left := strings.Fields(m.kubectl(ctx, "--namespace="+key.Namespace, "get", allKinds, "--output=name"))
				g.Expect(left).To(BeEmpty(), "objects of the cluster are left")
				g.Expect(foocloud[[]instance](ctx, m, "instances")).To(BeEmpty())
				g.Expect(foocloud[[]named](ctx, m, "pools")).To(BeEmpty())
				g.Expect(foocloud[[]named](ctx, m, "load-balancers")).To(BeEmpty())
				g.Expect(foocloud[quota](ctx, m, "quota")).To(BeZero(), "quota is still used")
			}).WithContext(ctx).WithTimeout(clusterGone).Should(Succeed())
			Expect(took()).To(BeNumerically("<=", allGone))
		},
		Entry("when they are deleted in the order in which they were applied, the infrastructure first", NodeTimeout(2*clusterUp+clusterGone), "in-order",
			func(objects []*unstructured.Unstructured) []*unstructured.Unstructured { return objects }),
		Entry("when they are deleted in reverse order", Label("slow"), NodeTimeout(2*clusterUp+clusterGone), "reversed",
			func(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
				slices.Reverse(objects)
				return objects
			}),
		Entry("when the Cluster is deleted last", Label("slow"), NodeTimeout(2*clusterUp+clusterGone), "cluster-last",
			func(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
				slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return clusterLast(a) - clusterLast(b) })
				return objects
			}),
	)

	It("is gone within a minute when its namespace is deleted", Label("slow"), func(ctx SpecContext) {
		m := sharedManagement(ctx)
		key := client.ObjectKey{Namespace: "deletion-namespace", Name: "doomed"}
		m.namespace(ctx, key.Namespace)
		c := m.newCluster(ctx, key, shape{controlPlanes: 1, workers: 1, version: currentVersion})
		c.available(ctx)
		c.nodesReady(ctx, 1, 1)

		took := timed(ctx)
		m.kubectl(ctx, "delete", "namespace", key.Namespace, "--wait=false")
		Eventually(func(g Gomega) {
			left := m.kubectl(ctx, "get", "namespaces", key.Namespace, "--ignore-not-found", "--output=jsonpath={.metadata.name} {.status.conditions[*].message}")
			g.Expect(left).To(BeEmpty())
			g.Expect(foocloud[quota](ctx, m, "quota")).To(BeZero(), "quota is still used")
		}).WithContext(ctx).WithTimeout(clusterGone).Should(Succeed())
		Expect(took()).To(BeNumerically("<=", allGone))
	}, NodeTimeout(2*clusterUp+clusterGone))
})

// timed returns a function that returns the time since the call, without delays caused by the
// machine.
func timed(ctx context.Context) func() time.Duration {
	watch, began := stopwatch.Start(ctx), time.Now()
	return func() time.Duration {
		now := time.Now()
		return now.Sub(began) - watch.HeldUp(began, now)
	}
}

func clusterLast(object *unstructured.Unstructured) int {
	if object.GetKind() == "Cluster" {
		return 1
	}
	return 0
}
