// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	. "github.com/onsi/gomega"
)

var published = Release{Repository: "example.com/", Version: "v1.2.3", Source: "https://example.com/sources"}

// programs returns a program for each architecture.
func programs(t *testing.T) map[string]string {
	t.Helper()
	folder, files := t.TempDir(), map[string]string{}
	for _, architecture := range []string{"amd64", "arm64"} {
		files[architecture] = filepath.Join(folder, architecture)
		NewWithT(t).Expect(os.WriteFile(files[architecture], []byte("for "+architecture), 0o600)).To(Succeed())
	}
	return files
}

func manager(t *testing.T) Image { return Service(published, "manager", programs(t)) }

func node(t *testing.T, kubernetesVersion string) Image {
	nodes := map[string]Node{}
	for architecture, program := range programs(t) {
		nodes[architecture] = Node{
			System: []File{
				Folder("usr", 0o755), Regular("usr/bin/dash", 0o755, []byte("shell")), Link("usr/bin/sh", "dash"),
				Regular("opt/foo/runtime/bin/containerd", 0o755, []byte("containerd")), Folder("opt/foo/store", 0o755),
				Regular("opt/foo/store/id", 0o644, []byte("1")), Regular("opt/foo/stores", 0o644, nil),
			},
			Kubernetes: []File{
				Regular("kubernetes", 0o755, []byte(kubernetesVersion+" for "+architecture)), Link("kubelet", "kubernetes"), Link("kubeadm", "kubernetes"),
			},
			Agent: program,
		}
	}
	return Nodes(published, kubernetesVersion, nodes)
}

// files returns the contents and headers of a tar file by name.
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

// unpacked returns the images in an image's archive, by architecture.
func unpacked(t *testing.T, image Image) map[string]v1.Image {
	g := NewWithT(t)
	archive, err := image.Archive()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(nameOf(t, archive)).To(Equal(image.Reference))
	return imagesOf(t, archive)
}

// indexOf returns the only entry of an archive, and the index that contains it.
func indexOf(t *testing.T, archive []byte) (v1.ImageIndex, v1.Descriptor) {
	t.Helper()
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
	return index, outer.Manifests[0]
}

// nameOf returns the name that a container runtime gives the imported image.
func nameOf(t *testing.T, archive []byte) string {
	t.Helper()
	_, entry := indexOf(t, archive)
	return entry.Annotations[nameAnnotation]
}

// imagesOf returns the images of an archive by architecture, as a container runtime would read
// them.
func imagesOf(t *testing.T, archive []byte) map[string]v1.Image {
	t.Helper()
	g := NewWithT(t)
	index, entry := indexOf(t, archive)
	inner, err := index.ImageIndex(entry.Digest)
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

func TestManager(t *testing.T) {
	g := NewWithT(t)
	images := unpacked(t, manager(t))
	g.Expect(images).To(And(HaveLen(2), HaveKey("amd64"), HaveKey("arm64")))
	for architecture, image := range images {
		config, err := image.ConfigFile()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(config.OS + "/" + config.Architecture).To(Equal("linux/" + architecture))
		g.Expect(config.Config.User).To(Equal("65532:65532"), "runAsNonRoot requires a numeric user")
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

func TestNode(t *testing.T) {
	g := NewWithT(t)
	images := unpacked(t, node(t, "v1.36.3"))
	g.Expect(images).To(And(HaveLen(2), HaveKey("amd64"), HaveKey("arm64")))
	config, err := images["arm64"].ConfigFile()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config.Config.User).To(Equal("0:0"), "it is a machine")
	g.Expect(config.Config.Labels).To(HaveKeyWithValue("org.opencontainers.image.description", ContainSubstring("runs as root")))
	g.Expect(config.Config.Entrypoint).To(Equal([]string{"/opt/foo/bin/foonode", "init"}))
	g.Expect(config.Config.Env).To(ContainElement(HavePrefix("PATH=/opt/foo/kubernetes:/opt/foo/bin:")))
	layers, err := images["arm64"].Layers()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(layers).To(HaveLen(3))
	headers, contents, lowest := map[string]*tar.Header{}, map[string][]byte{}, map[string]int{}
	for i, layer := range layers {
		content, err := layer.Uncompressed()
		g.Expect(err).NotTo(HaveOccurred())
		h, c := files(g, content)
		maps.Copy(headers, h)
		maps.Copy(contents, c)
		for name := range c {
			if _, found := lowest[name]; !found {
				lowest[name] = i
			}
		}
	}
	for name, layer := range map[string]int{
		"usr/bin/dash": 0, "opt/foo/runtime/bin/containerd": 0, "opt/foo/stores": 0, "opt/foo/store/": 1, "opt/foo/store/id": 1,
		"opt/foo/kubernetes/kubernetes": 1, "opt/foo/bin/foonode": 2,
	} {
		g.Expect(lowest).To(HaveKeyWithValue(name, layer))
	}
	g.Expect(contents).To(HaveKeyWithValue("opt/foo/kubernetes/kubernetes", []byte("v1.36.3 for arm64")))
	g.Expect(contents).To(HaveKeyWithValue("opt/foo/bin/foonode", []byte("for arm64")))
	for link, target := range map[string]string{
		"opt/foo/kubernetes/kubeadm": "kubernetes", "opt/foo/bin/systemctl": "foonode", "usr/bin/sh": "dash",
	} {
		g.Expect(headers).To(HaveKeyWithValue(link, HaveField("Linkname", target)), link)
	}
	for _, folder := range []string{"usr/bin/", "opt/foo/bin/"} {
		g.Expect(headers).To(HaveKey(folder), "missing parent folders are created")
	}
}

func TestNodesOfSeveralVersionsShareLayers(t *testing.T) {
	g := NewWithT(t)
	digests := func(image Image) []v1.Hash {
		layers, err := unpacked(t, image)["amd64"].Layers()
		g.Expect(err).NotTo(HaveOccurred())
		var all []v1.Hash
		for _, layer := range layers {
			digest, err := layer.Digest()
			g.Expect(err).NotTo(HaveOccurred())
			all = append(all, digest)
		}
		return all
	}
	one, other := digests(node(t, "v1.36.3")), digests(node(t, "v1.35.4"))
	g.Expect(one[0]).To(Equal(other[0]), "the operating system")
	g.Expect(one[1]).NotTo(Equal(other[1]), "Kubernetes")
	g.Expect(one[2]).To(Equal(other[2]), "the agent")
}

func TestArchiveIsReproducible(t *testing.T) {
	for name, image := range map[string]func() Image{
		"manager": func() Image { return manager(t) }, "node": func() Image { return node(t, "v1.36.3") },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			first, err := image().Archive()
			g.Expect(err).NotTo(HaveOccurred())
			shuffled := image()
			for _, layers := range shuffled.Layers {
				for _, layer := range layers {
					slices.Reverse(layer.Files)
				}
			}
			second, err := shuffled.Archive()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(bytes.Equal(first, second)).To(BeTrue(), "the order of files does not matter")
			changed := image()
			changed.Layers["arm64"][0].Files = append(changed.Layers["arm64"][0].Files, Regular("another", 0o644, nil))
			third, err := changed.Archive()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(bytes.Equal(first, third)).To(BeFalse())
		})
	}
}

// A machine reads a program into memory once, although it is on the node and in containers.
func TestSourcesStayHardLinks(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	source, link, other := filepath.Join(folder, "etcd"), filepath.Join(folder, "link"), filepath.Join(folder, "other")
	g.Expect(os.WriteFile(source, []byte("program"), 0o600)).To(Succeed())
	g.Expect(os.Link(source, link)).To(Succeed())
	g.Expect(os.WriteFile(other, []byte("program"), 0o600)).To(Succeed())
	image := Nodes(published, "v1.36.3", map[string]Node{"amd64": {
		Agent:      other,
		Kubernetes: []File{{Path: "etcd", Kind: tar.TypeReg, Mode: 0o755, Source: source}},
		System: []File{
			{Path: "opt/foo/store/snapshots/1/fs/etcd", Kind: tar.TypeReg, Mode: 0o755, Source: link},
			{Path: "opt/foo/store/other", Kind: tar.TypeReg, Mode: 0o644, Source: other},
		},
	}})
	layers, err := unpacked(t, image)["amd64"].Layers()
	g.Expect(err).NotTo(HaveOccurred())
	content, err := layers[1].Uncompressed()
	g.Expect(err).NotTo(HaveOccurred())
	headers, contents := files(g, content)
	g.Expect(contents).To(And(HaveKeyWithValue("opt/foo/kubernetes/etcd", []byte("program")), HaveKeyWithValue("opt/foo/store/other", []byte("program"))))
	g.Expect(headers["opt/foo/store/snapshots/1/fs/etcd"]).To(And(
		HaveField("Typeflag", BeEquivalentTo(tar.TypeLink)), HaveField("Linkname", "opt/foo/kubernetes/etcd"), HaveField("Size", BeZero())))

	g.Expect(os.Remove(other)).To(Succeed())
	_, err = image.Archive()
	g.Expect(err).NotTo(HaveOccurred(), "what is made stays")
	image.Layers["amd64"] = []*Layer{{Content: "gone", Files: []File{{Path: "other", Kind: tar.TypeReg, Source: other}}}}
	_, err = image.Archive()
	g.Expect(err).To(MatchError(os.ErrNotExist))
}

func TestWrongLayersAreRefused(t *testing.T) {
	for want, files := range map[string][]File{
		`"/etc" is not below the root`: {Folder("/etc", 0o755)},
		`"" is not below the root`:     {Folder("", 0o755)},
		`"a/../b" is not below`:        {Regular("a/../b", 0o644, nil)},
		"etc/passwd occurs twice":      {Regular("etc/passwd", 0o644, nil), Regular("etc/passwd", 0o644, nil)},
	} {
		image := manager(t)
		image.Layers["amd64"] = []*Layer{{Content: "wrong", Files: files}}
		_, err := image.Archive()
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)))
	}
}
