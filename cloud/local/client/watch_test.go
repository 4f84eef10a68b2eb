// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// A proxy that has lost its cloud, or a daemon that is stopped, accepts connections and says nothing.
func TestAWatchThatIsNeverAnsweredEnds(t *testing.T) {
	for _, endpoint := range []string{"unix:///cloud.sock", "https://cloud.example"} {
		t.Run(endpoint, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				c, err := NewClient(Options{Endpoint: endpoint, Token: "secret"})
				g.Expect(err).NotTo(HaveOccurred())
				defer c.Close()
				c.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
					near, far := net.Pipe()
					go func() { _, _ = io.Copy(io.Discard, far) }()
					return near, nil
				}
				began := time.Now()
				ended := make(chan error, 1)
				go func() {
					_, err := c.Watch(t.Context())
					ended <- err
				}()
				select {
				case err := <-ended:
					g.Expect(err).To(MatchError(cloud.IsUnavailable, "an UnavailableError"))
					g.Expect(err).To(MatchError(ContainSubstring(endpoint)))
					g.Expect(time.Since(began)).To(BeNumerically("<=", silence))
				case <-time.After(time.Hour):
					t.Error("the watch waits forever for an answer")
				}
			})
		})
	}
}
