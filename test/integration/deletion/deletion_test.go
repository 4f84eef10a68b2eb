//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package deletion tests what the runtime extension does before a Cluster is deleted, with its own
// tasks and a real kube-apiserver. That server is the management cluster and the workload cluster.
//
// Limits: nothing runs Jobs here; the tests end them as Kubernetes does. In test/e2e they run on real
// machines.
package deletion

import (
	"context"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	runtimeserver "sigs.k8s.io/cluster-api/exp/runtime/server"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/extensions/backup"
	"github.com/capfoo/cluster-api-provider-foo/extensions/cleanup"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/snapshot"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

const jobText = "apiVersion: batch/v1\nkind: Job\nmetadata: {namespace: default}\nspec:\n  template:\n    spec:\n" +
	"      restartPolicy: Never\n      containers: [{name: backup, image: example.com/backup:v1}]\n"

// settings turn on everything that is done before a deletion.
var settings = map[string]string{
	"finalSnapshot": "Enabled", "snapshotURL": "s3://bucket", "snapshotCredentials": "bucket", "volumeBackupJob": "backup", "cleanUp": "Enabled",
}

// extension is a runtime extension for one API server.
type extension struct {
	*WithT
	ctx       context.Context
	client    client.Client
	cached    client.Reader
	handlers  []runtimeserver.ExtensionHandler
	namespace string
}

func start(t *testing.T) *extension {
	g := NewWithT(t)
	g.SetDefaultEventuallyTimeout(envtestenv.Patience)
	ctx, cancel := context.WithCancel(context.Background())
	environment, err := envtestenv.Start(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	clusters := hooks.Clusters{
		Client:   environment.Client,
		Workload: func(context.Context, client.ObjectKey) (client.Client, error) { return environment.Client, nil },
	}
	tasks := hooks.Tasks{hooks.BeforeClusterDelete: {
		{Setting: "finalSnapshot", Run: snapshot.Tasks{Clusters: clusters, Image: "example.com/etcd-snapshot:v1"}.BeforeClusterDelete},
		{Setting: "volumeBackupJob", Run: backup.Task{Clusters: clusters}.Run},
		{Setting: "cleanUp", Run: cleanup.Task{Clusters: clusters}.Run},
	}}
	mgr, err := ctrl.NewManager(rest.CopyConfig(environment.Config), ctrl.Options{
		Scheme: environment.Scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		// A priority queue can keep a manager that has work left from stopping before controller-runtime
		// v0.25: https://github.com/kubernetes-sigs/controller-runtime/issues/3538.
		Controller: config.Controller{SkipNameValidation: ptr.To(true), UsePriorityQueue: ptr.To(false)},
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(hooks.SetupWithManager(mgr, hooks.Options{
		Tasks: tasks, Gone: func(client.ObjectKey) {}, Controller: controller.Options{MaxConcurrentReconciles: 10},
	})).To(Succeed())
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		g.Eventually(stopped).Should(Receive(BeNil()))
		g.Expect(environment.Stop()).To(Succeed())
	})
	e := &extension{WithT: g, ctx: ctx, client: environment.Client, cached: mgr.GetCache(), handlers: hooks.New(mgr.GetCache(), mgr.GetClient(), tasks).Handlers()}
	e.namespace, err = environment.CreateNamespace(ctx, "deletion")
	g.Expect(err).NotTo(HaveOccurred())
	e.create(
		registration("foo", settings),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kubeadm-config"}, Data: map[string]string{"ClusterConfiguration": "etcd: {local: {}}"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: "backup"}, Data: map[string]string{"job.yaml": jobText}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: "bucket"}, Data: map[string][]byte{"AWS_SECRET_ACCESS_KEY": []byte("hunter2")}},
	)
	return e
}

func registration(name string, settings map[string]string) *runtimev1.ExtensionConfig {
	return &runtimev1.ExtensionConfig{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: runtimev1.ExtensionConfigSpec{ClientConfig: runtimev1.ClientConfig{URL: "https://127.0.0.1:1"}, Settings: settings},
	}
}

// register creates an ExtensionConfig for the namespace, with the handler that Cluster API discovers.
func (e *extension) register(name string, settings map[string]string) {
	config := registration(name, settings)
	config.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: e.namespace}}
	e.create(config)
	config.Status.Handlers = []runtimev1.ExtensionHandler{{
		Name: "before-cluster-delete." + name, RequestHook: runtimev1.GroupVersionHook{APIVersion: runtimehooksv1.GroupVersion.String(), Hook: hooks.BeforeClusterDelete},
		TimeoutSeconds: 10, FailurePolicy: runtimev1.FailurePolicyFail,
	}}
	e.Expect(e.client.Status().Update(e.ctx, config)).To(Succeed())
	e.Eventually(func(g Gomega) {
		g.Expect(e.cached.Get(e.ctx, client.ObjectKeyFromObject(config), config)).To(Succeed())
		g.Expect(config.Status.Handlers).NotTo(BeEmpty())
	}).Should(Succeed(), "no job waits for what the extension does not know yet")
}

func (e *extension) create(objects ...client.Object) {
	for _, object := range objects {
		e.Expect(e.client.Create(e.ctx, object)).To(Succeed())
	}
}

// deleted returns a Cluster that somebody has deleted, and that a finalizer keeps.
func (e *extension) deleted(name string) *clusterv1.Cluster {
	cluster := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name, Finalizers: []string{"test.example/kept"}},
		Spec:       clusterv1.ClusterSpec{Topology: clusterv1.Topology{ClassRef: clusterv1.ClusterClassRef{Name: "class"}, Version: "v1.36.3"}},
	}
	e.create(cluster)
	cluster.Status.Initialization.ControlPlaneInitialized = ptr.To(true)
	e.Expect(e.client.Status().Update(e.ctx, cluster)).To(Succeed())
	e.Expect(e.client.Delete(e.ctx, cluster)).To(Succeed())
	e.Expect(e.client.Get(e.ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
	return cluster
}

// call calls the hook for a Cluster as Cluster API does, and returns what it waits for; "done: " and
// how it ended if it waits for nothing.
func (e *extension) call(cluster *clusterv1.Cluster) func() string {
	return e.callWith(cluster, settings)
}

// callWith calls the hook of the ExtensionConfig with these settings.
func (e *extension) callWith(cluster *clusterv1.Cluster, settings map[string]string) func() string {
	index := slices.IndexFunc(e.handlers, func(handler runtimeserver.ExtensionHandler) bool { return handler.Name == "before-cluster-delete" })
	handle, ok := e.handlers[index].HandlerFunc.(func(context.Context, *runtimehooksv1.BeforeClusterDeleteRequest, *runtimehooksv1.BeforeClusterDeleteResponse))
	e.Expect(ok).To(BeTrue())
	return func() string {
		response := &runtimehooksv1.BeforeClusterDeleteResponse{}
		handle(e.ctx, &runtimehooksv1.BeforeClusterDeleteRequest{
			CommonRequest: runtimehooksv1.CommonRequest{Settings: settings}, Cluster: *cluster,
		}, response)
		if response.Status == runtimehooksv1.ResponseStatusSuccess && response.RetryAfterSeconds == 0 {
			return "done: " + response.Message
		}
		return response.Message
	}
}

// jobs returns the Jobs in a namespace of the workload cluster.
func (e *extension) jobs(namespace string) func(Gomega) []batchv1.Job {
	return func(g Gomega) []batchv1.Job {
		list := &batchv1.JobList{}
		g.Expect(e.client.List(e.ctx, list, client.InNamespace(namespace))).To(Succeed())
		return list.Items
	}
}

// end ends a Job, as Kubernetes does.
func (e *extension) end(job *batchv1.Job, conditions ...batchv1.JobConditionType) {
	now := metav1.Now()
	job.Status.StartTime, job.Status.UncountedTerminatedPods = &now, &batchv1.UncountedTerminatedPods{}
	for _, kind := range conditions {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: "Ended", LastTransitionTime: now})
	}
	if conditions[len(conditions)-1] == batchv1.JobComplete {
		job.Status.CompletionTime, job.Status.Succeeded = &now, 1
	}
	e.Expect(e.client.Status().Update(e.ctx, job)).To(Succeed())
}

func TestBeforeADeletion(t *testing.T) {
	e := start(t)
	tell := func(name string, story func(*extension)) {
		t.Run(name, func(t *testing.T) {
			of := *e
			of.WithT = NewWithT(t)
			of.SetDefaultEventuallyTimeout(envtestenv.Patience)
			story(&of)
		})
	}
	tell("volumes are deleted only after their backup", backsUp)
	tell("many Clusters do not wait for each other", takesSnapshotsAtOnce)
	tell("volumes are deleted only after the backup of another ExtensionConfig", backsUpElsewhere)
}

func backsUp(e *extension) {
	claim := newClaim("data")
	e.create(claim)
	cluster := e.deleted("one")

	e.Eventually(e.call(cluster)).Should(MatchRegexp("^waiting at most 10m0s for a final etcd snapshot: Job kube-system/foo-etcd-snapshot-[0-9a-f]{10} has not finished$"))
	e.Expect(e.jobs("default")(e)).To(BeEmpty(), "the backup waits for the snapshot")
	taking := slices.DeleteFunc(e.jobs("kube-system")(e), func(job batchv1.Job) bool { return !strings.Contains(e.call(cluster)(), job.Name) })
	e.Expect(taking).To(HaveLen(1))
	copied := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: taking[0].Name}}
	e.Eventually(func() error { return e.client.Get(e.ctx, client.ObjectKeyFromObject(copied), copied) }).Should(Succeed())
	e.Expect(copied.Data).To(HaveKeyWithValue("AWS_SECRET_ACCESS_KEY", []byte("hunter2")))
	e.end(&taking[0], batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)

	e.Eventually(e.call(cluster)).Should(MatchRegexp("^waiting for the backup of the volumes: Job default/foo-volume-backup-[0-9a-f]{10} has not finished$"))
	e.Expect(apierrors.IsNotFound(e.client.Get(e.ctx, client.ObjectKeyFromObject(copied), copied))).To(BeTrue(), "the credentials stay in the workload cluster")
	first := e.jobs("default")(e)
	e.end(&first[0], batchv1.JobFailureTarget, batchv1.JobFailed)
	e.Eventually(e.call(cluster)).Should(HaveSuffix(`failed (Ended); delete the Job there to run it again`))
	e.Expect(e.client.Delete(e.ctx, &first[0], client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
	e.Eventually(e.jobs("default")).Should(ConsistOf(HaveField("UID", Not(Equal(first[0].UID)))))
	e.Expect(e.client.Get(e.ctx, client.ObjectKeyFromObject(claim), claim)).To(Succeed())
	e.Expect(claim.DeletionTimestamp).To(BeNil(), "the volume is not backed up yet")

	second := e.jobs("default")(e)
	e.end(&second[0], batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	e.Eventually(e.call(cluster)).Should(Equal("cleaning up until these are gone: PersistentVolumeClaim default/data"))
	// The clean-up deletes the Job of a backup that mounts a volume.
	for _, job := range []*batchv1.Job{&taking[0], &second[0]} {
		e.Expect(e.client.Delete(e.ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
	}
	e.Expect(e.client.Get(e.ctx, client.ObjectKeyFromObject(claim), claim)).To(Succeed())
	claim.Finalizers = nil
	e.Expect(e.client.Update(e.ctx, claim)).To(Succeed())
	e.Eventually(e.call(cluster)).Should(MatchRegexp("^done: an etcd snapshot is stored in s3://bucket as .*; the volumes were backed up: .*; no load balancers or volumes of the cluster are left$"))

	e.Expect(e.jobs("default")(e)).To(BeEmpty(), "the backup has begun again")
	jobs := &extensionv1.HookJobList{}
	e.Expect(e.client.List(e.ctx, jobs, client.InNamespace(e.namespace))).To(Succeed())
	e.Expect(jobs.Items).To(HaveLen(1))
	e.Expect(jobs.Items[0].Status.SnapshotTime.Time).To(BeTemporally("==", taking[0].Status.CompletionTime.Time))
	e.Eventually(func(g Gomega) []eventsv1.Event {
		list := &eventsv1.EventList{}
		g.Expect(e.client.List(e.ctx, list, client.InNamespace(e.namespace))).To(Succeed())
		return list.Items
	}).Should(ContainElements(
		And(HaveField("Regarding.Kind", "Cluster"), HaveField("Reason", "HookWaiting"), HaveField("Note", ContainSubstring("the backup of the volumes"))),
		And(HaveField("Regarding.Kind", "HookJob"), HaveField("Reason", "HookCompleted"), HaveField("Related.Kind", "Cluster")),
	))
}

// newClaim returns a claim, which has no volume yet.
func newClaim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
}

// One team may ask for backups, and another for the clean-up.
func backsUpElsewhere(e *extension) {
	backing, cleaning := map[string]string{"volumeBackupJob": "backup"}, map[string]string{"cleanUp": "Enabled"}
	e.register("a-cleaning", cleaning)
	e.register("b-backing", backing)
	claim := newClaim("shared")
	e.create(claim)
	cluster := e.deleted("shared")
	e.Eventually(e.callWith(cluster, cleaning)).Should(Equal("waiting for volumeBackupJob of the ExtensionConfig b-backing"))
	e.Eventually(e.callWith(cluster, backing)).Should(HavePrefix("waiting for the backup of the volumes: Job default/foo-volume-backup-"))
	e.Expect(e.client.Get(e.ctx, client.ObjectKeyFromObject(claim), claim)).To(Succeed())
	e.Expect(claim.DeletionTimestamp).To(BeNil(), "the volume is not backed up yet")
	running := e.jobs("default")(e)
	e.Expect(running).To(HaveLen(1))
	e.end(&running[0], batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	e.Eventually(e.callWith(cluster, backing)).Should(HavePrefix("done: the volumes were backed up"))
	e.Eventually(e.callWith(cluster, cleaning)).Should(Equal("cleaning up until these are gone: PersistentVolumeClaim default/shared"))
}

// Each cluster takes its own snapshot, so none waits for another one.
func takesSnapshotsAtOnce(e *extension) {
	const many = 20
	clusters := make([]*clusterv1.Cluster, 0, many)
	for i := range many {
		clusters = append(clusters, e.deleted("many-"+string(rune('a'+i))))
	}
	waiting := map[string]bool{}
	for _, cluster := range clusters {
		e.Eventually(e.call(cluster)).Should(HavePrefix("waiting at most 10m0s for a final etcd snapshot: Job kube-system/foo-etcd-snapshot-"))
		waiting[e.call(cluster)()] = true
	}
	e.Expect(waiting).To(HaveLen(many), "each waits for its own Job")
}
