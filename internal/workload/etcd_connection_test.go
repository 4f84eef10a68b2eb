//go:build integration

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
	"io"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func TestAMemberIsAskedOnOneConnection(t *testing.T) {
	g := NewWithT(t)
	server := &envtest.Etcd{Path: filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "etcd")}
	g.Expect(server.Start()).To(Succeed())
	t.Cleanup(func() { g.Expect(server.Stop()).To(Succeed()) })
	var connections atomic.Int32
	members := testEtcd(t, g, newEtcdClients(time.Hour), "node", func(accepted net.Conn) {
		connections.Add(1)
		etcd, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", server.URL.Host)
		if err != nil {
			_ = accepted.Close()
			return
		}
		go func() {
			_, _ = io.Copy(etcd, accepted)
			_ = etcd.Close()
		}()
		_, _ = io.Copy(accepted, etcd)
		_ = accepted.Close()
	})

	for range 3 {
		said := members.ask(context.Background(), "node")
		g.Expect(said.err).NotTo(HaveOccurred())
		g.Expect(said.leader).To(Equal(said.memberID))
		g.Expect(said.members).To(HaveLen(1))
	}
	g.Expect(connections.Load()).To(BeEquivalentTo(1), "connections that were made for three rounds of questions")
}
