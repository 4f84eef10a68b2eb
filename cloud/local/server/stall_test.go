// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/server"
)

// A server that limits how long calls take to arrive cuts off stalled calls, but not watches and
// archives.
func TestCallsThatStallAreCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	alone, err := server.New([]server.Tenant{{Name: "a", Token: tokenA, Backend: w.engine.Tenant("a")}})
	w.Expect(err).NotTo(HaveOccurred())
	alone.Images = w.handler.(*server.Server).Images
	web := httptest.NewUnstartedServer(alone)
	web.Config.ReadTimeout = 5 * time.Second // enough for other calls on a busy machine
	web.StartTLS()
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	c, err := client.NewClient(client.Options{
		Endpoint: web.URL, Token: tokenA, CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}),
	})
	w.Expect(err).NotTo(HaveOccurred())

	events, err := c.Watch(t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.Eventually(events, soon).Should(Receive(HaveField("Kind", cloud.EventSynced)))
	archive, rest := io.Pipe()
	loaded := make(chan error, 1)
	go func() {
		_, err := c.LoadContainerImages(t.Context(), archive, "")
		_ = archive.Close()
		loaded <- err
	}()
	content := w.archive()
	_, err = io.CopyN(rest, content, 1<<10)
	w.Expect(err).NotTo(HaveOccurred(), "the server has begun to read the archive")

	var all []*tls.Conn
	for _, token := range []string{tokenA, "token-of-nobody"} {
		stalled, err := tls.Dial("tcp", web.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		w.Expect(err).NotTo(HaveOccurred())
		_, err = io.WriteString(stalled, "POST "+api.PathInstances+" HTTP/1.1\r\nHost: cloud\r\nAuthorization: Bearer "+token+
			"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
		w.Expect(err).NotTo(HaveOccurred())
		all = append(all, stalled)
	}
	for _, stalled := range all {
		w.Expect(stalled.SetReadDeadline(time.Now().Add(soon))).To(Succeed())
		_, err = io.ReadAll(stalled)
		w.Expect(err).NotTo(HaveOccurred(), "the server ends the connection")
	}

	_, err = io.Copy(rest, content)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(rest.Close()).To(Succeed())
	w.Eventually(loaded, soon).Should(Receive(BeNil()))
	_, err = c.EnsureInstance(t.Context(), instanceSpec("one"))
	w.Expect(err).NotTo(HaveOccurred())
	w.Eventually(events, soon).Should(Receive(HaveField("Name", "one")))
}
