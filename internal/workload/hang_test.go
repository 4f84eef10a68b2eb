/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package workload

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/secret"
)

// silent is an address that accepts connections and never answers, as an API server that hangs does.
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
	const hanging, wait = 12, 200 * time.Millisecond
	g := NewWithT(t)
	answering := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Content-Type", "application/json")
		_, _ = response.Write([]byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"kubeadm-config","namespace":"kube-system"}}`))
	}))
	t.Cleanup(answering.Close)
	address := silent(t, g)
	secrets := fake.NewClientBuilder()
	kubeconfigSecret := func(name, server string) {
		made := testSecret(secret.Kubeconfig, kubeconfigFor(g, server))
		made.ObjectMeta = metav1.ObjectMeta{Namespace: "default", Name: secret.Name(name, secret.Kubeconfig)}
		secrets.WithObjects(made)
	}
	kubeconfigSecret("fine", answering.URL)
	names := make([]string, hanging)
	for i := range names {
		names[i] = "hangs-" + string(rune('a'+i))
		kubeconfigSecret(names[i], address)
	}
	reader := secrets.Build()
	cache := clustercache.NewFakeClusterCache(fake.NewClientBuilder().Build(), clusterNamed("fine"))
	connections, err := NewConnections(cache, reader, reader)
	g.Expect(err).NotTo(HaveOccurred())
	connections.lanes = newLanes(wait/2, 2)

	observe := func(name string, limit time.Duration) error {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		_, err := connections.Observe(ctx, Query{Cluster: clusterNamed(name), Etcd: EtcdExternal})
		return err
	}
	round := func() (busy int32) {
		var count atomic.Int32
		var group sync.WaitGroup
		for _, name := range names {
			group.Go(func() {
				if err := observe(name, wait); errors.Is(err, ErrBusy) {
					count.Add(1)
				} else if err == nil {
					t.Errorf("cluster %s does not answer, and is observed", name)
				}
			})
		}
		group.Wait()
		return count.Load()
	}
	g.Expect(round()).To(BeZero(), "each is tried once")
	refused := make(chan int32)
	go func() { refused <- round() }()
	g.Expect(observe("fine", 10*time.Second)).To(Succeed(), "whatever the others do")
	g.Expect(<-refused).To(BeNumerically(">", 0), "only a few are tried again at a time")
}
