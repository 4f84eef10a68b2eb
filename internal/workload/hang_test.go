// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/secret"
)

// silent returns an address that accepts connections and never answers, like an API server that
// hangs.
func silent(t *testing.T, g *WithT) string {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = connection.Close() })
		}
	}()
	return "http://" + listener.Addr().String()
}

func TestClustersThatHangDoNotHoldUpOthers(t *testing.T) {
	const hanging = 12
	g := NewWithT(t)
	ctx := context.Background()
	answering := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Content-Type", "application/json")
		_, _ = response.Write([]byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"kubeadm-config","namespace":"kube-system"}}`))
	}))
	t.Cleanup(answering.Close)
	address := silent(t, g)
	secrets := fake.NewClientBuilder()
	kubeconfigSecret := func(cluster client.ObjectKey, server string) {
		made := testSecret(secret.Kubeconfig, kubeconfigFor(g, server))
		made.ObjectMeta = metav1.ObjectMeta{Namespace: cluster.Namespace, Name: secret.Name(cluster.Name, secret.Kubeconfig)}
		secrets.WithObjects(made)
	}
	fine := clusterNamed("fine")
	kubeconfigSecret(fine, answering.URL)
	var hangs []client.ObjectKey
	for i := range hanging {
		hangs = append(hangs, clusterNamed(fmt.Sprintf("hangs-%d", i)))
		kubeconfigSecret(hangs[i], address)
	}
	reader := secrets.Build()
	connections := NewConnections(clustercache.NewFakeClusterCache(fake.NewClientBuilder().Build(), fine), reader, reader, 0)
	unhurried(connections)
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]())
	t.Cleanup(queue.ShutDown)
	g.Expect(connections.Source(handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []ctrl.Request {
		return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: object.GetNamespace(), Name: object.GetLabels()[clusterv1.ClusterNameLabel]}}}
	})).Start(ctx, queue)).To(Succeed())

	for _, cluster := range hangs {
		connections.initialized.slow[cluster], connections.observed.slow[cluster] = true, true
	}
	for _, cluster := range hangs {
		_, err := connections.Observe(ctx, Query{Cluster: cluster, Etcd: EtcdExternal})
		g.Expect(err).To(MatchError(ErrPending))
	}
	g.Eventually(func() error {
		connections.observed.mu.Lock()
		connections.observed.slow[fine] = true
		connections.observed.mu.Unlock()
		_, err := connections.Observe(ctx, Query{Cluster: fine, Etcd: EtcdExternal})
		return err
	}).Should(MatchError(ErrPending), "a slow cluster is pending unless it answers immediately")
	request, _ := queue.Get()
	g.Expect(request.NamespacedName).To(Equal(fine), "the first cluster to answer is reconciled again")
	g.Expect(connections.Observe(ctx, Query{Cluster: fine, Etcd: EtcdExternal})).To(Equal(Observation{Nodes: []Node{}}))
	for _, cluster := range hangs {
		_, err := connections.Initialized(ctx, cluster, TokensSigned)
		g.Expect(err).To(MatchError(ErrPending), "nobody waits for the first Machine of a slow cluster")
	}
	g.Expect(connections.Initialized(ctx, fine, ConfigUploaded)).To(BeTrue())
	for _, cluster := range hangs {
		connections.Forget(cluster)
	}
}
