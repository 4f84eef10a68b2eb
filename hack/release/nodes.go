// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"

	"github.com/capfoo/cluster-api-provider-foo/hack/image"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

const (
	// systemFolder is the folder, beside the programs of an architecture, that hack/build-store.sh makes.
	systemFolder = "system"
	// ownFolder has what no Debian package of a node has.
	ownFolder   = "opt/foo/"
	programMode = 0o755
)

// addNodes adds an image for each Kubernetes version. They share the operating system and the agent.
func (i images) addNodes(files repository.Files, published image.Release) error {
	nodes, packages := map[string]image.Node{}, map[string][]image.Package{}
	if len(i.nodes) == 0 {
		return nil
	}
	for _, architecture := range i.architectures {
		var node image.Node
		var err error
		if node.System, packages[architecture], err = image.ReadTree(filepath.Join(i.programs, architecture, systemFolder)); err != nil {
			return err
		}
		if node.Agent, err = i.program(architecture, "foonode"); err != nil {
			return err
		}
		nodes[architecture] = node
	}
	for _, kubernetesVersion := range i.nodes {
		for architecture, node := range nodes {
			var err error
			if node.Kubernetes, err = image.Programs(filepath.Join(i.programs, architecture, "kubernetes", kubernetesVersion)); err != nil {
				return err
			}
			nodes[architecture] = node
			subject := nodeComponent(published, kubernetesVersion, architecture)
			content, err := billOfNode(subject, packages[architecture], programsOf(node), published.Version)
			if err != nil {
				return err
			}
			files[billFile("node-"+kubernetesVersion, published.Version, architecture)] = content
		}
		name := "node-" + kubernetesVersion + "-" + published.Version
		if err := addArchive(files, name, image.Nodes(published, kubernetesVersion, nodes)); err != nil {
			return err
		}
	}
	return nil
}

// programsOf returns the files of a node that may be programs and that no Debian package has.
func programsOf(node image.Node) []image.File {
	files := append(slices.Clone(node.Kubernetes), image.Regular("foonode", programMode, node.Agent))
	for _, file := range node.System {
		if strings.HasPrefix(file.Path, ownFolder) {
			files = append(files, file)
		}
	}
	return slices.DeleteFunc(files, func(file image.File) bool { return file.Kind != tar.TypeReg || file.Mode&0o111 == 0 })
}

// nodeComponent names a node's image as a bill of materials does.
func nodeComponent(published image.Release, kubernetesVersion, architecture string) cyclonedx.Component {
	tag := kubernetesVersion + "-" + published.Version
	query := url.Values{"arch": {architecture}, "repository_url": {published.Repository + "node"}, "tag": {tag}}
	reference := "pkg:oci/node?" + query.Encode()
	return cyclonedx.Component{
		BOMRef: reference, Type: cyclonedx.ComponentTypeContainer, Name: "node", Version: tag, PackageURL: reference,
	}
}
