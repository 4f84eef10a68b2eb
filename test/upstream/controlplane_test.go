//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	kubeadmv1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/test/framework"
	"sigs.k8s.io/cluster-api/test/framework/clusterctl"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fooControlPlane waits for a FooControlPlane where the framework would wait for a
// KubeadmControlPlane. As a FooControlPlane has the same fields, the specs read it as one.
var fooControlPlane = clusterctl.ControlPlaneWaiters{
	WaitForControlPlaneInitialized: func(ctx context.Context, input clusterctl.ApplyCustomClusterTemplateAndWaitInput, result *clusterctl.ApplyCustomClusterTemplateAndWaitResult) {
		management := input.ClusterProxy.GetClient()
		Eventually(func(g Gomega) {
			cluster := &clusterv1.Cluster{}
			g.Expect(management.Get(ctx, client.ObjectKeyFromObject(result.Cluster), cluster)).To(Succeed())
			g.Expect(ptr.Deref(cluster.Status.Initialization.ControlPlaneInitialized, false)).To(BeTrue())
			result.Cluster, result.ControlPlane = cluster, readControlPlane(ctx, g, management, cluster)
		}, input.WaitForControlPlaneIntervals...).Should(Succeed(), "the control plane is not initialized")
	},
	WaitForControlPlaneMachinesReady: func(ctx context.Context, input clusterctl.ApplyCustomClusterTemplateAndWaitInput, result *clusterctl.ApplyCustomClusterTemplateAndWaitResult) {
		management := input.ClusterProxy.GetClient()
		Eventually(func(g Gomega) {
			found := readControlPlane(ctx, g, management, result.Cluster)
			for name, replicas := range map[string]*int32{
				"replicas": found.Status.Replicas, "upToDateReplicas": found.Status.UpToDateReplicas,
				"readyReplicas": found.Status.ReadyReplicas, "availableReplicas": found.Status.AvailableReplicas,
			} {
				g.Expect(replicas).To(HaveValue(Equal(*found.Spec.Replicas)), name)
			}
			result.ControlPlane = found
		}, input.WaitForControlPlaneIntervals...).Should(Succeed(), "the control plane is not ready")
		framework.AssertControlPlaneFailureDomains(ctx, framework.AssertControlPlaneFailureDomainsInput{Lister: management, Cluster: result.Cluster})
	},
}

func readControlPlane(ctx context.Context, g Gomega, management client.Client, cluster *clusterv1.Cluster) *kubeadmv1.KubeadmControlPlane {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kubeadmv1.GroupVersion.WithKind(cluster.Spec.ControlPlaneRef.Kind))
	g.Expect(management.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.ControlPlaneRef.Name}, object)).To(Succeed())
	controlPlane := &kubeadmv1.KubeadmControlPlane{}
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, controlPlane)).To(Succeed())
	return controlPlane
}
