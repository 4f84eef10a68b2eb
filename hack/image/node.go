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

import "path"

// Paths in an instance. The node agent and the local cloud know them too.
const (
	agentFolder      = "opt/foo/bin"
	kubernetesFolder = "opt/foo/kubernetes"
	kubernetesName   = "kubernetes"
	agentName        = "foonode"
	searchPath       = "/" + kubernetesFolder + ":/" + agentFolder + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// Node is what a node's image of one architecture is made of.
type Node struct {
	// Base is the operating system: the files of Debian packages.
	Base []File
	// Kubernetes is the program that is all Kubernetes programs, and Names are those by which it is called.
	Kubernetes []byte
	Names      []string
	// Agent is the program foonode.
	Agent []byte
}

// Nodes returns the image of a node with one version of Kubernetes, from what it is made of for each architecture.
//
// It is a machine and not a service: it runs as root, its first process is the node agent, and it needs what a machine has,
// namespaces of its own in which it may mount and may set up its network. docs/node-image.md says what. The layers are the
// operating system, Kubernetes and the agent, so that images of several versions share the first and the last.
func Nodes(release Release, kubernetesVersion string, nodes map[string]Node) Image {
	tag := kubernetesVersion + "-" + release.Version
	image := Image{
		Title:       "node",
		Description: "A machine of a Foo cluster with Kubernetes " + kubernetesVersion + ". It runs as root, and its first process is PID 1.",
		Reference:   release.Repository + "node:" + tag, Version: tag, Source: release.Source,
		User: "0:0", Entrypoint: []string{"/" + path.Join(agentFolder, agentName), "init"},
		Environment: []string{"PATH=" + searchPath},
		Layers:      map[string][]Layer{},
	}
	for architecture, node := range nodes {
		image.Layers[architecture] = []Layer{
			{Content: "the operating system", Files: append(system(), node.Base...)},
			{Content: "Kubernetes " + kubernetesVersion, Files: node.kubernetes()},
			{Content: "the node agent", Files: []File{
				Regular(path.Join(agentFolder, agentName), programMode, node.Agent),
				// The agent manages the kubelet, and answers when kubeadm calls systemctl.
				Link(path.Join(agentFolder, "systemctl"), agentName),
			}},
		}
	}
	return image
}

// system returns what a machine has beside its packages, most of which their maintainer scripts would have made.
func system() []File {
	return []File{
		Regular("etc/group", fileMode, []byte("root:x:0:\ntty:x:5:\nnogroup:x:65534:\n")),
		Regular("etc/passwd", fileMode, []byte("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n")),
		authorities(),
		Folder("etc/kubernetes", folderMode),
		Folder("var/lib/etcd", 0o700),
		Folder("var/lib/kubelet", folderMode),
	}
}

func (n Node) kubernetes() []File {
	files := make([]File, 0, len(n.Names)+1)
	files = append(files, Regular(path.Join(kubernetesFolder, kubernetesName), programMode, n.Kubernetes))
	for _, name := range n.Names {
		files = append(files, Link(path.Join(kubernetesFolder, name), kubernetesName))
	}
	return files
}
