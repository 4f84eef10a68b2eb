//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttest

import (
	"archive/tar"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// releasedNode returns the image of a node as a release has it.
func releasedNode() v1.Image {
	GinkgoHelper()
	archive, err := filepath.Abs("../../../bin/images/images/node-" + version + "-v0.1.0.tar")
	Expect(err).NotTo(HaveOccurred())
	Expect(archive).To(BeAnExistingFile(), "make images writes it")
	folder, err := os.MkdirTemp(programs.folder, "layout-")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, folder)
	output, err := exec.Command("tar", "-C", folder, "-xf", archive).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(output))
	index, err := layout.ImageIndexFromPath(folder)
	Expect(err).NotTo(HaveOccurred())
	outer, err := index.IndexManifest()
	Expect(err).NotTo(HaveOccurred())
	Expect(outer.Manifests).To(HaveLen(1))
	index, err = index.ImageIndex(outer.Manifests[0].Digest)
	Expect(err).NotTo(HaveOccurred())
	inner, err := index.IndexManifest()
	Expect(err).NotTo(HaveOccurred())
	at := slices.IndexFunc(inner.Manifests, func(one v1.Descriptor) bool { return one.Platform.Architecture == runtime.GOARCH })
	Expect(at).To(BeNumerically(">=", 0), "the release is for this machine's architecture")
	image, err := index.Image(inner.Manifests[at].Digest)
	Expect(err).NotTo(HaveOccurred())
	return image
}

// unpackNode unpacks the image of a release and returns the folder.
func unpackNode() string {
	GinkgoHelper()
	folder := filepath.Join(programs.folder, "node")
	Expect(os.Mkdir(folder, 0o755)).To(Succeed())
	DeferCleanup(os.RemoveAll, folder)
	content := mutate.Extract(releasedNode())
	defer func() { _ = content.Close() }()
	unpack := exec.Command("tar", "-C", folder, "--numeric-owner", "-xp")
	unpack.Stdin = content
	output, err := unpack.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(output))
	return folder
}

// file describes a file, folder or link of a root, but not its times.
type file struct {
	mode        fs.FileMode
	user, group int
	target      string
	sum         [sha256.Size]byte
}

// filesOf returns the files in a tar file by path. A hard link is described like its target.
func filesOf(content io.Reader) map[string]file {
	GinkgoHelper()
	files, links := map[string]file{}, map[string]string{}
	reader := tar.NewReader(content)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		Expect(err).NotTo(HaveOccurred())
		name := path.Clean("/" + header.Name)
		if header.Typeflag == tar.TypeLink {
			links[name] = path.Clean("/" + header.Linkname)
			continue
		}
		hash := sha256.New()
		_, err = io.Copy(hash, reader)
		Expect(err).NotTo(HaveOccurred())
		files[name] = file{
			mode: header.FileInfo().Mode(), user: header.Uid, group: header.Gid, target: header.Linkname, sum: [sha256.Size]byte(hash.Sum(nil)),
		}
	}
	for name, target := range links {
		Expect(files).To(HaveKey(target), name)
		files[name] = files[target]
	}
	// An image does not describe the root folder itself.
	delete(files, "/")
	return files
}

// rootOf returns the files of an instance's root, without those that identify the instance.
func (d *daemon) rootOf(id string) map[string]file {
	GinkgoHelper()
	layers := readFile(filepath.Join(d.state, "instances", id, "layers"))
	identity, shared, found := strings.Cut(layers, ":")
	Expect(found).To(BeTrue(), layers)
	Expect(identity).To(HaveSuffix("/identity"))
	pack := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-ec",
		`mount -t overlay overlay -o "lowerdir=$1" "$2"; exec tar -C "$2" --numeric-owner -c .`, "sh", shared, GinkgoT().TempDir())
	content, err := pack.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	pack.Stderr = GinkgoWriter
	Expect(pack.Start()).To(Succeed())
	files := filesOf(content)
	Expect(pack.Wait()).To(Succeed())
	return files
}

// differences says which files two roots do not share.
func differences(image, root map[string]file) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(image)) {
		if other, there := root[name]; !there {
			found = append(found, name+" is only in the image")
		} else if other != image[name] {
			found = append(found, fmt.Sprintf("%s is %+v in the image and %+v in the instance", name, image[name], other))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(root)) {
		if _, there := image[name]; !there {
			found = append(found, name+" is only in the instance")
		}
	}
	return found
}

var _ = Describe("the node image of a release", func() {
	It("has the same files as the root of an instance", func(ctx SpecContext) {
		bin, err := filepath.Abs("../../../bin")
		Expect(err).NotTo(HaveOccurred())
		d := newDaemon("--system-dir", filepath.Join(bin, "system"), "--images-dir", filepath.Join(bin, "kubernetes"), "--agent", filepath.Join(bin, "foonode"))
		made, err := d.client.EnsureInstance(ctx, spec("one", ""))
		Expect(err).NotTo(HaveOccurred())
		d.awaitState(ctx, made.ID, cloud.InstanceRunning)
		content := mutate.Extract(releasedNode())
		defer func() { _ = content.Close() }()
		image, root := filesOf(content), d.rootOf(made.ID)
		Expect(differences(image, root)).To(BeEmpty())

		for _, name := range []string{
			"/usr/bin/crun", "/usr/lib/cni/ptp", "/opt/foo/runtime/bin/containerd", "/etc/containerd/config.toml", "/opt/foo/store/id",
			"/opt/foo/kubernetes/kubelet", "/opt/foo/bin/foonode",
		} {
			Expect(image).To(HaveKey(name))
			without := maps.Clone(image)
			delete(without, name)
			Expect(differences(without, root)).To(Equal([]string{name + " is only in the instance"}))
			Expect(differences(image, without)).To(Equal([]string{name + " is only in the image"}))
			changed := image[name]
			changed.mode ^= 0o001
			without[name] = changed
			Expect(differences(without, root)).To(ConsistOf(HavePrefix(name + " is ")))
		}
	})
})
