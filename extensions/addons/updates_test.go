//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/extensions/cleanup"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// startControllers starts the controllers that do jobs and that have add-ons updated, until the end
// of the test. It returns their cache.
func startControllers(ctx context.Context) client.Reader {
	GinkgoHelper()
	registration := &runtimev1.ExtensionConfig{
		ObjectMeta: metav1.ObjectMeta{Name: "addons"},
		Spec: runtimev1.ExtensionConfigSpec{
			ClientConfig: runtimev1.ClientConfig{URL: "https://127.0.0.1:1"}, Settings: map[string]string{"addons": "Enabled", "cleanUp": "Enabled"},
		},
	}
	Expect(management.Client.Create(ctx, registration)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(management.Client.Delete(ctx, registration)).To(Succeed()) })
	mgr, err := management.NewManager()
	Expect(err).NotTo(HaveOccurred())
	Expect(SetupWithManager(mgr, options())).To(Succeed())
	Expect(hooks.SetupWithManager(mgr, hooks.Options{
		Gone: func(client.ObjectKey) {},
		Tasks: hooks.Tasks{
			hooks.AfterControlPlaneInitialized: {{Setting: "addons", Run: Task{options()}.Run}},
			hooks.BeforeClusterDelete:          {{Setting: "cleanUp", Run: cleanup.Task{Clusters: options()}.Run}},
		},
	})).To(Succeed())
	running, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()
	DeferCleanup(func() {
		stop()
		Eventually(ended).Should(Receive(BeNil()))
	})
	return mgr.GetCache()
}

// configure changes the settings, and waits until the controllers know them.
func configure(ctx context.Context, cached client.Reader, settings map[string]string) {
	GinkgoHelper()
	registration := &runtimev1.ExtensionConfig{}
	Expect(management.Client.Get(ctx, client.ObjectKey{Name: "addons"}, registration)).To(Succeed())
	patch := client.MergeFrom(registration.DeepCopy())
	registration.Spec.Settings = settings
	Expect(management.Client.Patch(ctx, registration, patch)).To(Succeed())
	Eventually(func() (map[string]string, error) {
		known := &runtimev1.ExtensionConfig{}
		err := cached.Get(ctx, client.ObjectKeyFromObject(registration), known)
		return known.Spec.Settings, err
	}).Should(Equal(settings))
}

// job creates the job of a hook for the Cluster.
func (w world) job(ctx context.Context, hook string) client.ObjectKey {
	GinkgoHelper()
	made := &extensionv1.HookJob{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: "c-" + strings.ToLower(hook), Labels: map[string]string{clusterv1.ClusterNameLabel: "c"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c", UID: w.cluster.UID}},
		},
		Spec: extensionv1.HookJobSpec{
			ClusterName: "c", ClusterUID: w.cluster.UID, ExtensionConfig: "addons", Hook: hook, Attempt: 1, RequestTime: metav1.Now().Rfc3339Copy(),
		},
	}
	Expect(management.Client.Create(ctx, made)).To(Succeed())
	return client.ObjectKeyFromObject(made)
}

// completed returns whether an attempt of a job is completed, for Eventually.
func completed(ctx context.Context, key client.ObjectKey, attempt int32) func(Gomega) {
	return func(g Gomega) {
		job := &extensionv1.HookJob{}
		g.Expect(management.Client.Get(ctx, key, job)).To(Succeed())
		g.Expect(job.Spec.Attempt).To(Equal(attempt))
		g.Expect(job.IsCompleted()).To(BeTrue(), "%v", job.Status.Conditions)
	}
}

// patch changes the Cluster.
func (w world) patch(ctx context.Context, edit func(*clusterv1.Cluster)) {
	GinkgoHelper()
	cluster := &clusterv1.Cluster{}
	Expect(management.Client.Get(ctx, client.ObjectKeyFromObject(w.cluster), cluster)).To(Succeed())
	patch := client.MergeFrom(cluster.DeepCopy())
	edit(cluster)
	Expect(management.Client.Patch(ctx, cluster, patch)).To(Succeed())
}

var _ = Describe("The controllers", Serial, func() {
	It("apply what has changed, and say why not if they do not", func(ctx SpecContext) {
		w := newWorld(ctx)
		cached := startControllers(ctx)
		entry := func(name string) func() extensionv1.AddonCluster {
			return func() extensionv1.AddonCluster { return w.entry(ctx, name) }
		}
		addon := w.addon(ctx, "cni", 0, "", in("one", "1 {{ .Cluster.metadata.labels.cni }}"))
		Eventually(entry("cni")).Should(HaveField("Message", HavePrefix("waiting for the hook AfterControlPlaneInitialized")))

		By("calling the hook while the setting is off")
		configure(ctx, cached, map[string]string{"addons": "Disabled"})
		key := w.job(ctx, hooks.AfterControlPlaneInitialized)
		Eventually(entry("cni")).Should(HaveField("Message", "HookJob "+key.Name+": nothing is done: the settings do not ask for it"))
		configure(ctx, cached, map[string]string{"addons": "Enabled"})
		Eventually(completed(ctx, key, 1)).Should(Succeed())
		Expect(w.value(ctx, "one")).To(Equal("1 calico"))

		By("changing the add-on")
		w.change(ctx, addon, func(spec *extensionv1.AddonSpec) {
			spec.Variants[0].Template = in("one", "2 {{ .Cluster.metadata.labels.cni }}")
		})
		Eventually(completed(ctx, key, 2)).Should(Succeed())
		Expect(w.value(ctx, "one")).To(Equal("2 calico"))

		By("adding an add-on")
		w.addon(ctx, "another", 0, "", in("two", "1"))
		Eventually(completed(ctx, key, 3)).Should(Succeed())
		Expect(w.value(ctx, "two")).To(Equal("1"))

		By("misspelling a setting")
		configure(ctx, cached, map[string]string{"addons": "Enabled", "addon": "Enabled"})
		w.change(ctx, addon, func(spec *extensionv1.AddonSpec) { spec.Variants[0].Template = in("one", "2") })
		Eventually(entry("cni")).Should(HaveField("Message", HavePrefix("HookJob "+key.Name+": nothing is done: the ExtensionConfig has unknown settings")))
		configure(ctx, cached, map[string]string{"addons": "Enabled"})
		Eventually(completed(ctx, key, 4)).Should(Succeed())
		Expect(w.value(ctx, "one")).To(Equal("2"))

		By("changing the Cluster without an effect")
		w.patch(ctx, func(cluster *clusterv1.Cluster) { cluster.Labels["more"] = "yes" })
		Consistently(completed(ctx, key, 4)).Should(Succeed())

		By("pausing the Cluster")
		w.patch(ctx, func(cluster *clusterv1.Cluster) { cluster.Spec.Paused = ptr.To(true) })
		w.change(ctx, addon, func(spec *extensionv1.AddonSpec) { spec.Variants[0].Template = in("one", "3") })
		Eventually(entry("cni")).Should(And(HaveField("State", extensionv1.AddonWaiting), HaveField("Message", "the Cluster is paused")))
		Expect(w.value(ctx, "one")).To(Equal("2"))
		w.patch(ctx, func(cluster *clusterv1.Cluster) { cluster.Spec.Paused = nil })
		Eventually(completed(ctx, key, 5)).Should(Succeed())
		Expect(w.value(ctx, "one")).To(Equal("3"))

		By("no longer selecting the Cluster")
		w.change(ctx, addon, func(spec *extensionv1.AddonSpec) {
			spec.ClusterSelector.MatchLabels = map[string]string{"cni": "cilium"}
		})
		Eventually(entry("cni")).Should(BeZero())
		Expect(w.value(ctx, "one")).To(Equal("3"), "its objects stay")
	})

	It("do not apply again what uses a whole Cluster that has not changed", func(ctx SpecContext) {
		w := newWorld(ctx)
		startControllers(ctx)
		w.addon(ctx, "all", 0, "", manifest("v1", "ConfigMap", w.namespace)+"data: {value: {{ toJson (toJson .Cluster) }}}\n")
		key := w.job(ctx, hooks.AfterControlPlaneInitialized)
		Eventually(completed(ctx, key, 1)).Should(Succeed())
		Consistently(completed(ctx, key, 1)).WithTimeout(2 * time.Second).Should(Succeed())
	})

	// The clean-up must not be undone by an add-on that is not ready.
	It("end before a deletion cleans up", func(ctx SpecContext) {
		w := newWorld(ctx)
		startControllers(ctx)
		w.addon(ctx, "balancer", 0, "", manifest("v1", "Service", w.namespace)+"spec: {type: LoadBalancer, ports: [{port: 80}]}\n---\n"+deployment(w.namespace))
		installing := w.job(ctx, hooks.AfterControlPlaneInitialized)
		key := client.ObjectKey{Namespace: "default", Name: w.namespace}
		Eventually(func() error { return workload.Client.Get(ctx, key, &corev1.Service{}) }).Should(Succeed())
		Eventually(func(g Gomega) {
			job := &extensionv1.HookJob{}
			g.Expect(management.Client.Get(ctx, installing, job)).To(Succeed())
			condition := meta.FindStatusCondition(job.Status.Conditions, extensionv1.HookJobCompletedCondition)
			g.Expect(condition).To(HaveField("Message", ContainSubstring("Deployment "+w.namespace+": InProgress")))
		}).Should(Succeed())

		w.patch(ctx, func(cluster *clusterv1.Cluster) { cluster.Finalizers = []string{"test/hold"} })
		Expect(management.Client.Delete(ctx, w.cluster)).To(Succeed())
		deleting := w.job(ctx, hooks.BeforeClusterDelete)
		Eventually(completed(ctx, deleting, 1)).Should(Succeed())
		Eventually(completed(ctx, installing, 1)).Should(Succeed())
		Consistently(func() bool {
			return apierrors.IsNotFound(workload.Client.Get(ctx, key, &corev1.Service{}))
		}).WithTimeout(2*time.Second).Should(BeTrue(), "an add-on recreated what the clean-up has deleted")
		w.patch(ctx, func(cluster *clusterv1.Cluster) { cluster.Finalizers = nil })
		Eventually(func() extensionv1.AddonCluster { return w.entry(ctx, "balancer") }).Should(BeZero())
	})
})
