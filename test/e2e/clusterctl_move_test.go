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

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// refuseMove expects that clusterctl says why the cluster can not be moved, and that all stays as it is.
func (c *clusterctl) refuseMove(ctx context.Context, from, to *pods, stays *cluster, says string) {
	GinkgoHelper()
	got := c.on(ctx, from.management, "move", "--namespace="+stays.key.Namespace, "--to-kubeconfig="+to.kubeconfig)
	Expect(got.code).NotTo(BeZero())
	Expect(got.stderr).To(ContainSubstring(says))
	var now clusterv1.Cluster
	Expect(from.Get(ctx, stays.key, &now)).To(Succeed())
	Expect(ptr.Deref(now.Spec.Paused, false)).To(BeFalse(), "the cluster has been left paused")
}

// move moves the cluster's namespace, and waits until the cluster is as well there as it was before.
func (c *clusterctl) move(ctx context.Context, from, to *pods, moved *cluster) {
	GinkgoHelper()
	c.run(ctx, from.management, "move", "--namespace="+moved.key.Namespace, "--to-kubeconfig="+to.kubeconfig)
	Expect(from.clusters(moved.key.Namespace)(Default, ctx)).To(BeEmpty(), "the source still has the cluster")
	moved.management = to.management
	moved.available(ctx)
	Eventually(func(g Gomega) {
		var now clusterv1.Cluster
		g.Expect(moved.Get(ctx, moved.key, &now)).To(Succeed())
		for _, kind := range []string{clusterv1.ClusterRemoteConnectionProbeCondition, clusterv1.ClusterControlPlaneAvailableCondition, clusterv1.ClusterWorkersAvailableCondition} {
			expectCondition(g, now.Status.Conditions, kind, metav1.ConditionTrue)
		}
		expectCondition(g, now.Status.Conditions, clusterv1.ClusterRollingOutCondition, metav1.ConditionFalse)
		g.Expect(moved.anyControlPlane(g, ctx).GetGeneration()).To(BeNumerically(">", 0))
		moved.expectSettledStatus(g, ctx, 1, currentVersion)
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "the cluster does not go on where it has been moved")
}

// footprint is what a cluster is made of outside of its management cluster.
type footprint struct {
	instances, nodes, members sets.Set[string]
}

// footprint looks at the cluster itself, and at the cloud that a management cluster has started.
func (c *cluster) footprint(ctx context.Context, cloud *management) footprint {
	GinkgoHelper()
	made := footprint{instances: sets.New[string](), nodes: sets.New[string](), members: sets.New[string]()}
	for _, one := range foocloud[[]instance](ctx, cloud, "instances") {
		made.instances.Insert(one.ID)
	}
	nodes := c.nodesReady(ctx, 1, 1)
	for _, node := range nodes {
		made.nodes.Insert(node.Name + " " + string(node.UID))
	}
	made.members.Insert(c.healthyMembers(ctx, controlPlanesOf(nodes))...)
	return made
}
