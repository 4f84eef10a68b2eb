// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/capfoo/cluster-api-provider-foo/internal/image"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
	"github.com/capfoo/cluster-api-provider-foo/internal/sbom"
)

// Where sources and images are published, and the programs that are each an image.
const (
	sourceAddress    = "https://github.com/capfoo/cluster-api-provider-foo"
	imageRepository  = "ghcr.io/capfoo/cluster-api-provider-foo/"
	managerProgram   = "manager"
	extensionProgram = "runtime-extension"
	snapshotProgram  = "etcd-snapshot"
	// conformanceProgram checks any provider, so no management cluster needs it.
	conformanceProgram = "capi-conformance"
)

// images describes which images to build, and from what.
type images struct {
	// programs is the folder that hack/build-programs.sh and hack/build-store.sh fill with
	// <architecture>/<name>, <architecture>/kubernetes/<version> and <architecture>/system.
	programs string
	// architectures of all images, and Kubernetes versions of node images.
	architectures, nodes []string
	// archives says that there is an archive with the images of nodes for each architecture, and
	// providers that there are the other providers of a management cluster.
	archives, providers bool
}

// add adds all images, each with its bill of materials.
func (i images) add(files repository.Files, version string) error {
	if len(i.architectures) == 0 {
		return errors.New("no architecture for the images: name at least one")
	}
	published := image.Release{Repository: imageRepository, Version: version, Source: sourceAddress}
	bills := sbom.NewRelease(version, imageRepository)
	if err := i.addServices(files, published, bills); err != nil {
		return err
	}
	if i.providers {
		if err := i.addProviders(files); err != nil {
			return err
		}
	}
	if len(i.nodes) == 0 {
		return nil
	}
	nodes, err := i.readNodes()
	if err != nil {
		return err
	}
	if err := i.addNodes(files, published, nodes, bills); err != nil {
		return err
	}
	if !i.archives {
		return nil
	}
	return i.addBills(files, version, nodes, bills)
}

// addServices adds the images of programs that run in Pods.
func (i images) addServices(files repository.Files, published image.Release, bills sbom.Release) error {
	services := []string{managerProgram, extensionProgram, snapshotProgram}
	if !i.providers {
		services = append(services, conformanceProgram)
	}
	for _, name := range services {
		programs := map[string]string{}
		for _, architecture := range i.architectures {
			programs[architecture] = filepath.Join(i.programs, architecture, name)
			content, err := bills.Program(programs[architecture])
			if err != nil {
				return err
			}
			files[billFile(name, published.Version, architecture)] = content
		}
		if err := addArchive(files, name+"-"+published.Version, image.Service(published, name, programs)); err != nil {
			return err
		}
	}
	return nil
}

// addNodes adds the images of nodes.
func (i images) addNodes(files repository.Files, published image.Release, nodes map[string]map[string]sbom.Node, bills sbom.Release) error {
	for _, kubernetesVersion := range i.nodes {
		parts := map[string]image.Node{}
		for architecture, node := range nodes[kubernetesVersion] {
			parts[architecture] = node.Node
			content, err := bills.Node(kubernetesVersion, architecture, node)
			if err != nil {
				return err
			}
			files[billFile("node-"+kubernetesVersion, published.Version, architecture)] = content
		}
		if err := addArchive(files, "node-"+kubernetesVersion+"-"+published.Version, image.Nodes(published, kubernetesVersion, parts)); err != nil {
			return err
		}
	}
	return nil
}

// readNodes returns the nodes by their Kubernetes version and architecture.
func (i images) readNodes() (map[string]map[string]sbom.Node, error) {
	nodes := map[string]map[string]sbom.Node{}
	for _, architecture := range i.architectures {
		node := sbom.Node{Folder: filepath.Join(i.programs, architecture, "system")}
		node.Agent = filepath.Join(i.programs, architecture, "foonode")
		var err error
		if node.System, node.Packages, err = image.ReadSystem(node.Folder); err != nil {
			return nil, err
		}
		for _, kubernetesVersion := range i.nodes {
			if node.Kubernetes, err = image.KubernetesPrograms(filepath.Join(i.programs, architecture, "kubernetes", kubernetesVersion)); err != nil {
				return nil, err
			}
			if nodes[kubernetesVersion] == nil {
				nodes[kubernetesVersion] = map[string]sbom.Node{}
			}
			nodes[kubernetesVersion][architecture] = node
		}
	}
	return nodes, nil
}

// packedPrograms are the programs of an archive and of its images, without what runs in nodes.
var packedPrograms = []string{
	"foo", "foocloud", "foonode", managerProgram, extensionProgram,
	"tools/clusterctl", "tools/core", "tools/kubeadm-bootstrap", "tools/kubeadm-control-plane",
	"cert-manager/cert-manager-controller", "cert-manager/cert-manager-webhook", "cert-manager/cert-manager-cainjector",
}

// addBills adds the bill of materials of each architecture's archive, which hack/build-archive.sh
// makes.
func (i images) addBills(files repository.Files, version string, nodes map[string]map[string]sbom.Node, bills sbom.Release) error {
	for _, architecture := range i.architectures {
		programs := make([]string, 0, len(packedPrograms))
		for _, name := range packedPrograms {
			programs = append(programs, filepath.Join(i.programs, architecture, name))
		}
		parts := make([]sbom.Node, 0, len(i.nodes))
		for _, kubernetesVersion := range i.nodes {
			parts = append(parts, nodes[kubernetesVersion][architecture])
		}
		content, texts, err := bills.Archive(architecture, programs, parts)
		if err != nil {
			return err
		}
		name := "sbom/foo-" + version + "-linux-" + architecture
		files[name+".cdx.json"], files[name+".licenses.txt"] = content, texts
	}
	return nil
}

func addArchive(files repository.Files, name string, made image.Image) error {
	archive, err := made.Archive()
	if err != nil {
		return err
	}
	files["images/"+name+".tar"] = archive
	return nil
}

func billFile(name, version, architecture string) string {
	return fmt.Sprintf("sbom/%s-%s-%s.cdx.json", name, version, architecture)
}
