// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"encoding/pem"
	"io"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/server"
)

const appName = "example.test/app:1"

// archive returns a `docker save` archive that is larger than any other request.
func (w *world) archive() *bytes.Buffer {
	image, err := random.Image(5<<20, 1)
	w.Expect(err).NotTo(HaveOccurred())
	config, err := image.ConfigFile()
	w.Expect(err).NotTo(HaveOccurred())
	config.OS, config.Architecture = "linux", runtime.GOARCH
	image, err = mutate.ConfigFile(image, config)
	w.Expect(err).NotTo(HaveOccurred())
	tag, err := name.NewTag(appName)
	w.Expect(err).NotTo(HaveOccurred())
	var archive bytes.Buffer
	w.Expect(tarball.Write(tag, image, &archive)).To(Succeed())
	return &archive
}

func TestContainerImageLife(t *testing.T) {
	w := newWorld(t)
	administrator := w.overSocket(t)
	loaded, err := administrator.LoadContainerImages(ctx, w.archive(), "")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(loaded).To(ConsistOf(And(HaveField("Name", appName), HaveField("SizeBytes", BeNumerically(">", 5<<20)))))
	for _, c := range []*client.Client{administrator, w.client, w.other} {
		w.Expect(c.ListContainerImages(ctx)).To(Equal(loaded), "all tenants see the same")
	}
	_, err = administrator.LoadContainerImages(ctx, strings.NewReader("no archive"), "")
	w.Expect(cloud.IsInvalid(err)).To(BeTrue(), "%v", err)
	w.Expect(err).To(MatchError(ContainSubstring("docker save")))
	_, err = administrator.LoadContainerImages(ctx, w.archive(), "NAME")
	w.Expect(err).To(MatchError(ContainSubstring(`name "NAME"`)))
	w.Expect(administrator.DeleteContainerImage(ctx, appName)).To(Succeed())
	w.Expect(administrator.DeleteContainerImage(ctx, appName)).To(Equal(&cloud.NotFoundError{Kind: "container image", Name: appName}))
	w.Expect(administrator.ListContainerImages(ctx)).To(BeEmpty())
}

// unread fails the test if it is read.
type unread struct{ *world }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the archive is sent though it is refused")
	return 0, io.EOF
}

// All tenants share the images. Over https, a tenant may change them only if there is no other
// tenant.
func TestWhoMayLoadContainerImages(t *testing.T) {
	w := newWorld(t)
	err := w.client.DeleteContainerImage(ctx, appName)
	w.Expect(cloud.IsUnauthorized(err)).To(BeTrue(), "%v", err)
	// The handler that checks requests against the document reads them completely, so bypass it.
	plain := httptest.NewTLSServer(w.handler)
	t.Cleanup(plain.Close)
	for token, words := range map[string]string{tokenA: "over the unix socket", "token-of-nobody": "token"} {
		certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: plain.Certificate().Raw})
		c, err := client.NewClient(client.Options{Endpoint: plain.URL, Token: token, CA: certificate})
		w.Expect(err).NotTo(HaveOccurred())
		_, err = c.LoadContainerImages(ctx, unread{w}, "")
		w.Expect(cloud.IsUnauthorized(err)).To(BeTrue(), "%v", err)
		w.Expect(err).To(MatchError(ContainSubstring(words)))
	}
	stranger := w.as("token-of-nobody")
	_, err = stranger.ListContainerImages(ctx)
	w.Expect(cloud.IsUnauthorized(err)).To(BeTrue(), "%v", err)

	images := w.handler.(*server.Server).Images
	alone, err := server.New([]server.Tenant{{Name: "a", Token: tokenA, Backend: w.engine.Tenant("a")}})
	w.Expect(err).NotTo(HaveOccurred())
	w.serve(t, alone)
	only := w.as(tokenA)
	_, err = only.ListContainerImages(ctx)
	w.Expect(err).To(MatchError(ContainSubstring("--registry-port")), "there is no registry")
	alone.Images = images
	_, err = only.LoadContainerImages(ctx, w.archive(), "")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(only.DeleteContainerImage(ctx, appName)).To(Succeed())
}
