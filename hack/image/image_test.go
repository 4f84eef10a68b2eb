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

package image

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	. "github.com/onsi/gomega"
)

func manager() Image {
	return Image{
		Name: "manager", Reference: "example.com/manager:v1.2.3", Version: "v1.2.3", Source: "https://example.com/sources",
		Programs: map[string][]byte{"amd64": []byte("for amd64"), "arm64": []byte("for arm64")},
	}
}

// files returns what is in a tar file, with the headers by name.
func files(g *WithT, content io.Reader) (map[string]*tar.Header, map[string][]byte) {
	headers, contents := map[string]*tar.Header{}, map[string][]byte{}
	reader := tar.NewReader(content)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return headers, contents
		}
		g.Expect(err).NotTo(HaveOccurred())
		headers[header.Name] = header
		contents[header.Name], err = io.ReadAll(reader)
		g.Expect(err).NotTo(HaveOccurred())
	}
}

// unpacked returns the images of an archive by architecture, as a container runtime reads them.
func unpacked(t *testing.T, archive []byte) map[string]v1.Image {
	g := NewWithT(t)
	folder := t.TempDir()
	_, contents := files(g, bytes.NewReader(archive))
	for name, content := range contents {
		path := filepath.Join(folder, name)
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(path, content, 0o600)).To(Succeed())
	}
	index, err := layout.ImageIndexFromPath(folder)
	g.Expect(err).NotTo(HaveOccurred())
	outer, err := index.IndexManifest()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(outer.Manifests).To(HaveLen(1))
	g.Expect(outer.Manifests[0].Annotations).To(HaveKeyWithValue(nameAnnotation, "example.com/manager:v1.2.3"))
	inner, err := index.ImageIndex(outer.Manifests[0].Digest)
	g.Expect(err).NotTo(HaveOccurred())
	manifest, err := inner.IndexManifest()
	g.Expect(err).NotTo(HaveOccurred())
	images := map[string]v1.Image{}
	for _, one := range manifest.Manifests {
		images[one.Platform.Architecture], err = inner.Image(one.Digest)
		g.Expect(err).NotTo(HaveOccurred())
	}
	return images
}

func TestArchive(t *testing.T) {
	g := NewWithT(t)
	archive, err := manager().Archive()
	g.Expect(err).NotTo(HaveOccurred())
	images := unpacked(t, archive)
	g.Expect(images).To(And(HaveLen(2), HaveKey("amd64"), HaveKey("arm64")))
	for architecture, image := range images {
		config, err := image.ConfigFile()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(config.OS + "/" + config.Architecture).To(Equal("linux/" + architecture))
		g.Expect(config.Config.User).To(Equal("65532:65532"), "a kubelet with runAsNonRoot wants a number")
		g.Expect(config.Config.Entrypoint).To(Equal([]string{"/manager"}))
		g.Expect(config.Config.Labels).To(HaveKeyWithValue("org.opencontainers.image.version", "v1.2.3"))
		layers, err := image.Layers()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(layers).To(HaveLen(1))
		layer, err := layers[0].Uncompressed()
		g.Expect(err).NotTo(HaveOccurred())
		headers, contents := files(g, layer)
		g.Expect(contents).To(HaveKeyWithValue("manager", []byte("for "+architecture)))
		g.Expect(headers["manager"].FileInfo().Mode().Perm()).To(Equal(fs.FileMode(0o755)))
		for name, header := range headers {
			g.Expect(header.ModTime.Unix()).To(BeZero(), name)
		}
		g.Expect(x509.NewCertPool().AppendCertsFromPEM(contents["etc/ssl/certs/ca-certificates.crt"])).To(BeTrue())
	}
}

func TestArchiveIsReproducible(t *testing.T) {
	g := NewWithT(t)
	first, err := manager().Archive()
	g.Expect(err).NotTo(HaveOccurred())
	second, err := manager().Archive()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bytes.Equal(first, second)).To(BeTrue())
	changed := manager()
	changed.Programs["arm64"] = []byte("another")
	third, err := changed.Archive()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bytes.Equal(first, third)).To(BeFalse())
}
