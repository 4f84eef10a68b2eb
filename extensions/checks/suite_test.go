//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks_test

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/capfoo/cluster-api-provider-foo/extensions/checks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

// world is a real API server that serves as the workload cluster and, for ConfigMaps, as the
// management cluster.
type world struct {
	environment *envtest.Environment
	client      client.Client
	tasks       checks.Tasks
}

var shared *world

func TestChecksOfAnAPIServer(t *testing.T) {
	RegisterFailHandler(Fail)
	BeforeSuite(func(ctx SpecContext) {
		SetDefaultEventuallyTimeout(envtestenv.Patience)
		ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter)))
		shared = start(ctx, envtestenv.Patience)
	})
	RunSpecs(t, "Checks")
}

// start starts an API server that serves an API which the next release removes. It is killed if it
// does not stop within the timeout.
func start(ctx context.Context, stopTimeout time.Duration) *world {
	GinkgoHelper()
	environment := &envtest.Environment{
		BinaryAssetsDirectory:    os.Getenv("KUBEBUILDER_ASSETS"),
		ControlPlaneStartTimeout: envtestenv.Patience, ControlPlaneStopTimeout: stopTimeout,
	}
	environment.ControlPlane.GetAPIServer().Configure().Append("runtime-config", "networking.k8s.io/v1beta1=true")
	config, err := environment.Start()
	Expect(err).NotTo(HaveOccurred())
	// A test may have stopped one of the programs.
	DeferCleanup(func() { Expect(environment.Stop()).To(Or(Succeed(), MatchError(syscall.ESRCH))) })
	c, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme})
	Expect(err).NotTo(HaveOccurred())
	w := &world{environment: environment, client: c, tasks: checks.Tasks{
		Clusters: hooks.Clusters{
			Client:   c,
			Workload: func(context.Context, client.ObjectKey) (client.Client, error) { return c, nil },
			Config:   func(context.Context, client.ObjectKey) (*rest.Config, error) { return config, nil },
		},
		Versions: func(context.Context, client.ObjectKey) ([]string, error) { return []string{"v1.36.3", "v1.37.0"}, nil },
	}}
	Eventually(func() (hooks.Outcome, error) {
		job := hooks.Job{Hook: "AfterWorkersUpgrade", To: "v1.36.3", Cluster: cluster(), Since: time.Now(), Now: time.Now()}
		return w.tasks.Smoke(ctx, job)
	}).Should(HaveField("Done", true), "an API server serves before its /readyz says so")
	return w
}

func inNamespace(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// create creates objects with their status.
func (w *world) create(ctx context.Context, objects ...client.Object) {
	GinkgoHelper()
	for _, object := range objects {
		wanted, ok := object.DeepCopyObject().(client.Object)
		Expect(ok).To(BeTrue())
		Expect(w.client.Create(ctx, object)).To(Succeed())
		DeferCleanup(func(ctx context.Context) {
			Expect(client.IgnoreNotFound(w.client.Delete(ctx, object, client.GracePeriodSeconds(0)))).To(Succeed())
		})
		wanted.SetResourceVersion(object.GetResourceVersion())
		wanted.SetUID(object.GetUID())
		if _, ok := object.(*corev1.ConfigMap); ok {
			continue
		}
		if err := w.client.Status().Update(ctx, wanted); client.IgnoreNotFound(err) != nil {
			Expect(err).NotTo(HaveOccurred())
		}
	}
}

func (w *world) namespace(ctx context.Context) string {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "checks-"}}
	Expect(w.client.Create(ctx, namespace)).To(Succeed())
	return namespace.Name
}

func cluster() *clusterv1.Cluster {
	return &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c", UID: "uid"}}
}

// run runs a task twice, expects the same outcome both times, and returns it. On a busy machine, an API
// server may say for a moment that its etcd does not answer. That does not count.
func run(ctx context.Context, task func(context.Context, hooks.Job) (hooks.Outcome, error), job hooks.Job) hooks.Outcome {
	GinkgoHelper()
	job.Cluster = cluster()
	job.Now = time.Now()
	if job.Since.IsZero() {
		job.Since = time.Now()
	}
	var outcome, again hooks.Outcome
	Eventually(func(g Gomega) {
		for _, into := range []*hooks.Outcome{&outcome, &again} {
			var err error
			*into, err = task(ctx, job)
			Expect(err).NotTo(HaveOccurred())
			g.Expect(into.Report).NotTo(ContainSubstring("of the API server fails"))
		}
	}).Should(Succeed())
	Expect(again).To(Equal(outcome), "the same state gives the same outcome")
	return outcome
}

func readyNode(name, version string, labels map[string]string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status: corev1.NodeStatus{
			NodeInfo:   corev1.NodeSystemInfo{KubeletVersion: version},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

func controlPlane() map[string]string {
	return map[string]string{"node-role.kubernetes.io/control-plane": ""}
}

func pod(namespace, name, node string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "a", Image: "a"}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
}
