// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
)

func TestAPortForwardThatGetsNoAnswerEndsWithItsContext(t *testing.T) {
	g := NewWithT(t)
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = listener.Close() })
	closed := make(chan error, 1)
	go func() {
		// The listener accepts the request and does not answer, like an API server that waits for the
		// kubelet of a machine that is gone.
		accepted, err := listener.Accept()
		if err == nil {
			_, err = io.Copy(io.Discard, accepted)
		}
		closed <- err
	}()
	// Longer than it takes to connect.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := portForward(&rest.Config{Host: "http://" + listener.Addr().String()})(ctx, "etcd-gone", etcdPort)
		failed <- err
	}()
	g.Eventually(failed).WithTimeout(time.Minute).Should(Receive(HaveOccurred()), "the call ends")
	g.Eventually(closed).WithTimeout(time.Minute).Should(Receive(BeNil()), "the connection is closed")
}
