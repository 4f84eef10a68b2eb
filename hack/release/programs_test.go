// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

const kubernetesVersion = "v1.36.3"

// programsFolder returns a folder with a program for each image. Any Go program will do: it is a copy
// of gofmt.
func programsFolder(t *testing.T) string {
	t.Helper()
	g := NewWithT(t)
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	g.Expect(err).NotTo(HaveOccurred())
	content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "bin", "gofmt"))
	g.Expect(err).NotTo(HaveOccurred())
	folder := t.TempDir()
	for _, architecture := range []string{"amd64", "arm64"} {
		for _, name := range []string{
			"manager", "runtime-extension", "etcd-snapshot", "capi-conformance", "foonode", "kubernetes/v1.36.3/kubernetes", "kubernetes/v1.35.4/kubernetes",
			"system/opt/foo/runtime/bin/containerd", "foo", "foocloud", "tools/clusterctl", "tools/core", "tools/kubeadm-bootstrap", "tools/kubeadm-control-plane",
			"cert-manager/cert-manager-controller", "cert-manager/cert-manager-webhook", "cert-manager/cert-manager-cainjector",
		} {
			path := filepath.Join(folder, architecture, name)
			g.Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
			g.Expect(os.WriteFile(path, content, 0o700)).To(Succeed())
			if filepath.Base(name) == "kubernetes" {
				g.Expect(os.Symlink("kubernetes", filepath.Join(filepath.Dir(path), "kubelet"))).To(Succeed())
			}
		}
		packages := filepath.Join(folder, architecture, "system/var/lib/dpkg")
		g.Expect(os.MkdirAll(packages, 0o700)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(packages, "status"), []byte(smallStatus+architecture+"\n"), 0o600)).To(Succeed())
		documents := filepath.Join(folder, architecture, "system/usr/share/doc/small")
		g.Expect(os.MkdirAll(documents, 0o700)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(documents, "copyright"), []byte("Files: *\nLicense: GPL-2+\n"), 0o600)).To(Succeed())
	}
	return folder
}

// smallStatus is dpkg's list of an operating system of one package, but for its architecture.
const smallStatus = "Package: small\nVersion: 1:2.0+b1\nArchitecture: "

func TestReleaseWithImages(t *testing.T) {
	g := NewWithT(t)
	made := images{
		programs: programsFolder(t), architectures: []string{"amd64", "arm64"}, nodes: []string{kubernetesVersion, "v1.35.4"},
	}
	first, second := t.TempDir(), t.TempDir()
	g.Expect(run(release{sources: sources, version: version, output: first, images: made})).To(Succeed())
	g.Expect(run(release{sources: sources, version: version, output: second, images: made})).To(Succeed())
	one, other := contents(g, first), contents(g, second)
	for _, name := range []string{
		"images/manager-v0.1.0.tar", "sbom/manager-v0.1.0-amd64.cdx.json", "sbom/manager-v0.1.0-arm64.cdx.json",
		"images/etcd-snapshot-v0.1.0.tar", "sbom/etcd-snapshot-v0.1.0-amd64.cdx.json",
		"images/capi-conformance-v0.1.0.tar", "sbom/capi-conformance-v0.1.0-arm64.cdx.json",
		"images/runtime-extension-v0.1.0.tar", "sbom/runtime-extension-v0.1.0-amd64.cdx.json",
		"images/node-v1.36.3-v0.1.0.tar", "sbom/node-v1.36.3-v0.1.0-amd64.cdx.json", "sbom/node-v1.36.3-v0.1.0-arm64.cdx.json",
		"images/node-v1.35.4-v0.1.0.tar", "sbom/node-v1.35.4-v0.1.0-amd64.cdx.json", "sbom/node-v1.35.4-v0.1.0-arm64.cdx.json",
	} {
		g.Expect(one).To(HaveKey(name))
		g.Expect(bytes.Equal(one[name], other[name])).To(BeTrue(), name)
	}
	g.Expect(run(release{sources: sources, version: version, output: first})).To(Succeed())
	g.Expect(contents(g, first)).NotTo(HaveKey(HaveSuffix(".tar")), "images of other sources")
}

// A management cluster is installed from the folder alone: it has each image that the manifests name.
func TestReleaseWithProviders(t *testing.T) {
	g := NewWithT(t)
	made := images{
		programs: programsFolder(t), manifests: t.TempDir(), architectures: []string{"amd64"}, providers: []string{"cluster-api:v1.2.3", "cert-manager:v1.0.0"},
	}
	write := func(path, content string) {
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
	}
	write(filepath.Join(made.manifests, "cluster-api/metadata.yaml"), "kind: Metadata\n")
	write(filepath.Join(made.manifests, "cluster-api/core-components.yaml"),
		"kind: Deployment\n  image: gcr.io/k8s-staging-cluster-api/cluster-api-controller:main\n  imagePullPolicy: Always\n")
	write(filepath.Join(made.programs, "amd64/cert-manager/cert-manager.yaml"), "        image: \"registry.example/cert-manager-webhook:v1\"\n")
	files := repository.Files{}
	g.Expect(made.add(files, version)).To(Succeed())
	g.Expect(files).To(And(HaveKey("images/manager-v0.1.0.tar"), Not(HaveKey("images/capi-conformance-v0.1.0.tar")), HaveKey("cluster-api/v1.2.3/metadata.yaml"),
		HaveKey("cert-manager/v1.0.0/cert-manager.yaml")))
	g.Expect(string(files["cluster-api/v1.2.3/core-components.yaml"])).To(Equal(
		"kind: Deployment\n  image: registry.k8s.io/cluster-api/cluster-api-controller:v1.2.3\n  imagePullPolicy: IfNotPresent\n"))
	g.Expect(string(files["images/providers.tar"])).To(And(
		ContainSubstring(`"registry.k8s.io/cluster-api/cluster-api-controller:v1.2.3"`), ContainSubstring(`"registry.example/cert-manager-webhook:v1"`)))

	for _, provider := range []string{"cluster-api", "bootstrap-kubeadm:v1.2.3"} {
		made.providers = []string{provider}
		g.Expect(made.add(files, version)).To(MatchError(ContainSubstring(`provider "` + provider + `": want a name and version, and manifests in `)))
	}
	made.providers = []string{"cert-manager:v1.0.0"}
	g.Expect(os.Remove(filepath.Join(made.programs, "amd64/cert-manager/cert-manager-webhook"))).To(Succeed())
	g.Expect(made.add(files, version)).To(MatchError(ContainSubstring("cert-manager-webhook: no such file")))
}

func decodeBill(g *WithT, content []byte) *cyclonedx.BOM {
	bom := cyclonedx.NewBOM()
	g.Expect(cyclonedx.NewBOMDecoder(bytes.NewReader(content), cyclonedx.BOMFileFormatJSON).Decode(bom)).To(Succeed())
	g.Expect(bom.Metadata.Timestamp).To(BeEmpty())
	return bom
}

// An archive lists what it contains once, and has the text of each license.
func TestBillOfArchive(t *testing.T) {
	g := NewWithT(t)
	files := repository.Files{}
	programs := programsFolder(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Remove(filepath.Join(programs, "amd64/foo"))).To(Succeed())
	g.Expect(os.Symlink(self, filepath.Join(programs, "amd64/foo"))).To(Succeed())
	made := images{programs: programs, architectures: []string{"amd64"}, nodes: []string{kubernetesVersion, "v1.35.4"}, archives: true}
	g.Expect(made.add(files, version)).To(Succeed())
	bom := decodeBill(g, files["sbom/foo-v0.1.0-linux-amd64.cdx.json"])
	g.Expect(bom.Metadata.Component.PackageURL).To(Equal("pkg:github/capfoo/cluster-api-provider-foo@v0.1.0?arch=amd64"))
	g.Expect(*bom.Components).To(ContainElements(HaveField("Name", "github.com/blang/semver/v4"), And(
		HaveField("Name", "small"), HaveField("Licenses", HaveValue(Equal(cyclonedx.Licenses{{License: &cyclonedx.License{Name: "GPL-2+"}}}))))))
	references := map[string]bool{}
	for _, one := range *bom.Components {
		g.Expect(references).NotTo(HaveKey(one.BOMRef), "a component is there once")
		references[one.BOMRef] = true
	}
	texts := string(files["sbom/foo-v0.1.0-linux-amd64.licenses.txt"])
	g.Expect(texts).To(MatchRegexp(`(?s)github.com/blang/semver/v4 v[0-9.]+\n.*Permission is hereby granted, free of charge`))
	g.Expect(strings.Count(texts, "github.com/blang/semver/v4 v")).To(Equal(1))
}

func TestBillOfNode(t *testing.T) {
	g := NewWithT(t)
	files := repository.Files{}
	made := images{programs: programsFolder(t), architectures: []string{"arm64"}, nodes: []string{kubernetesVersion}}
	g.Expect(made.add(files, version)).To(Succeed())
	node := decodeBill(g, files["sbom/node-v1.36.3-v0.1.0-arm64.cdx.json"])
	const small = "pkg:deb/debian/small@1%3A2.0+b1?arch=arm64&distro=debian-13"
	subject := node.Metadata.Component
	g.Expect(subject.Version).To(Equal("v1.36.3-v0.1.0"))
	g.Expect(*node.Components).To(ContainElement(HaveField("PackageURL", small)))
	g.Expect(*node.Components).To(ContainElement(HaveField("Name", "stdlib")))
	dependents := map[string]bool{}
	for _, one := range *node.Dependencies {
		g.Expect(dependents).NotTo(HaveKey(one.Ref), "a program that is there under two names is listed once")
		dependents[one.Ref] = true
	}
	references := map[string]bool{}
	for _, one := range *node.Components {
		g.Expect(references).NotTo(HaveKey(one.BOMRef), "a component is there once")
		references[one.BOMRef] = true
	}
	g.Expect(*node.Dependencies).To(ContainElement(And(
		HaveField("Ref", subject.BOMRef), HaveField("Dependencies", HaveValue(ContainElements(Equal(small), HavePrefix("pkg:golang/")))))))
}

func TestImagesThatCanNotBeMade(t *testing.T) {
	folder := programsFolder(t)
	unlinked := programsFolder(t)
	NewWithT(t).Expect(os.Remove(filepath.Join(unlinked, "amd64/kubernetes/v1.36.3/kubelet"))).To(Succeed())
	noSystem := programsFolder(t)
	NewWithT(t).Expect(os.RemoveAll(filepath.Join(noSystem, "amd64/system"))).To(Succeed())
	good := images{programs: folder, architectures: []string{"amd64"}, nodes: []string{kubernetesVersion}}
	for name, test := range map[string]struct {
		spoil func(*images)
		want  string
	}{
		"no manager":      {func(i *images) { i.programs = t.TempDir() }, "make release builds it"},
		"no Kubernetes":   {func(i *images) { i.nodes = []string{"v1.2.3"} }, "make release builds them"},
		"no names":        {func(i *images) { i.programs = unlinked }, "has no links"},
		"no architecture": {func(i *images) { i.architectures = nil }, "no architecture for the images"},
		"no system":       {func(i *images) { i.programs = noSystem }, "system: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			spoiled := good
			test.spoil(&spoiled)
			output := filepath.Join(t.TempDir(), "out")
			g.Expect(run(release{sources: sources, version: version, output: output, images: spoiled})).To(MatchError(ContainSubstring(test.want)))
			g.Expect(output).NotTo(BeADirectory())
		})
	}
}
