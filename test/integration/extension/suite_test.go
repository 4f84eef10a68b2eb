//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package extension tests the runtime extension from the perspective of Cluster API's runtime: its
// servers are called over TLS, several of them run as replicas, and their HookJobs are in a real kube-apiserver. The test determines what the jobs do.
//
// Limits: Cluster API's own runtime does not run here; in test/e2e it calls a released extension on
// real machines.
package extension

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	runtimeserver "sigs.k8s.io/cluster-api/exp/runtime/server"
	"sigs.k8s.io/cluster-api/util/certs"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/extensions"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/upgradeplan"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

var (
	environment *envtestenv.Environment
	// replicas are the replicas of the extension. Only the first, which was started first, runs
	// jobs while it is running.
	replicas []*replica
	// running are the replicas that have not been stopped yet. Those that are left are stopped at
	// the end of the suite, not with the test that started them.
	running []*replica
	// jobs is the task of all replicas.
	jobs = &script{holds: map[string]string{}, runs: map[identity]int{}}
)

func TestExtension(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Runtime extension")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))
	SetDefaultEventuallyTimeout(envtestenv.Patience)
	var err error
	environment, err = envtestenv.Start(ctx)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		for _, r := range slices.Clone(running) {
			r.stop()
		}
		Expect(environment.Stop()).To(Succeed())
	})
	register(ctx, on)
	for range 2 {
		replicas = append(replicas, startReplica(ctx, runtimeserver.Options{}))
	}
})

// register creates or updates the ExtensionConfig with the settings, and waits until all replicas
// know it.
func register(ctx context.Context, given map[string]string) {
	GinkgoHelper()
	registration := &runtimev1.ExtensionConfig{ObjectMeta: metav1.ObjectMeta{Name: "foo"}}
	_, err := controllerutil.CreateOrPatch(ctx, environment.Client, registration, func() error {
		registration.Spec = runtimev1.ExtensionConfigSpec{ClientConfig: runtimev1.ClientConfig{URL: "https://127.0.0.1:1"}, Settings: given}
		return nil
	})
	Expect(err).NotTo(HaveOccurred())
	learned(ctx, given)
}

// learned waits until all replicas know the settings of the ExtensionConfig, or that it is gone if
// the settings are nil.
func learned(ctx context.Context, given map[string]string) {
	GinkgoHelper()
	for _, r := range running {
		Eventually(func() (map[string]string, error) {
			registration := &runtimev1.ExtensionConfig{}
			err := r.cache.Get(ctx, client.ObjectKey{Name: "foo"}, registration)
			return registration.Spec.Settings, client.IgnoreNotFound(err)
		}).Should(Equal(given))
	}
}

// script is a task whose jobs wait as long as the test wants.
type script struct {
	mu sync.Mutex
	// holds is what the jobs of a Cluster wait for, by the Cluster's name.
	holds map[string]string
	// runs counts how often each job was completed.
	runs map[identity]int
	// gone are the Clusters whose data must be dropped.
	gone []client.ObjectKey
}

func (s *script) forget(cluster client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = append(s.gone, cluster)
}

func (s *script) forgotten() []client.ObjectKey {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.gone)
}

func (s *script) run(_ context.Context, job hooks.Job) (hooks.Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if message, ok := s.holds[job.Cluster.Name]; ok {
		return hooks.Outcome{Message: message, RetryAfter: 100 * time.Millisecond}, nil
	}
	s.runs[identity{cluster: job.Key(), hook: job.Hook, from: job.From, to: job.To}]++
	return hooks.Outcome{Done: true, RestartsTimeouts: true, Message: "done", Report: "did it"}, nil
}

// hold makes the jobs of a Cluster wait until they are released or the test ends.
func (s *script) hold(cluster, message string) {
	DeferCleanup(s.release, cluster)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds[cluster] = message
}

func (s *script) release(cluster string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.holds, cluster)
}

// done returns how often the jobs of a Cluster were completed, by hook.
func (s *script) done(cluster string) map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := map[string]int{}
	for job, count := range s.runs {
		if job.cluster.Name == cluster {
			counts[job.hook] += count
		}
	}
	return counts
}

// identity identifies a job; a Job with lists and maps cannot be a key.
type identity struct {
	cluster        client.ObjectKey
	hook, from, to string
}

// replica is one process of the extension, except that it runs inside this process.
type replica struct {
	url     string
	certDir string
	cache   client.Reader
	stop    func()
}

// startReplica runs an extension with the options, which need no port and no certificate. The
// ExtensionConfig must have everything enabled.
func startReplica(ctx context.Context, options runtimeserver.Options) *replica {
	GinkgoHelper()
	dir, err := os.MkdirTemp("", "extension-")
	Expect(err).NotTo(HaveOccurred())
	r := &replica{certDir: dir}
	options.Port, options.CertDir = freePort(ctx), r.certDir
	r.url = "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(options.Port))
	authority.issue(r.certDir, "first")
	if options.ClientCAName != "" {
		writeFile(dir, options.ClientCAName, certs.EncodeCertPEM(authority.cert))
	}
	listener, err := extensions.NewServer(options)
	Expect(err).NotTo(HaveOccurred())
	mgr, err := ctrl.NewManager(rest.CopyConfig(environment.Config), ctrl.Options{
		Scheme: environment.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}, WebhookServer: listener,
		// A priority queue can keep a manager that has work left from stopping before controller-runtime
		// v0.25: https://github.com/kubernetes-sigs/controller-runtime/issues/3538.
		Controller:     config.Controller{SkipNameValidation: ptr.To(true), UsePriorityQueue: ptr.To(false)},
		LeaderElection: true, LeaderElectionID: "extension", LeaderElectionNamespace: "default", LeaderElectionReleaseOnCancel: true,
		// A manager stops if it does not renew its Lease in time. Leaders release the Lease when
		// they stop, so a long duration delays nothing.
		LeaseDuration: ptr.To(time.Minute), RenewDeadline: ptr.To(40 * time.Second), RetryPeriod: ptr.To(200 * time.Millisecond),
	})
	Expect(err).NotTo(HaveOccurred())
	tasks := hooks.Tasks{}
	for _, hook := range hooks.Names() {
		tasks[hook] = []hooks.Task{{Setting: "smokeChecks", Run: jobs.run}}
	}
	Expect(extensions.Register(mgr, hooks.New(mgr.GetCache(), mgr.GetClient(), tasks), upgradeplan.Planner{})).To(Succeed())
	life, cancel := context.WithCancel(context.Background())
	Expect(hooks.SetupWithManager(mgr, hooks.Options{
		Tasks: tasks, Gone: jobs.forget, Controller: controller.Options{MaxConcurrentReconciles: 10},
	})).To(Succeed())
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(life) }()
	r.cache = mgr.GetCache()
	r.stop = func() {
		running = slices.DeleteFunc(running, func(other *replica) bool { return other == r })
		cancel()
		Eventually(stopped).Should(Receive(BeNil()))
		Expect(os.RemoveAll(r.certDir)).To(Succeed())
	}
	running = append(running, r)
	Eventually(func() error { return listener.StartedChecker()(nil) }).Should(Succeed(), "the extension's server does not answer")
	learned(ctx, on)
	return r
}

func freePort(ctx context.Context) int {
	GinkgoHelper()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(listener.Close()).To(Succeed()) }()
	address, ok := listener.Addr().(*net.TCPAddr)
	Expect(ok).To(BeTrue())
	return address.Port
}

// newCluster creates a Cluster with a topology.
func newCluster(ctx context.Context, namespace, name string, changes ...func(*clusterv1.Cluster)) *clusterv1.Cluster {
	GinkgoHelper()
	cluster := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: clusterv1.ClusterSpec{Topology: clusterv1.Topology{
			ClassRef: clusterv1.ClusterClassRef{Name: "class"}, Version: "v1.36.3",
		}},
	}
	for _, change := range changes {
		change(cluster)
	}
	Expect(environment.Client.Create(ctx, cluster)).To(Succeed())
	return cluster
}

// beginDeletion deletes a Cluster if the hook is the one before a deletion. A finalizer keeps the
// Cluster.
func beginDeletion(ctx context.Context, hook string, cluster *clusterv1.Cluster) {
	GinkgoHelper()
	if hook != hooks.BeforeClusterDelete {
		return
	}
	Expect(environment.Client.Patch(ctx, cluster, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":["test.example/kept"]}}`)))).To(Succeed())
	Expect(environment.Client.Delete(ctx, cluster)).To(Succeed())
}

func namespaceObject(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// resume unpauses a Cluster.
func resume(ctx context.Context, cluster *clusterv1.Cluster) {
	GinkgoHelper()
	Expect(environment.Client.Patch(ctx, cluster, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"paused":null}}`)))).To(Succeed())
}

func newNamespace(ctx context.Context) string {
	GinkgoHelper()
	namespace, err := environment.CreateNamespace(ctx, "hooks")
	Expect(err).NotTo(HaveOccurred())
	return namespace
}

// requests returns a valid request of each lifecycle hook for a Cluster, by the hook's name.
func requests(cluster *clusterv1.Cluster, given map[string]string) map[string]any {
	common := runtimehooksv1.CommonRequest{Settings: given}
	steps := []runtimehooksv1.UpgradeStepInfo{{Version: "v1.36.3"}}
	return map[string]any{
		hooks.BeforeClusterCreate:          runtimehooksv1.BeforeClusterCreateRequest{CommonRequest: common, Cluster: *cluster},
		hooks.AfterControlPlaneInitialized: runtimehooksv1.AfterControlPlaneInitializedRequest{CommonRequest: common, Cluster: *cluster},
		hooks.BeforeClusterUpgrade: runtimehooksv1.BeforeClusterUpgradeRequest{CommonRequest: common, Cluster: *cluster,
			FromKubernetesVersion: "v1.35.4", ToKubernetesVersion: "v1.36.3", ControlPlaneUpgrades: steps, WorkersUpgrades: steps},
		hooks.BeforeControlPlaneUpgrade: runtimehooksv1.BeforeControlPlaneUpgradeRequest{CommonRequest: common, Cluster: *cluster,
			FromKubernetesVersion: "v1.35.4", ToKubernetesVersion: "v1.36.3", ControlPlaneUpgrades: steps, WorkersUpgrades: steps},
		hooks.AfterControlPlaneUpgrade: runtimehooksv1.AfterControlPlaneUpgradeRequest{CommonRequest: common, Cluster: *cluster, KubernetesVersion: "v1.36.3"},
		hooks.BeforeWorkersUpgrade: runtimehooksv1.BeforeWorkersUpgradeRequest{CommonRequest: common, Cluster: *cluster,
			FromKubernetesVersion: "v1.35.4", ToKubernetesVersion: "v1.36.3", WorkersUpgrades: steps},
		hooks.AfterWorkersUpgrade: runtimehooksv1.AfterWorkersUpgradeRequest{CommonRequest: common, Cluster: *cluster, KubernetesVersion: "v1.36.3"},
		hooks.AfterClusterUpgrade: runtimehooksv1.AfterClusterUpgradeRequest{CommonRequest: common, Cluster: *cluster, KubernetesVersion: "v1.36.3"},
		hooks.BeforeClusterDelete: runtimehooksv1.BeforeClusterDeleteRequest{CommonRequest: common, Cluster: *cluster},
	}
}

// answer holds the common fields of the responses of lifecycle hooks.
type answer struct {
	runtimehooksv1.CommonRetryResponse `json:",inline"`
}

// caller calls a replica.
type caller struct {
	http *http.Client
}

// newCaller returns a caller that trusts the test's authority, and presents a certificate if one is
// given.
func newCaller(certificates ...tls.Certificate) caller { return authority.caller(certificates...) }

// caller returns a caller that trusts the authority.
func (s signer) caller(certificates ...tls.Certificate) caller {
	pool := x509.NewCertPool()
	pool.AddCert(s.cert)
	return caller{http: &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 50,
		TLSClientConfig:     &tls.Config{RootCAs: pool, ServerName: serverName, Certificates: certificates, MinVersion: tls.VersionTLS12},
	}}}
}

// post sends a body to the handler of a hook, and returns the response and the HTTP status.
func (c caller) post(ctx context.Context, r *replica, path string, body []byte) ([]byte, int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, 0, err
	}
	content, err := io.ReadAll(response.Body)
	if closeErr := response.Body.Close(); err == nil {
		err = closeErr
	}
	return content, response.StatusCode, err
}

// call calls a lifecycle hook and returns its answer.
func (c caller) call(ctx context.Context, r *replica, hook string, request any) answer {
	GinkgoHelper()
	body, err := json.Marshal(request)
	Expect(err).NotTo(HaveOccurred())
	content, status, err := c.post(ctx, r, handlerPath(hook), body)
	Expect(err).NotTo(HaveOccurred())
	Expect(status).To(Equal(http.StatusOK))
	var result answer
	Expect(json.Unmarshal(content, &result)).To(Succeed())
	return result
}

// handlers are the handlers that discovery lists, by hook.
var handlers = map[string]string{
	hooks.BeforeClusterCreate: "before-cluster-create", hooks.AfterControlPlaneInitialized: "after-control-plane-initialized",
	hooks.BeforeClusterUpgrade: "before-cluster-upgrade", hooks.BeforeControlPlaneUpgrade: "before-control-plane-upgrade",
	hooks.AfterControlPlaneUpgrade: "after-control-plane-upgrade", hooks.BeforeWorkersUpgrade: "before-workers-upgrade",
	hooks.AfterWorkersUpgrade: "after-workers-upgrade", hooks.AfterClusterUpgrade: "after-cluster-upgrade",
	hooks.BeforeClusterDelete: "before-cluster-delete",
}

func handlerPath(hook string) string {
	return runtimecatalog.GVHToPath(runtimecatalog.GroupVersionHook{
		Group: runtimehooksv1.GroupVersion.Group, Version: runtimehooksv1.GroupVersion.Version, Hook: hook,
	}, handlers[hook])
}

// records returns the jobs in a namespace.
func records(ctx context.Context, namespace string) []extensionv1.HookJob {
	GinkgoHelper()
	var list extensionv1.HookJobList
	Expect(environment.Client.List(ctx, &list, client.InNamespace(namespace))).To(Succeed())
	return list.Items
}

// progress returns the message of the only job in a namespace, after its state if it is completed.
func progress(ctx context.Context, namespace string) func() string {
	return func() string {
		found := records(ctx, namespace)
		if len(found) != 1 {
			return fmt.Sprintf("there are %d jobs", len(found))
		}
		condition := meta.FindStatusCondition(found[0].Status.Conditions, extensionv1.HookJobCompletedCondition)
		switch {
		case condition == nil:
			return ""
		case found[0].IsCompleted():
			return "completed: " + condition.Message
		default:
			return condition.Message
		}
	}
}

func writeFile(dir, name string, content []byte) {
	GinkgoHelper()
	path := filepath.Join(dir, name)
	Expect(os.WriteFile(path+".new", content, 0o600)).To(Succeed())
	Expect(os.Rename(path+".new", path)).To(Succeed(), fmt.Sprintf("replace %s", path))
}
