//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"google.golang.org/grpc/connectivity"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

// realEtcd returns clients for a real etcd, which reports that it runs on no node. It passes each
// connection to accepted.
func realEtcd(t *testing.T, g Gomega, accepted func(net.Conn)) *etcdCluster {
	server := &envtest.Etcd{Path: filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "etcd"), StartTimeout: envtestenv.Patience, StopTimeout: envtestenv.Patience}
	g.Expect(server.Start()).To(Succeed())
	t.Cleanup(func() { g.Expect(server.Stop()).To(Succeed()) })
	return testEtcd(t, g, newEtcdClients(time.Hour), "node", func(connection net.Conn) {
		accepted(connection)
		etcd, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", server.URL.Host)
		if err != nil {
			_ = connection.Close()
			return
		}
		go func() {
			_, _ = io.Copy(etcd, connection)
			_ = etcd.Close()
		}()
		_, _ = io.Copy(connection, etcd)
		_ = connection.Close()
	})
}

func TestAMemberIsAskedOnOneConnection(t *testing.T) {
	g := NewWithT(t)
	var connections atomic.Int32
	members := realEtcd(t, g, func(net.Conn) { connections.Add(1) })
	for range 3 {
		said := members.ask(context.Background(), "node")
		g.Expect(said.err).NotTo(HaveOccurred())
		g.Expect(said.leader).To(Equal(said.memberID))
		g.Expect(said.members).To(HaveLen(1))
	}
	g.Expect(connections.Load()).To(BeEquivalentTo(1), "connections for three rounds of requests")
}

// A client that reconnected on its own would use up the timeout of each observation after a machine
// is gone.
func TestAConnectionThatIsLostIsNotMadeAgainByItsClient(t *testing.T) {
	g := NewWithT(t)
	connections := make(chan net.Conn, 10)
	members := realEtcd(t, g, func(connection net.Conn) { connections <- connection })
	g.Expect(members.ask(context.Background(), "node").err).NotTo(HaveOccurred())
	kept := members.members["node"].client.ActiveConnection()
	members.forward = func(context.Context, string, int) (net.Conn, error) { return nil, errors.New("no such pod") }
	g.Expect((<-connections).Close()).To(Succeed())
	g.Eventually(kept.GetState).ShouldNot(Equal(connectivity.Ready))
	g.Expect(members.ask(context.Background(), "node").err).To(MatchError("no such pod"))
}

func TestNodesWithoutAMemberAreNotWaitedFor(t *testing.T) {
	g := NewWithT(t)
	members := realEtcd(t, g, func(net.Conn) {})
	there := members.forward
	members.forward = func(ctx context.Context, pod string, port int) (net.Conn, error) {
		if pod == "etcd-gone" { // its machine is gone
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return there(ctx, pod, port)
	}
	running := map[Component]Pod{Etcd: {State: PodRunning}}
	state := members.observe(t.Context(), []Node{{Name: "gone", Pods: running}, {Name: "node", Pods: running}})
	g.Expect(state.Problem).To(BeEmpty())
	g.Expect(state.Members).To(HaveLen(1))
}
