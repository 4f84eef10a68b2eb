// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

// programUser is the non-root user that images of Kubernetes programs commonly use.
const programUser = "65532:65532"

// Release identifies the release and the sources of an image.
type Release struct {
	// Repository is where images are published, without name and tag and with a trailing slash.
	Repository string
	// Version of the release.
	Version string
	// Source is the address of the sources.
	Source string
}

func (r Release) image(name, tag string) Image {
	return Image{
		Title: name, Reference: r.Repository + name + ":" + tag, Version: tag, Source: r.Source, Layers: map[string][]*Layer{},
	}
}

// Service returns the image of one static program, given by its file for each architecture, with
// certificate authorities and nothing else. It runs as a non-root user, and its root can be
// read-only. It has no shell, no libraries and no time zones.
func Service(release Release, name string, programs map[string]string) Image {
	image := release.image(name, release.Version)
	image.User, image.Entrypoint = programUser, []string{"/" + name}
	for architecture, program := range programs {
		image.Layers[architecture] = []*Layer{{
			Content: name + " and certificate authorities", Files: append(foundation(), Program(name, program)),
		}}
	}
	return image
}

// foundation returns the files that programs expect in an image without an operating system.
func foundation() []File {
	return []File{
		Regular("etc/group", fileMode, []byte("root:x:0:\nnonroot:x:65532:\n")),
		Regular("etc/passwd", fileMode, []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")),
		authorities(),
		Folder("tmp", 0o1777),
	}
}

// Node is the content of a node's image for one architecture.
type Node struct {
	// System is the operating system with the images of its containers, as hack/build-store.sh
	// completes it.
	System []File
	// Kubernetes are the programs that KubernetesPrograms returns.
	Kubernetes []File
	// Agent is the file of the program foonode.
	Agent string
}

// Nodes returns the image of a node with one version of Kubernetes, from its content for each
// architecture.
//
// It is a machine and not a service: it runs as root, its first process is the node agent, and it
// needs its own namespaces, in which it mounts and configures its network; see docs/node-image.md.
// Images of several versions share the lowest layer, the operating system, and the highest, the
// agent.
func Nodes(release Release, kubernetesVersion string, nodes map[string]Node) Image {
	image := release.image("node", kubernetesVersion+"-"+release.Version)
	image.Description = "A machine of a Foo cluster with Kubernetes " + kubernetesVersion + ". It runs as root, and its first process is PID 1."
	image.User, image.Entrypoint = "0:0", []string{path.Join(contract.AgentDir, contract.AgentName), "init"}
	image.Environment = []string{"PATH=" + contract.SearchPath}
	for architecture, node := range nodes {
		system, store := splitStore(node.System)
		image.Layers[architecture] = []*Layer{
			{Content: "the operating system and containerd", Files: system},
			// In one layer, programs in containers and on the node stay hard links of one file, so a
			// machine has them in memory once.
			{
				Content: "Kubernetes " + kubernetesVersion + " and images",
				Files:   append(in(inLayer(contract.KubernetesDir), node.Kubernetes), store...),
			},
			{Content: "the node agent", Files: []File{
				Program(inLayer(contract.AgentDir, contract.AgentName), node.Agent),
				// The agent manages the kubelet, and answers when kubeadm calls systemctl.
				Link(inLayer(contract.AgentDir, "systemctl"), contract.AgentName),
			}},
		}
	}
	return image
}

// splitStore separates the images of containers.
func splitStore(files []File) (system, store []File) {
	folder := inLayer(contract.StoreDir)
	for _, file := range files {
		if file.Path == folder || strings.HasPrefix(file.Path, folder+"/") {
			store = append(store, file)
		} else {
			system = append(system, file)
		}
	}
	return system, store
}

// inLayer returns the path in a layer of a file of a node.
func inLayer(elements ...string) string { return strings.TrimPrefix(path.Join(elements...), "/") }

// KubernetesPrograms returns the programs of a Kubernetes version, and the links by which they are
// called, from the folder that hack/build-node.sh wrote. Their paths are their names.
func KubernetesPrograms(folder string) ([]File, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read Kubernetes' programs (make programs or make release builds them): %w", err)
	}
	files, links := make([]File, 0, len(entries)), 0
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		if target, err := os.Readlink(path); err == nil {
			files = append(files, Link(entry.Name(), target))
			links++
			continue
		}
		files = append(files, Program(entry.Name(), path))
	}
	if links == 0 {
		return nil, fmt.Errorf("%s has no links, by which programs are called: hack/build-node.sh makes them", folder)
	}
	return files, nil
}

// in returns files as they are in a folder.
func in(folder string, files []File) []File {
	moved := slices.Clone(files)
	for i := range moved {
		moved[i].Path = path.Join(folder, moved[i].Path)
	}
	return moved
}
