// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/capfoo/cluster-api-provider-foo/internal/image"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

// Where sources and images are published, and the programs that are each an image.
const (
	sourceAddress    = "https://github.com/capfoo/cluster-api-provider-foo"
	imageRepository  = "ghcr.io/capfoo/cluster-api-provider-foo/"
	managerProgram   = "manager"
	extensionProgram = "runtime-extension"
	snapshotProgram  = "etcd-snapshot"
)

// images describes which images to build, and from what.
type images struct {
	// programs is the folder that hack/build-programs.sh and hack/build-store.sh fill with
	// <architecture>/<name>, <architecture>/kubernetes/<version> and <architecture>/system.
	programs string
	// architectures of all images, and Kubernetes versions of node images.
	architectures, nodes []string
}

// add adds all images, each with its bill of materials.
func (i images) add(files repository.Files, version string) error {
	if len(i.architectures) == 0 {
		return errors.New("no architecture for the images: name at least one")
	}
	published := image.Release{Repository: imageRepository, Version: version, Source: sourceAddress}
	for _, name := range []string{managerProgram, extensionProgram, snapshotProgram} {
		programs := map[string]string{}
		for _, architecture := range i.architectures {
			programs[architecture] = filepath.Join(i.programs, architecture, name)
			content, err := billOfProgram(programs[architecture], version)
			if err != nil {
				return err
			}
			files[billFile(name, version, architecture)] = content
		}
		if err := addArchive(files, name+"-"+version, image.Service(published, name, programs)); err != nil {
			return err
		}
	}
	if len(i.nodes) == 0 {
		return nil
	}
	return i.addNodes(files, published)
}

// addNodes adds an image for each Kubernetes version.
func (i images) addNodes(files repository.Files, published image.Release) error {
	nodes, packages := map[string]image.Node{}, map[string][]image.Package{}
	for _, architecture := range i.architectures {
		system, found, err := image.ReadSystem(filepath.Join(i.programs, architecture, "system"))
		if err != nil {
			return err
		}
		packages[architecture] = found
		nodes[architecture] = image.Node{System: system, Agent: filepath.Join(i.programs, architecture, "foonode")}
	}
	for _, kubernetesVersion := range i.nodes {
		for architecture, node := range nodes {
			var err error
			if node.Kubernetes, err = image.KubernetesPrograms(filepath.Join(i.programs, architecture, "kubernetes", kubernetesVersion)); err != nil {
				return err
			}
			nodes[architecture] = node
			content, err := billOfNode(published.Version, kubernetesVersion, architecture, node, packages[architecture])
			if err != nil {
				return err
			}
			files[billFile("node-"+kubernetesVersion, published.Version, architecture)] = content
		}
		if err := addArchive(files, "node-"+kubernetesVersion+"-"+published.Version, image.Nodes(published, kubernetesVersion, nodes)); err != nil {
			return err
		}
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
