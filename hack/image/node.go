// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

// Node is what a node's image of one architecture is made of.
type Node struct {
	// System is the operating system with the images that its containers are made from, as hack/build-store.sh makes it.
	System []File
	// Kubernetes are the programs that Programs returns.
	Kubernetes []File
	// Agent is the program foonode.
	Agent []byte
}

// Nodes returns the image of a node with one version of Kubernetes, from what it is made of for each architecture.
//
// It is a machine and not a service: it runs as root, its first process is the node agent, and it needs what a machine has,
// namespaces of its own in which it may mount and may set up its network. docs/node-image.md says what. Images of several
// versions share the lowest layer, which has the operating system, and the highest, which has the agent.
func Nodes(release Release, kubernetesVersion string, nodes map[string]Node) Image {
	tag := kubernetesVersion + "-" + release.Version
	image := Image{
		Title:       "node",
		Description: "A machine of a Foo cluster with Kubernetes " + kubernetesVersion + ". It runs as root, and its first process is PID 1.",
		Reference:   release.Repository + "node:" + tag, Version: tag, Source: release.Source,
		User: "0:0", Entrypoint: []string{path.Join(contract.AgentDir, contract.AgentName), "init"},
		Environment: []string{"PATH=" + contract.SearchPath},
		Layers:      map[string][]*Layer{},
	}
	for architecture, node := range nodes {
		system, store := splitStore(node.System)
		image.Layers[architecture] = []*Layer{
			{Content: "the operating system and containerd", Files: system},
			// In one layer, programs in containers and on the node stay hard links of one file, so that a machine has them in
			// memory once.
			{
				Content: "Kubernetes " + kubernetesVersion + " and images",
				Files:   append(in(inLayer(contract.KubernetesDir), node.Kubernetes), store...),
			},
			{Content: "the node agent", Files: []File{
				Regular(inLayer(contract.AgentDir, contract.AgentName), programMode, node.Agent),
				// The agent manages the kubelet, and answers when kubeadm calls systemctl.
				Link(inLayer(contract.AgentDir, "systemctl"), contract.AgentName),
			}},
		}
	}
	return image
}

// splitStore separates the images that containers are made from.
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

// inLayer returns the path of a file of a node as a layer has it.
func inLayer(elements ...string) string { return strings.TrimPrefix(path.Join(elements...), "/") }

// Programs returns the programs of a Kubernetes version, and the links to them by which they are called, from the folder that
// hack/build-node.sh wrote. Their paths are their names.
func Programs(folder string) ([]File, error) {
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
		files = append(files, File{Path: entry.Name(), Kind: tar.TypeReg, Mode: programMode, Source: path})
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
