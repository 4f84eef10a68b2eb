//go:build integration

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

package instance

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// nodeArchive is the image of a node that make images writes.
const nodeArchive = "images/images/node-" + version + "-v0.1.0.tar"

// descriptor points at a part of an image, as OCI's image specification says.
type descriptor struct {
	MediaType string
	Digest    string
	Platform  struct{ Architecture string }
}

// manifest is what this test reads of indexes and manifests of images.
type manifest struct {
	Manifests []descriptor
	Layers    []descriptor
	Config    descriptor
}

// archive is the folder of an unpacked image layout.
type archive string

func (a archive) blob(d descriptor) string {
	return filepath.Join(string(a), "blobs", strings.ReplaceAll(d.Digest, ":", "/"))
}

func (a archive) decode(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// fromImage is an instance whose root is what is in the image of a node, and nothing of the host.
func fromImage(t *testing.T) plan {
	t.Helper()
	path := filepath.Join(bin(t), nodeArchive)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("write the image first (make images): %s", err)
	}
	a := archive(t.TempDir())
	extract(t, path, string(a), "-x")
	var index, images, image manifest
	a.decode(t, filepath.Join(string(a), "index.json"), &index)
	a.decode(t, a.blob(index.Manifests[0]), &images)
	own := slices.IndexFunc(images.Manifests, func(d descriptor) bool { return d.Platform.Architecture == runtime.GOARCH })
	if own < 0 {
		t.Fatalf("the image has nothing for %s: %+v", runtime.GOARCH, images.Manifests)
	}
	a.decode(t, a.blob(images.Manifests[own]), &image)
	var config struct {
		Config struct {
			User       string
			Entrypoint []string
			Env        []string
		}
	}
	a.decode(t, a.blob(image.Config), &config)
	if config.Config.User != "0:0" || !slices.Equal(config.Config.Env, []string{"PATH=" + searchPath}) {
		t.Errorf("the image is run with %+v", config.Config)
	}
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, layer := range image.Layers {
		extract(t, a.blob(layer), root, "-xz")
	}
	return plan{Root: root, First: config.Config.Entrypoint}
}

func extract(t *testing.T, path, folder, how string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "tar", "--numeric-owner", "-p", "-C", folder, how, "-f", path).CombinedOutput()
	if err != nil {
		t.Fatalf("unpack %s: %s: %s", path, err, out)
	}
}

// TestNodeImage boots a node from its image alone and lets it do all that one on the host's root does.
func TestNodeImage(t *testing.T) {
	p := fromImage(t)
	m := p.boot(t, testdata(t, "kubeadm-init.yaml"))
	m.bootstrapped(initLimit)
	m.expect("Debian GNU/Linux 13", 0, "cat", "/etc/os-release")
	m.expect(version, 0, "kubeadm", "version", "-o", "short")
	m.expect("Kubernetes "+version, 0, "kubelet", "--version")
	for _, absent := range []string{"/usr/bin/apt-get", "/usr/bin/bash"} {
		m.expect("", 1, "test", "-e", absent)
	}
	m.controlPlane(t)
	if _, err := os.Stat(filepath.Join(p.Root, "var/lib/etcd/member")); err == nil {
		t.Error("the instance wrote to the image")
	}
}
