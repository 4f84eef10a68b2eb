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

package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"

	"github.com/capfoo/cluster-api-provider-foo/hack/image"
	"github.com/capfoo/cluster-api-provider-foo/hack/image/debian"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

// system is the operating system of nodes.
type system struct {
	pins  []debian.Pin
	files []image.File
}

// fetch returns packages for an architecture, and the file of each.
type fetch func(ctx context.Context, architecture string) ([]debian.Pin, []string, error)

// debianSystem returns how to make the operating system from packages.
func debianSystem(ctx context.Context, fetch fetch) func(string) (system, error) {
	return func(architecture string) (system, error) {
		pins, paths, err := fetch(ctx, architecture)
		if err != nil {
			return system{}, err
		}
		files, err := debian.Files(ctx, paths)
		return system{pins: pins, files: files}, err
	}
}

// addNodes adds an image for each Kubernetes version. They share the operating system and the agent.
func (i images) addNodes(files repository.Files, published image.Release) error {
	nodes, pins := map[string]image.Node{}, map[string][]debian.Pin{}
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
		nodes[architecture], pins[architecture] = image.Node{Base: base.files, Agent: agent}, base.pins
	}
	for _, kubernetesVersion := range i.nodes {
		for architecture, node := range nodes {
			var err error
			if node, err = i.withKubernetes(node, architecture, kubernetesVersion); err != nil {
				return err
			}
			nodes[architecture] = node
			subject := nodeComponent(published, kubernetesVersion, architecture)
			content, err := billOfNode(subject, pins[architecture], [][]byte{node.Agent, node.Kubernetes}, published.Version)
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

// withKubernetes returns a node with a version of Kubernetes: one program, and links to it by all names that it is called by.
func (i images) withKubernetes(node image.Node, architecture, version string) (image.Node, error) {
	const program = "kubernetes"
	var err error
	if node.Kubernetes, err = i.program(architecture, program, version, program); err != nil {
		return node, err
	}
	folder := filepath.Join(i.programs, architecture, program, version)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return node, fmt.Errorf("read the names of Kubernetes' programs: %w", err)
	}
	node.Names = nil
	for _, entry := range entries {
		if target, err := os.Readlink(filepath.Join(folder, entry.Name())); err == nil && target == program {
			node.Names = append(node.Names, entry.Name())
		}
	}
	if len(node.Names) == 0 {
		return node, fmt.Errorf("%s has no link to %s, by which a program is called: hack/build-node.sh makes them", folder, program)
	}
	return node, nil
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
