//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package extension

import (
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// Cluster API does not tell a hook that it is no longer needed.
var _ = Describe("A job that waits", func() {
	for _, hook := range []string{hooks.AfterControlPlaneInitialized, hooks.BeforeControlPlaneUpgrade} {
		It("ends when its hook is skipped: "+hook, func(ctx SpecContext) {
			cluster := held(ctx, "ends", hook)
			patch(ctx, cluster, map[string]any{"metadata": map[string]any{"annotations": map[string]any{hooks.SkipAnnotation: hook}}})
			Eventually(progress(ctx, cluster.Namespace)).Should(Equal("completed: skipped: the annotation foo.cluster.x-k8s.io/skip-hooks names " + hook))
			jobs.release(cluster.Name)
			patch(ctx, cluster, map[string]any{"metadata": map[string]any{"annotations": map[string]any{hooks.SkipAnnotation: nil}}})
			Consistently(func() map[string]int { return jobs.done(cluster.Name) }).Should(BeEmpty(), "it is done although it has ended")
		})
	}

	for hook, want := range map[string]map[string]int{
		hooks.AfterControlPlaneInitialized: {hooks.AfterControlPlaneInitialized: 1}, hooks.BeforeControlPlaneUpgrade: {},
	} {
		It("continues at the target of a move even if its hook is not called again there: "+hook, func(ctx SpecContext) {
			cluster := held(ctx, "moved", hook)
			record := records(ctx, cluster.Namespace)[0]
			Expect(environment.Client.Delete(ctx, cluster)).To(Succeed())
			Eventually(jobs.forgotten).Should(ContainElement(client.ObjectKeyFromObject(cluster)), "the Cluster is still known")
			Expect(environment.Client.Delete(ctx, &record)).To(Succeed())
			jobs.release(cluster.Name)

			By("recreating both like clusterctl")
			moved := newCluster(ctx, cluster.Namespace, cluster.Name)
			record.ResourceVersion, record.UID, record.OwnerReferences[0].UID, record.Status = "", "", moved.UID, extensionv1.HookJobStatus{}
			Expect(environment.Client.Create(ctx, &record)).To(Succeed())
			Eventually(progress(ctx, cluster.Namespace)).Should(HavePrefix("completed: "))
			Expect(jobs.done(cluster.Name)).To(Equal(want))
		})
	}

	It("pauses while the topology requests another upgrade, and continues when its own is requested again", func(ctx SpecContext) {
		hook := hooks.BeforeControlPlaneUpgrade
		cluster := held(ctx, "rests", hook)
		version := func(version string) {
			patch(ctx, cluster, map[string]any{"spec": map[string]any{"topology": map[string]any{"version": version}}})
		}
		version("v1.36.4")
		Eventually(progress(ctx, cluster.Namespace)).Should(Equal("nothing is done: the topology has version v1.36.4, which this upgrade does not lead to"))
		jobs.release(cluster.Name)
		Consistently(func() map[string]int { return jobs.done(cluster.Name) }).Should(BeEmpty(), "it is done for an abandoned upgrade")
		version("v1.36.3")
		Eventually(func() map[string]int { return jobs.done(cluster.Name) }).Should(Equal(map[string]int{hook: 1}))
	})
})

var _ = Describe("The settings of the ExtensionConfig", Serial, func() {
	hook := hooks.AfterControlPlaneInitialized
	AfterEach(func(ctx SpecContext) { register(ctx, on) })

	It("apply to waiting jobs as soon as they change", func(ctx SpecContext) {
		cluster := held(ctx, "off", hook)
		register(ctx, map[string]string{"smokeChecks": "Disabled"})
		Eventually(progress(ctx, cluster.Namespace)).Should(Equal("nothing is done: the settings do not ask for it"))
		jobs.release(cluster.Name)
		Consistently(func() map[string]int { return jobs.done(cluster.Name) }).Should(BeEmpty(), "it is done although the settings no longer ask for it")
		register(ctx, on)
		Eventually(progress(ctx, cluster.Namespace)).Should(Equal("completed: done"), "although the hook is not called again")
	})

	It("apply to a hook that was called while they asked for nothing", func(ctx SpecContext) {
		off := map[string]string{"smokeChecks": "Disabled"}
		register(ctx, off)
		cluster := newCluster(ctx, newNamespace(ctx), "called-while-off")
		Expect(newCaller().call(ctx, replicas[0], hook, requests(cluster, off)[hook]).Status).To(Equal(runtimehooksv1.ResponseStatusSuccess))
		Eventually(progress(ctx, cluster.Namespace)).Should(Equal("nothing is done: the settings do not ask for it"))
		register(ctx, on)
		Eventually(progress(ctx, cluster.Namespace)).Should(Equal("completed: done"), "although the hook is not called again")
	})

	It("are the only settings that jobs use", func(ctx SpecContext) {
		cluster := held(ctx, "unregistered", hook)
		Expect(environment.Client.Delete(ctx, &runtimev1.ExtensionConfig{ObjectMeta: metav1.ObjectMeta{Name: "foo"}})).To(Succeed())
		Eventually(progress(ctx, cluster.Namespace)).Should(Equal(`nothing is done: there is no ExtensionConfig "foo"`))
		jobs.release(cluster.Name)
		learned(ctx, nil)
		another := newCluster(ctx, newNamespace(ctx), "stranger")
		Expect(newCaller().call(ctx, replicas[0], hooks.BeforeClusterDelete, requests(another, on)[hooks.BeforeClusterDelete]).CommonRetryResponse).
			To(Equal(refusal(hooks.BeforeClusterDelete, "the job of the hook BeforeClusterDelete: no ExtensionConfig has the settings of this call; if they were just changed, the call will be repeated with the new ones")))
		Expect(records(ctx, another.Namespace)).To(BeEmpty())
		Consistently(func() map[string]int { return jobs.done(cluster.Name) }).Should(BeEmpty(), "it is done although the extension is not registered")

		By("registering the extension again")
		register(ctx, on)
		Eventually(func() map[string]int { return jobs.done(cluster.Name) }).Should(Equal(map[string]int{hook: 1}))
	})
})

// held returns a Cluster that a hook blocks.
func held(ctx context.Context, name, hook string) *clusterv1.Cluster {
	GinkgoHelper()
	namespace := newNamespace(ctx)
	cluster := newCluster(ctx, namespace, name+"-"+namespace)
	jobs.hold(cluster.Name, "waits for the test")
	newCaller().call(ctx, replicas[0], hook, requests(cluster, on)[hook])
	Eventually(progress(ctx, namespace)).Should(Equal("waits for the test"))
	return cluster
}

func patch(ctx context.Context, cluster *clusterv1.Cluster, change map[string]any) {
	GinkgoHelper()
	encoded, err := json.Marshal(change)
	Expect(err).NotTo(HaveOccurred())
	Expect(environment.Client.Patch(ctx, cluster, client.RawPatch(types.MergePatchType, encoded))).To(Succeed())
}
