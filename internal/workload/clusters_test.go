// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"sigs.k8s.io/cluster-api/util/secret"
)

// apiServer answers each path with a JSON text, and all others with NotFound.
func apiServer(t *testing.T, answers map[string]string) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		answer, ok := answers[request.URL.Path]
		if !ok {
			response.WriteHeader(http.StatusNotFound)
			return
		}
		response.Header().Set("Content-Type", "application/json")
		_, _ = response.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	return server
}

func TestClientIsKeptAndFollowsTheSecret(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	server := apiServer(t, map[string]string{
		"/api":           `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":          `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1":        `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"nodes","namespaced":false,"kind":"Node"}]}`,
		"/api/v1/nodes":  `{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"n1"}}]}`,
		"/api/v1/absent": `{}`,
	})
	kubeconfig := testSecret(secret.Kubeconfig, kubeconfigFor(g, server.URL))
	reads := 0
	secrets := fake.NewClientBuilder().WithObjects(kubeconfig).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			reads++
			return c.Get(ctx, key, object, options...)
		},
	}).Build()
	clusters := NewClusters(secrets)

	first, err := clusters.Client(ctx, testCluster)
	g.Expect(err).NotTo(HaveOccurred())
	nodes := &corev1.NodeList{}
	g.Expect(first.List(ctx, nodes)).To(Succeed())
	g.Expect(nodes.Items).To(HaveLen(1))
	g.Expect(first.Scheme().Recognizes(appsv1.SchemeGroupVersion.WithKind("StatefulSet"))).To(BeTrue())
	g.Expect(clusters.Client(ctx, testCluster)).To(BeIdenticalTo(first), "the client is reused")
	config, err := clusters.Config(ctx, testCluster)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config.Host).To(Equal(server.URL))

	kubeconfig.Data = kubeconfigFor(g, server.URL+"/")
	g.Expect(secrets.Update(ctx, kubeconfig)).To(Succeed())
	second, err := clusters.Client(ctx, testCluster)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(second).NotTo(BeIdenticalTo(first), "the Secret has changed")

	g.Expect(secrets.Delete(ctx, kubeconfig)).To(Succeed())
	reads = 0
	_, err = clusters.Client(ctx, testCluster)
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "got %v", err)
	g.Expect(reads).To(Equal(1), "a Secret that is missing is looked for once")
	_, err = clusters.Config(ctx, testCluster)
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "got %v", err)
	g.Expect(clusters.connections).To(BeEmpty(), "the client of a cluster without a Secret is dropped")
}

func TestClientIsLimited(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	server := apiServer(t, map[string]string{
		"/api":    `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":   `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"nodes","namespaced":false,"kind":"Node"},{"name":"pods","namespaced":true,"kind":"Pod"}]}`,
	})
	secrets := fake.NewClientBuilder().WithObjects(testSecret(secret.Kubeconfig, kubeconfigFor(g, server.URL))).Build()
	clusters := NewClusters(secrets)
	connection, err := clusters.connect(ctx, testCluster)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(connection.config.Timeout).To(Equal(requestTimeout), "requests to an API server that hangs time out")
	g.Expect(apierrors.IsNotFound(connection.client.List(ctx, &corev1.PodList{}))).To(BeTrue(), "the kinds are known now")
	limiter := connection.config.RateLimiter
	g.Expect(limiter.QPS()).To(BeEquivalentTo(clusterQPS))
	allowed := 0
	for limiter.TryAccept() {
		allowed++
	}
	g.Expect(allowed).To(BeNumerically(">", clusterBurst/2))
	g.Eventually(func() error {
		for limiter.TryAccept() { // the bucket refills while time passes
		}
		bounded, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		return connection.client.List(bounded, &corev1.NodeList{})
	}).Should(MatchError(ContainSubstring("rate limiter")), "all kinds share one limit")
}
