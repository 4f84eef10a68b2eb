// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

const demoHost = "hooks.demo.svc:443"

// newExtension returns an extension with a handler for each of the hooks.
func newExtension(hooks ...string) runtimev1.ExtensionConfig {
	extension := runtimev1.ExtensionConfig{}
	extension.Spec.ClientConfig.Service = runtimev1.ServiceReference{Namespace: "demo", Name: "hooks", Port: ptr.To[int32](443)}
	for _, hook := range hooks {
		extension.Status.Handlers = append(extension.Status.Handlers, runtimev1.ExtensionHandler{Name: "on-" + hook, RequestHook: runtimev1.GroupVersionHook{Hook: hook}})
	}
	return extension
}

// TestHooksThatDoNotRun breaks the rule in all ways that a life of a cluster can show.
func TestHooksThatDoNotRun(t *testing.T) {
	handlers := handlersOf([]runtimev1.ExtensionConfig{newExtension(append([]string{"GeneratePatches"}, lifecycleHooks...)...)})
	NewWithT(t).Expect(handlers).To(HaveLen(len(lifecycleHooks)), "a hook of another kind does not count")
	for name, test := range map[string]struct {
		mutate func(counts)
		held   bool
		want   string
	}{
		"all run":                  {func(counts) {}, false, ""},
		"some calls fail at first": {func(c counts) { c[call{demoHost, "BeforeClusterDelete", false}] = 3 }, false, ""},
		"a hook is never called":   {func(c counts) { delete(c, call{demoHost, "AfterClusterUpgrade", true}) }, false, "Cluster API has not called AfterClusterUpgrade at " + demoHost},
		"only another one is called": {func(c counts) {
			delete(c, call{demoHost, "BeforeClusterCreate", true})
			c[call{"other", "BeforeClusterCreate", true}] = 1
		}, false, "Cluster API has not called BeforeClusterCreate"},
		"a hook always fails": {func(c counts) {
			delete(c, call{demoHost, "BeforeClusterCreate", true})
			c[call{demoHost, "BeforeClusterCreate", false}] = 7
		}, true, "7 calls of BeforeClusterCreate at " + demoHost + " failed, and none succeeded"},
		"the cluster does not get there": {func(c counts) { delete(c, call{demoHost, "AfterClusterUpgrade", true}) }, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			calls := counts{}
			for _, hook := range lifecycleHooks {
				calls[call{demoHost, hook, true}] = 1
			}
			test.mutate(calls)
			err := uncalled(handlers, calls, test.held)
			if test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(test.want)))
			}
		})
	}
}

func TestHostOfAnExtension(t *testing.T) {
	for want, config := range map[string]runtimev1.ClientConfig{
		demoHost:            newExtension().Spec.ClientConfig,
		"hooks.demo.svc":    {Service: runtimev1.ServiceReference{Namespace: "demo", Name: "hooks"}},
		"example.com:8443":  {URL: "https://example.com:8443/hooks"},
		"[2001:db8::1]:443": {URL: "https://[2001:db8::1]:443"},
	} {
		NewWithT(t).Expect(hostOf(&config)).To(Equal(want))
	}
}

const hookMetrics = `# HELP capi_runtime_sdk_requests_total Number of HTTP requests, partitioned by status code, host, hook and response status.
# TYPE capi_runtime_sdk_requests_total counter
capi_runtime_sdk_requests_total{code="200",group="hooks.runtime.cluster.x-k8s.io",hook="BeforeClusterCreate",host="hooks.demo.svc:443",status="Success",version="v1alpha1"} 4
capi_runtime_sdk_requests_total{code="200",group="hooks.runtime.cluster.x-k8s.io",hook="BeforeClusterCreate",host="hooks.demo.svc:443",status="Failure",version="v1alpha1"} 1
capi_runtime_sdk_requests_total{code="<error>",group="hooks.runtime.cluster.x-k8s.io",hook="BeforeClusterCreate",host="hooks.demo.svc:443",status="Unknown",version="v1alpha1"} 2
`

func TestCallsAreCounted(t *testing.T) {
	g := NewWithT(t)
	metrics := hookMetrics
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/namespaces/capi-system/pods/http:manager:8443/proxy/metrics" || metrics == "" {
			http.Error(w, "Client sent an HTTP request to an HTTPS server.", http.StatusBadRequest)
			return
		}
		_, _ = w.Write([]byte(metrics))
	}))
	defer server.Close()
	scheme, err := NewScheme()
	g.Expect(err).NotTo(HaveOccurred())
	manager := newManager()
	client := fake.NewClientBuilder().WithScheme(scheme).WithObjects(manager).Build()
	s := &story{Checker: &Checker{Client: client, Config: &rest.Config{Host: server.URL}}}

	before, counters, err := s.countCalls(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(before).To(Equal(counts{{demoHost, "BeforeClusterCreate", true}: 4, {demoHost, "BeforeClusterCreate", false}: 3}))
	g.Expect(counts{{demoHost, "BeforeClusterCreate", true}: 6}.since(before)).To(Equal(counts{{demoHost, "BeforeClusterCreate", true}: 2}))

	manager.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "manager", RestartCount: 1}}
	g.Expect(client.Status().Update(t.Context(), manager)).To(Succeed())
	_, later, err := s.countCalls(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(later).NotTo(Equal(counters))

	metrics = ""
	_, _, err = s.countCalls(t.Context())
	g.Expect(err).To(MatchError(And(ContainSubstring("the Pod manager"), ContainSubstring("needs --insecure-diagnostics=true"))))
	metrics = "}"
	_, _, err = s.countCalls(t.Context())
	g.Expect(err).To(MatchError(ContainSubstring("the metrics of the Pod manager")))
	g.Expect(client.Delete(t.Context(), manager)).To(Succeed())
	_, _, err = s.countCalls(t.Context())
	g.Expect(err).To(MatchError(ContainSubstring("no Pod has the label cluster.x-k8s.io/provider=cluster-api")))
}

func TestFollows(t *testing.T) {
	g := NewWithT(t)
	v := newView("v1beta2")
	v.cluster.Generation = 2
	reconciled := metav1.Condition{Type: clusterv1.ClusterTopologyReconciledCondition, Status: metav1.ConditionTrue, ObservedGeneration: 2}
	v.cluster.Status.Conditions = append(v.cluster.Status.Conditions, reconciled)
	condition := &v.cluster.Status.Conditions[len(v.cluster.Status.Conditions)-1]
	g.Expect(v.follows(testVersion)).To(Succeed())
	g.Expect(v.follows("v1.37.0")).To(MatchError(ContainSubstring("has the version " + testVersion)))
	v.cluster.Annotations = map[string]string{runtimev1.PendingHooksAnnotation: "AfterClusterUpgrade"}
	g.Expect(v.follows(testVersion)).To(MatchError("these hooks are pending: AfterClusterUpgrade"))
	v.cluster.Annotations = nil
	condition.ObservedGeneration = 1
	g.Expect(v.follows(testVersion)).To(MatchError(ContainSubstring("the topology is not reconciled")))
	g.Expect(heldByHook(v.cluster)).To(Succeed())

	condition.Status, condition.Message = metav1.ConditionFalse, "Cluster is deleting"
	g.Expect(heldByHook(v.cluster)).To(Succeed())
	condition.Message = "Cluster is deleting. Following hooks are blocking delete: BeforeClusterDelete: wait"
	g.Expect(heldByHook(v.cluster)).To(MatchError(ContainSubstring("waits for a hook: " + condition.Message)))
}

// TestHooksThatDoNotRunBreakTheirRuleOnly: what else is wrong in the life of the cluster with a topology
// is not recorded.
func TestHooksThatDoNotRunBreakTheirRuleOnly(t *testing.T) {
	g := NewWithT(t)
	c := &Checker{}
	g.Expect(c.readRules()).To(Succeed())
	c.quiet = true
	c.record("control-plane/replicas", "", "", errors.New("wrong"))
	c.missing("control-plane/upgrade", conformance.NotRun, "wrong")
	c.quiet = false
	handlers := handlersOf([]runtimev1.ExtensionConfig{newExtension("BeforeClusterCreate")})
	c.record(hooksRun, "", "", uncalled(handlers, counts{}, false))
	g.Expect(c.list()).To(ConsistOf(And(HaveField("Rule", hooksRun), HaveField("Status", conformance.Failed))))
}

// TestCallsThatWereForgotten: a manager that has started again shows no broken rule, unless what it has
// counted since does.
func TestCallsThatWereForgotten(t *testing.T) {
	held, uncalled := errors.New("held"), errors.New("not called")
	for _, test := range []struct {
		held, uncalled error
		later          string
		want           conformance.Status
	}{
		{nil, nil, "a", conformance.Passed},
		{nil, nil, "b", conformance.Passed},
		{nil, uncalled, "a", conformance.Failed},
		{nil, uncalled, "b", conformance.Unfinished},
		{held, uncalled, "b", conformance.Failed},
	} {
		g := NewWithT(t)
		c := &Checker{}
		g.Expect(c.readRules()).To(Succeed())
		(&story{Checker: c}).recordCalls(test.held, test.uncalled, "a", test.later)
		g.Expect(c.list()).To(ConsistOf(And(HaveField("Rule", hooksRun), HaveField("Status", test.want))))
	}
}

// newManager returns a Pod of Cluster API's manager.
func newManager() *corev1.Pod {
	manager := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "capi-system", Name: "manager", Labels: map[string]string{clusterv1.ProviderNameLabel: "cluster-api"}}}
	manager.Spec.Containers = []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "healthz", ContainerPort: 9440}, {Name: "metrics", ContainerPort: 8443}}}}
	return manager
}

// A recommendation that is not followed must not end the story, unless the cluster stays.
func TestClusterThatAHookHolds(t *testing.T) {
	for name, test := range map[string]struct {
		finalizers []any
		want       conformance.Status
		reason     string
	}{
		"it can be deleted":    {nil, conformance.Failed, ""},
		"it cannot be deleted": {[]any{"cluster.cluster.x-k8s.io"}, conformance.Unfinished, "the Cluster still exists"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(hookMetrics)) // otherwise the client says so
			}))
			server.Config.SetKeepAlivesEnabled(false) // so that no goroutine of the client waits for the server
			defer server.Close()
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				s := newStory(t, interceptor.Funcs{})
				s.Config, s.UpgradeTo = &rest.Config{Host: server.URL}, testVersion
				extension := newExtension("BeforeClusterUpgrade")
				extension.Name = "hooks"
				g.Expect(errors.Join(s.Client.Create(t.Context(), newManager()), s.Client.Create(t.Context(), &extension))).To(Succeed())
				held := &unstructured.Unstructured{Object: map[string]any{
					"metadata": map[string]any{"namespace": "live", "name": clusterName, "finalizers": test.finalizers},
					"status": map[string]any{"conditions": []any{map[string]any{
						"type": clusterv1.ClusterTopologyReconciledCondition, "status": "False", "message": "Following hooks are blocking upgrade: BeforeClusterUpgrade: wait",
					}}},
				}}
				held.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("Cluster"))
				s.topology = []*unstructured.Unstructured{held}
				s.tell(t.Context(), []step{{"call hooks", []string{hooksRun}, (*story).callHooks, false}})
				g.Expect(s.results).To(HaveKey(hooksRun))
				result := s.results[hooksRun]
				g.Expect(result.Status).To(Equal(test.want))
				g.Expect(result.Reason).To(ContainSubstring(test.reason))
				said := result.Reason
				for _, finding := range result.Findings {
					said += finding.Message
				}
				g.Expect(said).To(ContainSubstring("waits for a hook"))
			})
		})
	}
}
