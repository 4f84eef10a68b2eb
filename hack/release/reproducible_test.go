// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// small holds sources with the same folders as Foo's, which the scripts build in seconds.
var small = map[string]string{
	"go.mod":             "module example.com/small\n\ngo 1.26.0\n",
	"main.go":            "package main\n\nfunc main() { println(1.5) }\n",
	"conformance/go.mod": "module example.com/small/conformance\n\ngo 1.26.0\n",
	"conformance/cmd/capi-conformance/main.go": "package main\n\nfunc main() { println(15.5) }\n",
	"cmd/etcd-snapshot/main.go":                "package main\n\nfunc main() { println(3.5) }\n",
	"cmd/foocloud/main.go":                     "package main\n\nfunc main() { println(13.5) }\n",
	"cmd/foo/main.go":                          "package main\n\nfunc main() { println(14.5) }\n",
	"cmd/runtime-extension/main.go":            "package main\n\nfunc main() { println(2.5) }\n",
	"node/agent/go.mod":                        "module example.com/small/agent\n\ngo 1.26.0\n",
	"node/agent/main.go":                       "package main\n\nfunc main() { println(3.5) }\n",
	"node/kubernetes/go.mod":                   smallNode("v1.36.3"),
	"node/kubernetes/v1.35.mod":                smallNode("v1.35.4"),
	"node/kubernetes/main.go":                  "package main\n\nimport _ \"k8s.io/kubernetes\"\n\nfunc main() { println(4.5) }\n",
	"node/kubernetes/fake/go.mod":              "module k8s.io/kubernetes\n\ngo 1.26.0\n",
	"node/kubernetes/fake/fake.go":             "package kubernetes\n",
	"node/kubernetes/fake/cmd/kubectl/main.go": "package main\n\nfunc main() { println(5.5) }\n",
	"node/kubernetes/etcd/go.mod":              "module go.etcd.io/etcd/server/v3\n\ngo 1.26.0\n",
	"node/kubernetes/etcd/main.go":             "package main\n\nfunc main() { println(6.5) }\n",
	"node/kubernetes/etcdctl/go.mod":           "module go.etcd.io/etcd/etcdctl/v3\n\ngo 1.26.0\n",
	"node/kubernetes/etcdctl/main.go":          "package main\n\nfunc main() { println(7.5) }\n",

	"node/runtime/go.mod":                                   required("github.com/containerd/containerd/v2", "v2.4.2"),
	"node/runtime/fake/go.mod":                              "module github.com/containerd/containerd/v2\n\ngo 1.26.0\n",
	"node/runtime/fake/cmd/containerd/main.go":              "package main\n\nfunc main() { println(8.5) }\n",
	"node/runtime/fake/cmd/containerd-shim-runc-v2/main.go": "package main\n\nfunc main() { println(9.5) }\n",
	"node/runtime/fake/cmd/ctr/main.go":                     "package main\n\nfunc main() { println(10.5) }\n",
	"node/coredns/go.mod":                                   required("github.com/coredns/coredns", "v1.14.2"),
	"node/coredns/main.go":                                  "package main\n\nimport _ \"github.com/coredns/coredns\"\n\nfunc main() { println(11.5) }\n",
	"node/coredns/fake/go.mod":                              "module github.com/coredns/coredns\n\ngo 1.26.0\n",
	"node/coredns/fake/fake.go":                             "package coredns\n",
	"node/flannel/go.mod":                                   required("github.com/flannel-io/flannel", "v0.28.10"),
	"node/flannel/main.go":                                  "package main\n\nimport _ \"github.com/flannel-io/flannel\"\n\nfunc main() { println(12.5) }\n",
	"node/flannel/fake/go.mod":                              "module github.com/flannel-io/flannel\n\ngo 1.26.0\n",
	"node/flannel/fake/fake.go":                             "package flannel\n",
	"hack/tools/go.mod":                                     required("sigs.k8s.io/cluster-api", "v1.14.2"),
	"hack/tools/fake/go.mod":                                "module sigs.k8s.io/cluster-api\n\ngo 1.26.0\n",
	"hack/tools/fake/core/main.go":                          "package main\n\nfunc main() { println(15.5) }\n",
	"hack/tools/fake/bootstrap/kubeadm/main.go":             "package main\n\nfunc main() { println(16.5) }\n",
	"hack/tools/fake/controlplane/kubeadm/main.go":          "package main\n\nfunc main() { println(17.5) }\n",
	"hack/tools/fake/cmd/clusterctl/main.go":                "package main\n\nfunc main() { println(18.5) }\n",
}

// smallNode returns the module file of a Kubernetes version.
func smallNode(kubernetes string) string {
	return "module example.com/small/node\n\ngo 1.26.0\n\n" +
		"require (\n\tk8s.io/kubernetes " + kubernetes + "\n\tgo.etcd.io/etcd/server/v3 v3.6.8\n\tgo.etcd.io/etcd/etcdctl/v3 v3.6.8\n)\n\n" +
		"replace (\n\tk8s.io/kubernetes => ./fake\n\tgo.etcd.io/etcd/server/v3 => ./etcd\n\tgo.etcd.io/etcd/etcdctl/v3 => ./etcdctl\n)\n"
}

// required returns a module file that has a module replaced by the folder fake.
func required(module, version string) string {
	return fmt.Sprintf("module example.com/small\n\ngo 1.26.0\n\nrequire %[1]s %[2]s\n\nreplace %[1]s => ./fake\n", module, version)
}

// A user who verifies a release builds it from an archive and with different settings than the
// publisher, who built it from a tagged clone.
func TestProgramsAreReproducible(t *testing.T) {
	g := NewWithT(t)
	archive, clone := smallSources(t), smallSources(t)
	for _, args := range [][]string{
		{"init", "--quiet"}, {"add", "."}, {"-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=small"}, {"tag", version},
	} {
		execute(t, clone, "git", args...)
	}
	first := buildSmall(t, archive, "GOFLAGS=", "GOAMD64=v1")
	second := buildSmall(t, clone, "GOFLAGS=-buildvcs=true -tags=other", "GOAMD64=v3")
	for _, name := range []string{
		"manager", "runtime-extension", "etcd-snapshot", "capi-conformance", "foonode", "kubernetes/v1.36.3/kubernetes", "kubernetes/v1.36.3/etcd", "kubernetes/v1.36.3/kubectl",
		"kubernetes/v1.35.4/kubernetes", "kubernetes/v1.35.4/etcd", "kubernetes/v1.35.4/kubectl",
		"foo", "foocloud", "tools/core", "tools/kubeadm-bootstrap", "tools/kubeadm-control-plane", "tools/clusterctl", "runtime/containerd", "runtime/coredns/v1.14.2/coredns", "runtime/flannel/v0.28.10/flanneld",
	} {
		g.Expect(first).To(HaveKey(name))
		g.Expect(second[name]).To(Equal(first[name]), name)
	}
}

// smallSources writes these sources together with what builds a release.
func smallSources(t *testing.T) string {
	t.Helper()
	g := NewWithT(t)
	files := maps.Clone(small)
	for _, name := range []string{"Makefile", "hack/build-node.sh", "hack/reproducible.sh"} {
		content, err := os.ReadFile(filepath.Join(sources, name))
		g.Expect(err).NotTo(HaveOccurred())
		files[name] = string(content)
	}
	folder := t.TempDir()
	for path, content := range files {
		g.Expect(os.MkdirAll(filepath.Dir(filepath.Join(folder, path)), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(folder, path), []byte(content), 0o700)).To(Succeed())
	}
	return folder
}

// buildSmall builds a release's programs with a user's settings, and returns the sum of each.
func buildSmall(t *testing.T, folder string, settings ...string) map[string][sha256.Size]byte {
	t.Helper()
	// The test itself may run in make.
	execute(t, folder, "env", append(settings, "MAKEFLAGS=", "make", "programs-amd64", "VERSION="+version)...)
	g := NewWithT(t)
	sums := map[string][sha256.Size]byte{}
	for path, content := range contents(g, filepath.Join(folder, "bin/programs/amd64")) {
		sums[path] = sha256.Sum256(content)
	}
	return sums
}

func execute(t *testing.T, folder, program string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = folder
	out, err := command.CombinedOutput()
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), string(out))
}
