//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/internal/image"
)

func push(t *testing.T, args ...string) (string, error) {
	t.Helper()
	crane, err := filepath.Abs("../bin/tools/crane")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(crane).To(BeAnExistingFile(), "make test-integration builds it")
	command := exec.CommandContext(t.Context(), "./push.sh", args...)
	command.Env = append(os.Environ(), "CRANE="+crane)
	said, err := command.CombinedOutput()
	return string(said), err
}

func TestPush(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	target := strings.TrimPrefix(server.URL, "http://") + "/mirror"

	output := t.TempDir()
	programs := map[string]string{"amd64": filepath.Join(output, "amd64"), "arm64": filepath.Join(output, "arm64")}
	for architecture, path := range programs {
		write(t, path, architecture)
	}
	made := image.Service(image.Release{Repository: "example.com/", Version: "v0.1.0"}, "manager", programs)
	archive, err := made.Archive()
	g.Expect(err).NotTo(HaveOccurred())
	for _, file := range []string{"manager-v0.1.0.tar", "node-v1.36.3-v0.1.0.tar", "manager-v0.2.0.tar"} {
		write(t, filepath.Join(output, "images", file), string(archive))
	}

	said, err := push(t, output, "v0.1.0", target+"/")
	g.Expect(err).NotTo(HaveOccurred(), said)
	for _, reference := range []string{"manager:v0.1.0", "node:v1.36.3-v0.1.0"} {
		parsed, err := name.ParseReference(target + "/" + reference)
		g.Expect(err).NotTo(HaveOccurred())
		index, err := remote.Index(parsed)
		g.Expect(err).NotTo(HaveOccurred())
		manifest, err := index.IndexManifest()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(manifest.Manifests).To(ConsistOf(
			HaveField("Platform.Architecture", "amd64"), HaveField("Platform.Architecture", "arm64")), "each machine finds the image for it")
	}
	tags, err := remote.List(repositoryAt(g, target+"/manager"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(tags).To(ConsistOf("v0.1.0"), "only the release is pushed")
}

func repositoryAt(g *WithT, path string) name.Repository {
	repository, err := name.NewRepository(path)
	g.Expect(err).NotTo(HaveOccurred())
	return repository
}

func TestPushWithoutImages(t *testing.T) {
	g := NewWithT(t)
	output := t.TempDir()
	said, err := push(t, output, "v0.1.0", "localhost/mirror")
	g.Expect(err).To(MatchError("exit status 2"))
	g.Expect(said).To(Equal("there are no images of v0.1.0 in " + output + "/images: build them with: make release VERSION=v0.1.0\n"))
}
