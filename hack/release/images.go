// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
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
	// programs is the folder with <architecture>/<name>, <architecture>/kubernetes/<version> and
	// <architecture>/system; manifests has the manifests of other providers.
	programs, manifests string
	// architectures of all images, and Kubernetes versions of node images. providers are the other
	// providers of a management cluster, each as name:version.
	architectures, nodes, providers []string
	// archives says that there is an archive with the images of nodes for each architecture.
	archives bool
}

// add adds all images, each with its bill of materials.
func (i images) add(files repository.Files, version string) (err error) {
	if len(i.architectures) == 0 {
		return errors.New("no architecture for the images: name at least one")
	}
	published := image.Release{Repository: imageRepository, Version: version, Source: sourceAddress}
	bills := sbom.NewRelease(version, imageRepository)
	services := []string{managerProgram, extensionProgram, snapshotProgram}
	if len(i.providers) == 0 {
		services = append(services, conformanceProgram)
	}
	for _, name := range services {
		programs := map[string]string{}
		for _, architecture := range i.architectures {
			programs[architecture] = i.file(architecture, name)
			if files["sbom/"+name+"-"+version+"-"+architecture+".cdx.json"], err = bills.Program(programs[architecture]); err != nil {
				return err
			}
		}
		if files["images/"+name+"-"+version+".tar"], err = image.Service(published, name, programs).Archive(); err != nil {
			return err
		}
	}
	return errors.Join(i.addProviders(files), i.addNodes(files, published, bills))
}

// addNodes adds the images of nodes, and the bill of materials of each architecture's archive.
func (i images) addNodes(files repository.Files, published image.Release, bills sbom.Release) error {
	all := map[string][]sbom.Node{}
	for _, version := range i.nodes {
		name := "node-" + version + "-" + published.Version
		parts := map[string]image.Node{}
		for _, architecture := range i.architectures {
			node, err := i.readNode(architecture, version)
			if err != nil {
				return err
			}
			parts[architecture], all[architecture] = node.Node, append(all[architecture], node)
			if files["sbom/"+name+"-"+architecture+".cdx.json"], err = bills.Node(version, architecture, node); err != nil {
				return err
			}
		}
		var err error
		if files["images/"+name+".tar"], err = image.Nodes(published, version, parts).Archive(); err != nil {
			return err
		}
	}
	if !i.archives {
		return nil
	}
	for architecture, nodes := range all {
		content, texts, err := bills.Archive(architecture, i.packed(architecture), nodes)
		if err != nil {
			return err
		}
		name := "sbom/foo-" + published.Version + "-linux-" + architecture
		files[name+".cdx.json"], files[name+".licenses.txt"] = content, texts
	}
	return nil
}

// readNode returns the node of an architecture with a Kubernetes version.
func (i images) readNode(architecture, version string) (sbom.Node, error) {
	node := sbom.Node{Folder: i.file(architecture, "system")}
	node.Agent = i.file(architecture, "foonode")
	var err error
	if node.System, node.Packages, err = image.ReadSystem(node.Folder); err != nil {
		return node, err
	}
	node.Kubernetes, err = image.KubernetesPrograms(i.file(architecture, "kubernetes/"+version))
	return node, err
}

// packed returns the programs of an archive and of its images, without what runs in nodes.
func (i images) packed(architecture string) []string {
	programs := []string{
		"foo", "foocloud", "foonode", managerProgram, extensionProgram,
		"tools/clusterctl", "tools/core", "tools/kubeadm-bootstrap", "tools/kubeadm-control-plane",
		"cert-manager/cert-manager-controller", "cert-manager/cert-manager-webhook", "cert-manager/cert-manager-cainjector",
	}
	for at, name := range programs {
		programs[at] = i.file(architecture, name)
	}
	return programs
}

func (i images) file(architecture, name string) string {
	return filepath.Join(i.programs, architecture, name)
}
