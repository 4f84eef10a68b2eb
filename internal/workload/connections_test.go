// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"sigs.k8s.io/cluster-api/util/secret"
)

var testCluster = client.ObjectKey{Namespace: "default", Name: "c1"}

func testSecret(purpose secret.Purpose, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: testCluster.Namespace, Name: secret.Name(testCluster.Name, purpose)},
		Data:       data,
	}
}

func kubeconfigFor(g *WithT, server string) map[string][]byte {
	data, err := clientcmd.Write(api.Config{
		Clusters:       map[string]*api.Cluster{"c": {Server: server}},
		Contexts:       map[string]*api.Context{"x": {Cluster: "c"}},
		CurrentContext: "x",
	})
	g.Expect(err).NotTo(HaveOccurred())
	return map[string][]byte{secret.KubeconfigDataName: data}
}

// unhurried gives callers of Initialized, and the API servers they query, enough time on a busy
// machine.
func unhurried(connections *Connections) {
	connections.initialized.limit = time.Minute
	connections.initialized.clock = clocktesting.NewFakeClock(time.Now())
}

// connectedTo returns access to a cluster whose API server has these ConfigMaps, each as JSON by its
// path, and records what it is asked for.
func connectedTo(t *testing.T, configMaps map[string]string) (connections *Connections, asked *[]string, server *httptest.Server) {
	t.Helper()
	g := NewWithT(t)
	asked = &[]string{}
	server = httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		*asked = append(*asked, request.URL.Path)
		content, ok := configMaps[request.URL.Path]
		if !ok {
			response.WriteHeader(http.StatusNotFound)
			return
		}
		response.Header().Set("Content-Type", "application/json")
		_, err := fmt.Fprint(response, content)
		g.Expect(err).NotTo(HaveOccurred())
	}))
	t.Cleanup(server.Close)
	// The Secret does not have Cluster API's label, so the cache does not hold it.
	live := fake.NewClientBuilder().WithObjects(testSecret(secret.Kubeconfig, kubeconfigFor(g, server.URL))).Build()
	connections = NewConnections(nil, fake.NewClientBuilder().Build(), live, 0)
	unhurried(connections)
	return connections, asked, server
}

const (
	uploadedPath = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config"
	signedPath   = "/api/v1/namespaces/kube-public/configmaps/cluster-info"
)

// uploaded is kubeadm's configuration, of this age.
func uploaded(age time.Duration) string {
	return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"kubeadm-config","namespace":"kube-system","creationTimestamp":%q}}`,
		time.Now().Add(-age).UTC().Format(time.RFC3339))
}

// info is cluster-info with this data.
func info(data string) string {
	return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"cluster-info","namespace":"kube-public"},"data":%s}`, data)
}

func TestInitialized(t *testing.T) {
	g := NewWithT(t)
	configMaps := map[string]string{}
	connections, asked, server := connectedTo(t, configMaps)
	is := func(milestone Milestone) bool {
		reached, err := connections.Initialized(context.Background(), testCluster, milestone)
		g.Expect(err).NotTo(HaveOccurred())
		return reached
	}
	g.Expect(is(ConfigUploaded)).To(BeFalse())
	g.Expect(is(TokensSigned)).To(BeFalse())
	configMaps[uploadedPath] = uploaded(0)
	g.Expect(is(ConfigUploaded)).To(BeTrue())
	g.Expect(is(TokensSigned)).To(BeFalse())
	configMaps[signedPath] = info(`{"kubeconfig":"{}"}`)
	g.Expect(is(TokensSigned)).To(BeFalse(), "kubeadm join would not trust it")
	configMaps[signedPath] = info(`{"kubeconfig":"{}","jws-kubeconfig-abcdef":"signature"}`)
	g.Expect(is(TokensSigned)).To(BeTrue())
	g.Expect(*asked).To(HaveEach(BeElementOf(uploadedPath, signedPath)), "no API discovery")

	server.Close()
	reached, err := connections.Initialized(context.Background(), testCluster, TokensSigned)
	g.Expect(err).To(MatchError(ErrNoAnswer))
	g.Expect(reached).To(BeFalse())
}

// The controller manager may not sign, a restored cluster may have no token left, and Cluster API's
// in-memory provider has no cluster-info.
func TestASignatureIsNotAwaitedForLong(t *testing.T) {
	for name, configMaps := range map[string]map[string]string{
		"nobody signs":       {uploadedPath: uploaded(time.Minute), signedPath: info(`{"kubeconfig":"{}"}`)},
		"nothing to sign":    {uploadedPath: uploaded(time.Minute), signedPath: info(`null`)},
		"no cluster-info":    {uploadedPath: uploaded(time.Minute)},
		"a restored cluster": {uploadedPath: uploaded(24 * 365 * time.Hour), signedPath: info(`{"kubeconfig":"{}"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			connections, _, _ := connectedTo(t, configMaps)
			NewWithT(t).Expect(connections.Initialized(context.Background(), testCluster, TokensSigned)).To(BeTrue())
		})
	}
}

func TestConnectionFollowsTheSecret(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	kubeconfig := testSecret(secret.Kubeconfig, kubeconfigFor(g, "https://one.example.com"))
	secrets := fake.NewClientBuilder().WithObjects(kubeconfig).Build()
	clusters := NewClusters(secrets)

	first, err := clusters.connect(ctx, testCluster)
	g.Expect(err).NotTo(HaveOccurred())
	again, err := clusters.connect(ctx, testCluster)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.http).To(BeIdenticalTo(first.http), "the connection is reused")

	kubeconfig.Data = kubeconfigFor(g, "https://two.example.com")
	g.Expect(secrets.Update(ctx, kubeconfig)).To(Succeed())
	changed, err := clusters.connect(ctx, testCluster)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(changed.config.Host).To(Equal("https://two.example.com"))

	kubeconfig.Data = map[string][]byte{secret.KubeconfigDataName: []byte("password: hidden")}
	g.Expect(secrets.Update(ctx, kubeconfig)).To(Succeed())
	_, err = clusters.connect(ctx, testCluster)
	g.Expect(err).To(MatchError(And(ContainSubstring("c1-kubeconfig"), Not(ContainSubstring("hidden")))))
}
