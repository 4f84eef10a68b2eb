// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"

	"github.com/capfoo/cluster-api-provider-foo/hack/image"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

// system is the operating system of nodes.
type system struct {
	packages []image.Package
	files    []image.File
}

// debianSystem makes the operating system for an architecture, in a folder that keeps it.
func debianSystem(ctx context.Context, sources, folder, architecture string) (system, error) {
	path := filepath.Join(folder, architecture+".tar")
	command := exec.CommandContext(ctx, filepath.Join(sources, "hack", "build-system.sh"), architecture, path)
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	if _, err := os.Stat(path); err != nil {
		if err := command.Run(); err != nil {
			return system{}, fmt.Errorf("make the operating system of nodes for %s: %w", architecture, err)
		}
	}
	archive, err := os.Open(path)
	if err != nil {
		return system{}, err
	}
	defer func() { _ = archive.Close() }()
	files, packages, err := image.ReadSystem(archive)
	return system{packages: packages, files: files}, err
}

// addNodes adds an image for each Kubernetes version. They share the operating system and the agent.
func (i images) addNodes(files repository.Files, published image.Release) error {
	nodes, packages := map[string]image.Node{}, map[string][]image.Package{}
	if len(i.nodes) == 0 {
		return nil
	}
	for _, architecture := range i.architectures {
		base, err := i.system(architecture)
		if err != nil {
			return err
		}
		agent, err := i.program(architecture, "foonode")
		if err != nil {
			return err
		}
		nodes[architecture], packages[architecture] = image.Node{Base: base.files, Agent: agent}, base.packages
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

// programsOf returns the programs of a node that are not of its operating system.
func programsOf(node image.Node) [][]byte {
	programs := [][]byte{node.Agent}
	for _, file := range node.Kubernetes {
		if len(file.Content) > 0 {
			programs = append(programs, file.Content)
		}
	}
	return programs
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
