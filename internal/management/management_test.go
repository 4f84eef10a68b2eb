//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package management

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/internal/supervisor"
)

// TestManagementCluster brings up everything that the package can run and checks that it works: the
// webhooks of Cluster API default, validate and convert, its providers have the permissions that
// they need, and owned objects are deleted.
func TestManagementCluster(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	g := NewWithT(t)
	kube := startAll(ctx, t, g)

	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"}}
	cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "AnyCluster", Name: "one"}
	cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: "127.0.0.1", Port: 6443}

	t.Run("an invalid Cluster is refused by the webhook", func(t *testing.T) {
		g := NewWithT(t)
		invalid := cluster.DeepCopy()
		invalid.Spec.ClusterNetwork.Services.CIDRBlocks = []string{"not-a-network"}
		err := kube.Create(ctx, invalid)
		g.Expect(apierrors.IsInvalid(err)).To(BeTrue(), "got %v", err)
		g.Expect(err.Error()).To(ContainSubstring("not-a-network"))
	})

	t.Run("a KubeadmConfig is validated by the bootstrap provider", func(t *testing.T) {
		g := NewWithT(t)
		config := &bootstrapv1.KubeadmConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "invalid"}}
		config.Spec.Files = []bootstrapv1.File{{Path: "/a", Content: "a"}, {Path: "/a", Content: "b"}}
		err := kube.Create(ctx, config)
		g.Expect(apierrors.IsInvalid(err)).To(BeTrue(), "got %v", err)
	})

	t.Run("a KubeadmConfig is converted by the bootstrap provider", func(t *testing.T) {
		g := NewWithT(t)
		config := &bootstrapv1.KubeadmConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "valid"}}
		config.Spec.ClusterConfiguration.APIServer.ExtraArgs = []bootstrapv1.Arg{{Name: "v", Value: ptr.To("2")}}
		g.Expect(kube.Create(ctx, config)).To(Succeed())
		old := &unstructured.Unstructured{}
		old.SetGroupVersionKind(bootstrapv1.GroupVersion.WithKind("KubeadmConfig"))
		old.SetAPIVersion("bootstrap.cluster.x-k8s.io/v1beta1")
		g.Expect(kube.Get(ctx, client.ObjectKeyFromObject(config), old)).To(Succeed())
		// Each version shapes extra arguments in its own way, so this shows that a webhook has
		// converted them.
		arguments, _, err := unstructured.NestedMap(old.Object, "spec", "clusterConfiguration", "apiServer", "extraArgs")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(arguments).To(Equal(map[string]any{"v": "2"}))
	})

	t.Run("a Cluster is reconciled", func(t *testing.T) {
		g := NewWithT(t)
		g.Expect(kube.Create(ctx, cluster)).To(Succeed())
		g.Eventually(func(g Gomega) {
			g.Expect(kube.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
			g.Expect(cluster.Finalizers).To(ContainElement(clusterv1.ClusterFinalizer))
		}).WithTimeout(time.Minute).Should(Succeed(), "the core provider did not add its finalizer")
	})

	t.Run("objects that a deleted object owned are deleted", func(t *testing.T) {
		g := NewWithT(t)
		owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner"}}
		g.Expect(kube.Create(ctx, owner)).To(Succeed())
		owned := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owned", OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap")),
		}}}
		g.Expect(kube.Create(ctx, owned)).To(Succeed())
		g.Expect(kube.Delete(ctx, owner)).To(Succeed())
		g.Eventually(func() bool {
			return apierrors.IsNotFound(kube.Get(ctx, client.ObjectKeyFromObject(owned), owned))
		}).WithTimeout(time.Minute).Should(BeTrue(), "the garbage collector did not delete the Secret")
	})
}

// startAll starts the management cluster with the core and the bootstrap provider, and stops it
// when the test ends.
func startAll(ctx context.Context, t *testing.T, g Gomega) client.Client {
	bin, err := filepath.Abs("../../bin")
	g.Expect(err).NotTo(HaveOccurred())
	programs := os.Getenv("KUBEBUILDER_ASSETS")
	g.Expect(programs).NotTo(BeEmpty(), "KUBEBUILDER_ASSETS must name the folder with etcd and kube-apiserver")

	dir := t.TempDir()
	var up atomic.Bool
	sup := supervisor.New(supervisor.Options{LogDir: dir, PIDDir: dir, Notify: func(event supervisor.Event) {
		if up.Load() && event.Err != nil {
			t.Errorf("%s died: %v", event.Name, event.Err)
			return
		}
		t.Logf("event of %s: %v", event.Name, event.Err) // on a busy machine, a program may need several attempts to start
	}})
	t.Cleanup(func() {
		if err := sup.Stop(); err != nil {
			t.Log(err) // a provider that takes more than a few seconds to stop is killed
		}
	})
	began := time.Now()
	cluster, err := Start(ctx, Options{Programs: programs, Dir: filepath.Join(dir, "management"), Kubeconfig: filepath.Join(dir, "kubeconfig"), Supervisor: sup})
	expectStarted(t, g, err)
	t.Logf("API server ready after %s", time.Since(began))
	providers := []Provider{
		{Name: "core", Program: filepath.Join(bin, "tools/core"), Components: filepath.Join(bin, "manifests/cluster-api/core-components.yaml")},
		{Name: "kubeadm-bootstrap", Program: filepath.Join(bin, "tools/kubeadm-bootstrap"), Components: filepath.Join(bin, "manifests/bootstrap-kubeadm/bootstrap-components.yaml")},
	}
	var installed []*InstalledProvider
	for _, provider := range providers {
		one, err := cluster.Install(ctx, provider)
		g.Expect(err).NotTo(HaveOccurred())
		installed = append(installed, one)
	}
	t.Logf("components installed after %s", time.Since(began))
	expectStarted(t, g, cluster.StartControllerManager(ctx))
	for _, provider := range installed {
		expectStarted(t, g, provider.Start(ctx))
	}
	t.Logf("providers ready after %s", time.Since(began))
	up.Store(true)

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, bootstrapv1.AddToScheme} {
		g.Expect(add(scheme)).To(Succeed())
	}
	kube, err := client.New(cluster.Config(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	return kube
}

// expectStarted shows the end of the log of a process that did not start.
func expectStarted(t *testing.T, g Gomega, err error) {
	t.Helper()
	if log, ok := supervisor.LogOf(err); ok {
		lines, readErr := supervisor.LastLines(log, 20)
		t.Logf("%s (%v):\n%s", log, readErr, strings.Join(lines, "\n"))
	}
	g.Expect(err).NotTo(HaveOccurred())
}
