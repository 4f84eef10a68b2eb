// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

var (
	demoCluster      = schema.GroupVersionKind{Group: "demo.example.com", Version: "v1", Kind: "DemoCluster"}
	demoControlPlane = demoCluster.GroupVersion().WithKind("DemoControlPlane")
	demoPool         = demoCluster.GroupVersion().WithKind("DemoMachinePool")
)

// newStory returns the story of a Cluster and its DemoCluster, in a management cluster whose requests
// functions can change.
func newStory(t *testing.T, functions interceptor.Funcs) *story {
	t.Helper()
	g := NewWithT(t)
	scheme, err := NewScheme()
	g.Expect(err).NotTo(HaveOccurred())
	for _, kind := range []schema.GroupVersionKind{demoCluster, demoControlPlane, demoPool} {
		scheme.AddKnownTypeWithName(kind, &unstructured.Unstructured{})
		scheme.AddKnownTypeWithName(kind.GroupVersion().WithKind(kind.Kind+"List"), &unstructured.UnstructuredList{})
	}
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "live", Name: clusterName, UID: "cluster"}}
	cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: demoCluster.Group, Kind: demoCluster.Kind, Name: clusterName}
	infra := newObject("infrastructure-cluster", demoCluster.Kind, clusterName, "v1beta2", map[string]any{}, map[string]any{})
	infra.SetGroupVersionKind(demoCluster)
	infra.SetNamespace("live")
	infra.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: clusterName, UID: cluster.UID}})
	infra.SetFinalizers([]string{"demo.example.com/machines"})
	c := &Checker{
		Namespace: "live", Patience: time.Minute, crds: map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition{},
		Client: fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(meta.NewDefaultRESTMapper(nil)).WithStatusSubresource(&clusterv1.Machine{}).
			WithObjects(cluster, infra.Unstructured).WithInterceptorFuncs(functions).Build(),
	}
	for kind, label := range map[schema.GroupVersionKind]string{
		clusterv1.GroupVersion.WithKind("Cluster"): "cluster-api", demoCluster: "infrastructure-demo", demoPool: "infrastructure-demo", demoControlPlane: "control-plane-demo",
	} {
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
			clusterv1.ProviderNameLabel: label, clusterv1.GroupVersion.Group + "/v1beta2": kind.Version,
		}}}
		crd.Spec.Scope = apiextensionsv1.NamespaceScoped
		crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: kind.Version, Storage: true}}
		c.crds[kind.GroupKind()] = crd
	}
	g.Expect(c.readRules()).To(Succeed())
	s := &story{Checker: c}
	s.now, err = s.read(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	return s
}

// serveNodes serves a workload cluster that admits no Pods. Its Node cannot be listed while failures is positive.
func serveNodes(t *testing.T, failures *atomic.Int32) []byte {
	t.Helper()
	g := NewWithT(t)
	answers := map[string]string{
		"/version": `{"gitVersion": "v1.36.3"}`,
		"/api":     `{"kind": "APIVersions", "versions": ["v1"]}`,
		"/apis":    `{"kind": "APIGroupList", "apiVersion": "v1", "groups": []}`,
		"/api/v1": `{"kind": "APIResourceList", "groupVersion": "v1", "resources": [
			{"name": "nodes", "kind": "Node", "verbs": ["list"]}, {"name": "pods", "kind": "Pod", "namespaced": true, "verbs": ["create"]}]}`,
		"/api/v1/namespaces/default/pods": `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403, "reason": "Forbidden", "message": "violates PodSecurity"}`,
		"/api/v1/nodes":                   `{"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata": {"name": "m0", "uid": "node-m0"}}]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Path == "/api/v1/nodes" && failures.Add(-1) >= 0 {
			http.Error(w, "try again", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if request.Method == http.MethodPost {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = io.WriteString(w, answers[request.URL.Path]) // otherwise the client says so
	}))
	server.Config.SetKeepAlivesEnabled(false) // so that no goroutine of the client waits for the server
	t.Cleanup(server.Close)
	config := clientcmdapi.NewConfig()
	config.CurrentContext = "demo"
	config.Clusters["demo"], config.Contexts["demo"] = &clientcmdapi.Cluster{Server: server.URL}, &clientcmdapi.Context{Cluster: "demo"}
	kubeconfig, err := clientcmd.Write(*config)
	g.Expect(err).NotTo(HaveOccurred())
	return kubeconfig
}

// useKubeconfig gives the story's cluster a kubeconfig that works.
func (s *story) useKubeconfig(t *testing.T, kubeconfig []byte) {
	t.Helper()
	g := NewWithT(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "live", Name: clusterName + "-kubeconfig", UID: "kubeconfig"}, Data: map[string][]byte{"value": kubeconfig}}
	g.Expect(s.Client.Create(t.Context(), secret)).To(Succeed())
	var err error
	s.now, err = s.read(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.now.unreachable).NotTo(HaveOccurred())
}

// What an upgrade keeps is compared with what was seen while nothing was recorded.
func TestNodesAreSeenEvenIfNothingIsRecorded(t *testing.T) {
	failures := &atomic.Int32{}
	kubeconfig := serveNodes(t, failures)
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newControlPlaneStory(t, interceptor.Funcs{}, map[string]any{})
		s.useKubeconfig(t, kubeconfig)
		failures.Store(3)
		s.quiet = true
		g.Expect(s.settle(t.Context(), nil)).To(Succeed())
		g.Expect(s.now.unknownNodes()).To(Succeed())
		g.Expect(s.results).To(BeEmpty())
	})
}

// A run that never sees whether the Nodes were kept must fail, even if the control plane is not what is checked.
func TestNodesAfterAMove(t *testing.T) {
	for name, test := range map[string]struct {
		providers   []string
		failures    int32
		move, works conformance.Status
	}{
		"seen":                          {nil, 0, conformance.Passed, conformance.Passed},
		"seen late":                     {[]string{"infrastructure-demo"}, 5, conformance.Passed, conformance.NotApplicable},
		"never seen":                    {nil, 1000, conformance.NotRun, conformance.Failed},
		"never seen, because of others": {[]string{"infrastructure-demo"}, 1000, conformance.Unfinished, conformance.NotApplicable},
	} {
		t.Run(name, func(t *testing.T) {
			failures := &atomic.Int32{}
			kubeconfig := serveNodes(t, failures)
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				conditions := newView("v1beta2").cluster.Status.Conditions
				s := newControlPlaneStory(t, interceptor.Funcs{
					Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
						one, ok := object.(*unstructured.Unstructured)
						if ok && one.GetUID() == "" { // it is moved
							failures.Store(test.failures)
							content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&clusterv1.ClusterStatus{Conditions: conditions})
							g.Expect(err).NotTo(HaveOccurred())
							content["initialization"] = map[string]any{"provisioned": true}
							one.Object["status"] = content
							one.SetUID(types.UID("moved-" + one.GetKind()))
						}
						return c.Create(ctx, object, options...)
					},
				}, map[string]any{})
				s.useKubeconfig(t, kubeconfig)
				s.Providers = test.providers
				s.tell(t.Context(), []step{{"move", nil, (*story).move, false}})
				g.Expect(s.results).To(HaveKeyWithValue("clusterctl/move", HaveField("Status", test.move)))
				g.Expect(s.results).To(HaveKeyWithValue("control-plane/kubeconfig-works", HaveField("Status", test.works)))
			})
		})
	}
}

// existing returns the objects of the story that exist.
func (s *story) existing(g *WithT) []client.Object {
	infra := &unstructured.Unstructured{}
	infra.SetGroupVersionKind(demoCluster)
	var all []client.Object
	for _, object := range []client.Object{&clusterv1.Cluster{}, infra} {
		err := s.Client.Get(context.Background(), s.key(clusterName), object)
		g.Expect(client.IgnoreNotFound(err)).To(Succeed())
		if err == nil {
			all = append(all, object)
		}
	}
	return all
}

// A paused Cluster is never deleted, so its machines would stay.
func TestThePauseOfAFailedMoveEndsBeforeTheDeletion(t *testing.T) {
	g := NewWithT(t)
	deleted := 0
	s := newStory(t, interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
		deleted++
		found := &clusterv1.Cluster{}
		g.Expect(c.Get(ctx, client.ObjectKeyFromObject(object), found)).To(Succeed())
		g.Expect(found.Spec.Paused).To(BeNil())
		return c.Delete(ctx, object, options...)
	}})
	cluster := s.now.cluster.DeepCopy()
	g.Expect(s.change(t.Context(), cluster, func() { cluster.Spec.Paused = ptr.To(true) })).To(Succeed())
	g.Expect(s.remove(t.Context())).To(Succeed())
	g.Expect(deleted).To(Equal(1))
	g.Expect(s.remove(t.Context())).To(Succeed(), "it is gone")
}

func TestAMoveThatEndsEarlyLosesNoObject(t *testing.T) {
	for name, functions := range map[string]func(cancel func()) interceptor.Funcs{
		"interrupted": func(cancel func()) interceptor.Funcs {
			ended := func(ctx context.Context) error { return ctx.Err() }
			return interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
					return errors.Join(ended(ctx), c.Get(ctx, key, object, options...))
				},
				Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
					if object.GetObjectKind().GroupVersionKind().Kind == "Cluster" { // the last one
						defer cancel()
					}
					return errors.Join(ended(ctx), c.Delete(ctx, object, options...))
				},
				Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
					if err := ended(ctx); err != nil {
						return err
					}
					return c.Create(ctx, object, options...)
				},
			}
		},
		"a request to delete fails": func(func()) interceptor.Funcs {
			return interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
				if _, ok := object.(*unstructured.Unstructured); ok && object.GetObjectKind().GroupVersionKind().Kind == "Cluster" {
					return apierrors.NewBadRequest("no")
				}
				return c.Delete(ctx, object, options...)
			}}
		},
		"a webhook is not reachable at once": func(func()) interceptor.Funcs {
			asked := 0
			return interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
				if asked++; asked < 3 {
					return apierrors.NewInternalError(errors.New("failed calling webhook"))
				}
				return c.Create(ctx, object, options...)
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := newStory(t, functions(cancel))
				g.Expect(s.move(ctx)).NotTo(Succeed(), "the Cluster never comes to rest, either")
				objects := s.existing(g)
				g.Expect(objects).To(HaveLen(2))
				g.Expect(objects[1].GetOwnerReferences()).To(HaveExactElements(HaveField("UID", objects[0].GetUID())))
			})
		})
	}
}

func TestDeletionIsJudgedByTheObjectsThatThereAre(t *testing.T) {
	g := NewWithT(t)
	const rule = "infrastructure-cluster/deletion"
	refused := errors.New("refused")
	s := newStory(t, interceptor.Funcs{Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return refused }})
	g.Expect(s.delete(t.Context())).To(MatchError(refused))
	g.Expect(s.results).NotTo(HaveKey(rule), "nobody was asked to delete anything")

	for _, label := range []string{"infrastructure-demo", ""} { // clusterctl did not install it
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			s := newStory(t, interceptor.Funcs{})
			s.crds[demoCluster.GroupKind()].Labels[clusterv1.ProviderNameLabel] = label
			s.now.infra.SetUID("before a move")
			g.Expect(s.delete(t.Context())).To(Succeed())
			g.Expect(s.results).To(HaveKeyWithValue(rule, HaveField("Status", conformance.Failed)), "nobody removes the finalizer")
		})
	}
}

// Cluster API deletes the workers first, and the rest only when they are gone.
func TestWhatNobodyHasDeletedYetIsNotJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newControlPlaneStory(t, interceptor.Funcs{}, map[string]any{})
		cluster := s.now.cluster.DeepCopy()
		g.Expect(s.change(t.Context(), cluster, func() { cluster.SetFinalizers([]string{"cluster.cluster.x-k8s.io"}) })).To(Succeed())
		controlPlane := s.now.controlPlane.DeepCopy()
		g.Expect(s.change(t.Context(), controlPlane, func() { controlPlane.SetFinalizers([]string{"demo.example.com/machines"}) })).To(Succeed())
		g.Expect(s.Client.Delete(t.Context(), controlPlane)).To(Succeed())
		g.Expect(s.delete(t.Context())).To(MatchError(ContainSubstring("the Cluster still exists")))
		g.Expect(s.results).To(HaveKeyWithValue("control-plane/deletion", HaveField("Status", conformance.Failed)))
		g.Expect(s.results).NotTo(HaveKey("infrastructure-cluster/deletion"))
	})
}

// A control plane waits for its Machines, and these for what an infrastructure provider may never delete.
func TestAControlPlaneWaitsForTheMachinesThatItHasDeleted(t *testing.T) {
	for name, test := range map[string]struct {
		deleted []string
		want    []conformance.Status
	}{
		"all":  {[]string{"m0", "m1"}, nil},
		"one":  {[]string{"m0"}, []conformance.Status{conformance.Failed}},
		"none": {nil, []conformance.Status{conformance.Failed}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				s := newControlPlaneStory(t, interceptor.Funcs{}, map[string]any{}, "m0", "m1")
				kind := clusterv1.GroupVersion.WithKind("Machine").GroupKind()
				s.crds[kind] = s.crds[clusterv1.GroupVersion.WithKind("Cluster").GroupKind()]
				for _, object := range []client.Object{s.now.cluster, s.now.controlPlane.Unstructured, &s.now.machines[0].Machine, &s.now.machines[1].Machine} {
					one, _ := object.DeepCopyObject().(client.Object)
					g.Expect(s.change(t.Context(), one, func() { one.SetFinalizers([]string{"demo.example.com/stays"}) })).To(Succeed())
					if kind := one.GetObjectKind().GroupVersionKind().Kind; kind == demoControlPlane.Kind || slices.Contains(test.deleted, one.GetName()) {
						g.Expect(s.Client.Delete(t.Context(), one)).To(Succeed())
					}
				}
				g.Expect(s.delete(t.Context())).To(MatchError(ContainSubstring("the Cluster still exists")))
				var got []conformance.Status
				if result := s.results["control-plane/deletion"]; result != nil {
					got = append(got, result.Status)
				}
				g.Expect(got).To(Equal(test.want))
			})
		})
	}
}

func TestSecretsAndConfigMapsMoveAsWithClusterctl(t *testing.T) {
	g := NewWithT(t)
	s := newStory(t, interceptor.Funcs{})
	for name, test := range map[string]struct {
		object client.Object
		owner  string
		labels map[string]string
	}{
		"owned":                {&corev1.ConfigMap{}, "cluster", nil},
		"owned-by-an-owned":    {&corev1.Secret{}, "owned", nil},
		"conformance-ca":       {&corev1.Secret{}, "", nil},
		"labelled":             {&corev1.ConfigMap{}, "", map[string]string{moveLabel: ""}},
		"left":                 {&corev1.ConfigMap{}, "", nil},
		"conformance-etcd":     {&corev1.ConfigMap{}, "", nil},
		"conformance-proxy":    {&corev1.Secret{}, "of-others", nil},
		"conformance-other":    {&corev1.Secret{}, "", map[string]string{clusterv1.ClusterNameLabel: clusterName}},
		"other-conformance-ca": {&corev1.Secret{}, "", nil},
	} {
		test.object.SetNamespace("live")
		test.object.SetName(name)
		test.object.SetUID(types.UID(name))
		test.object.SetLabels(test.labels)
		if test.owner != "" {
			test.object.SetOwnerReferences([]metav1.OwnerReference{{Kind: "Demo", Name: test.owner, UID: types.UID(test.owner)}})
		}
		g.Expect(s.Client.Create(t.Context(), test.object)).To(Succeed())
	}
	objects, err := s.movedObjects(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	var moved []string
	for _, object := range objects {
		moved = append(moved, object.GetKind()+" "+object.GetName())
	}
	g.Expect(moved).To(ConsistOf("Cluster conformance", "DemoCluster conformance", "ConfigMap owned", "Secret owned-by-an-owned", "Secret conformance-ca", "ConfigMap labelled"))
}
