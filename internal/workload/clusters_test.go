// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
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
	secrets := fake.NewClientBuilder().WithObjects(kubeconfig).Build()
	clusters, err := NewClusters(secrets, secrets)
	g.Expect(err).NotTo(HaveOccurred())

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
	g.Expect(second).NotTo(BeIdenticalTo(first), "the secret has changed")

	g.Expect(secrets.Delete(ctx, kubeconfig)).To(Succeed())
	_, err = clusters.Client(ctx, testCluster)
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "got %v", err)
	_, err = clusters.Config(ctx, testCluster)
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "got %v", err)
	g.Expect(clusters.direct.clients).To(BeEmpty(), "the client of a cluster without a Secret is dropped")
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
	clusters, err := NewClusters(secrets, secrets)
	g.Expect(err).NotTo(HaveOccurred())
	connection, err := clusters.direct.connect(ctx, testCluster)
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

func TestChooseMember(t *testing.T) {
	member := func(id uint64, name string, change func(*Member)) Member {
		made := Member{ID: id, Name: name}
		if change != nil {
			change(&made)
		}
		return made
	}
	for name, test := range map[string]struct {
		state EtcdState
		want  string
	}{
		"no members":      {},
		"a single member": {EtcdState{Leader: 1, Members: []Member{member(1, "a", nil)}}, "a"},
		"not the leader":  {EtcdState{Leader: 1, Members: []Member{member(1, "a", nil), member(2, "b", nil), member(3, "c", nil)}}, "b"},
		"not a learner":   {EtcdState{Leader: 1, Members: []Member{member(1, "a", nil), member(2, "b", func(m *Member) { m.Learner = true })}}, "a"},
		"not a member with a problem": {EtcdState{Leader: 1, Members: []Member{
			member(1, "a", nil), member(2, "b", func(m *Member) { m.Problem = "it sees no leader" }), member(3, "c", nil),
		}}, "c"},
		"not a corrupt member": {EtcdState{Leader: 1, Members: []Member{
			member(1, "a", nil), member(2, "b", func(m *Member) { m.Alarms = []string{"CORRUPT"} }),
		}}, "a"},
		"a member without space is good enough": {EtcdState{Leader: 1, Members: []Member{
			member(1, "a", nil), member(2, "b", func(m *Member) { m.Alarms = []string{"NOSPACE"} }),
		}}, "b"},
		"not a member that has not started": {EtcdState{Leader: 1, Members: []Member{member(1, "", nil)}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			chosen, ok := test.state.choose()
			g.Expect(ok).To(Equal(test.want != ""))
			g.Expect(chosen.Name).To(Equal(test.want))
			if !ok {
				g.Expect(test.state.problems()).NotTo(BeEmpty())
			}
		})
	}
}

const (
	nodesPath = "/api/v1/nodes"
	podsPath  = "/api/v1/namespaces/kube-system/pods"
)

// withMember runs WithHealthyEtcdMember against an API server with these Nodes and no Pods.
func withMember(t *testing.T, nodes string, more ...client.Object) error {
	g := NewWithT(t)
	server := apiServer(t, map[string]string{
		"/api":    `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":   `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"nodes","namespaced":false,"kind":"Node"},{"name":"pods","namespaced":true,"kind":"Pod"}]}`,
		nodesPath: nodes,
		podsPath:  `{"kind":"PodList","apiVersion":"v1","items":[]}`,
	})
	objects := append([]client.Object{testSecret(secret.Kubeconfig, kubeconfigFor(g, server.URL))}, more...)
	secrets := fake.NewClientBuilder().WithObjects(objects...).Build()
	clusters, err := NewClusters(secrets, secrets)
	g.Expect(err).NotTo(HaveOccurred())
	return clusters.WithHealthyEtcdMember(context.Background(), testCluster, func(context.Context, EtcdMember) error {
		return errors.New("there is no member to call this with")
	})
}

func TestNoMemberToUse(t *testing.T) {
	g := NewWithT(t)
	const oneNode = `{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"n1"}}]}`
	const noNodes = `{"kind":"NodeList","apiVersion":"v1","items":[]}`
	g.Expect(apierrors.IsNotFound(withMember(t, oneNode))).To(BeTrue(), "the secret is missing")
	external := testSecret(secret.EtcdCA, map[string][]byte{secret.TLSCrtDataName: []byte("a certificate")})
	g.Expect(withMember(t, oneNode, external)).To(MatchError(ErrEtcdUnmanaged))
	g.Expect(withMember(t, oneNode, testEtcdCA(newAuthority(g)))).To(MatchError(ErrEtcdUnmanaged), "no node runs etcd")
	g.Expect(withMember(t, noNodes, testEtcdCA(newAuthority(g)))).To(MatchError(ErrNoHealthyMember))
}
