// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"path"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

// Components are the contents of the images of a Kubernetes version, for one architecture.
type Components struct {
	// Architecture in Go's notation.
	Architecture string
	// Kubernetes is the layer with the programs of all control plane components and of kube-proxy.
	Kubernetes *Layer
	// System is the layer of the nodes' operating system, with the programs that kube-proxy calls.
	System *Layer
	// DNS, Pause and Flannel are the files of the programs that resolve names, hold the namespaces of
	// a pod, and connect the pods of all nodes.
	DNS, Pause, Flannel string
}

const (
	localFolder = "usr/local/bin"
	// flannelPath is the path of the program in flannel's own image.
	flannelPath = "opt/bin/flanneld"
	// pauseUser is the user of Kubernetes' pause image.
	pauseUser = "65535:65535"
)

// KubernetesLayer returns the layer for the programs of a version that KubernetesPrograms returned.
func KubernetesLayer(version string, programs []File) *Layer {
	return &Layer{Content: "Kubernetes " + version, Files: append(foundation(), in(localFolder, programs)...)}
}

// Image returns the image of a component by its reference in manifests, such as
// registry.k8s.io/etcd:3.6.8-0.
func (c Components) Image(reference string) (Image, error) {
	name, tag, found := strings.Cut(path.Base(reference), ":")
	if !found {
		return Image{}, fmt.Errorf("the image %q has no tag", reference)
	}
	image := Image{Title: name, Reference: reference, Version: tag, Environment: []string{"PATH=" + contract.SystemPath}, User: "0:0"}
	var layers []*Layer
	switch name {
	case "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler":
		image.Entrypoint, layers = []string{"/" + path.Join(localFolder, name)}, []*Layer{c.Kubernetes}
	case "kube-proxy":
		// The large layer is the lowest in all images, so that a machine stores it once.
		image.Entrypoint, layers = []string{"/" + path.Join(localFolder, name)}, []*Layer{c.Kubernetes, c.System}
	case "flannel":
		image.Entrypoint = []string{"/" + flannelPath}
		layers = []*Layer{c.Kubernetes, c.System, {Content: "flannel " + tag, Plain: c.Kubernetes.Plain, Files: []File{
			Program(flannelPath, c.Flannel),
		}}}
	case "coredns":
		image.Entrypoint, image.User = []string{"/coredns"}, programUser
		layers = []*Layer{{Content: "CoreDNS " + tag, Plain: c.Kubernetes.Plain, Files: []File{
			authorities(), Program("coredns", c.DNS),
		}}}
	case "pause":
		image.Entrypoint, image.User = []string{"/pause", "-P"}, pauseUser
		layers = []*Layer{{Content: "catatonit", Plain: c.Kubernetes.Plain, Files: []File{Program("pause", c.Pause)}}}
	default:
		return Image{}, fmt.Errorf("nothing here builds the image %s", reference)
	}
	image.Layers = map[string][]*Layer{c.Architecture: layers}
	return image, nil
}
