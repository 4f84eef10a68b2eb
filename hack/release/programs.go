// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/capfoo/cluster-api-provider-foo/hack/image"
	"github.com/capfoo/cluster-api-provider-foo/internal/repository"
)

const (
	// sourceAddress is where the sources are published.
	sourceAddress = "https://github.com/capfoo/cluster-api-provider-foo"
	// imageRepository is where images are published, without name and tag.
	imageRepository = "ghcr.io/capfoo/cluster-api-provider-foo/"
)

// Programs that are each released as an image.
const (
	managerProgram   = "manager"
	extensionProgram = "runtime-extension"
)

var imaged = []string{managerProgram, extensionProgram}

// images describes which images to build, and from what.
type images struct {
	// programs is the folder that hack/build-programs.sh fills with <architecture>/<name> and
	// <architecture>/kubernetes/<version>. If it is empty, no images are built.
	programs string
	// architectures to build images for, in the notation of Go and Debian.
	architectures []string
	// nodes are the Kubernetes versions to build node images for.
	nodes []string
}

// program reads a program of an architecture.
func (i images) program(architecture string, name ...string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(append([]string{i.programs, architecture}, name...)...))
	if err != nil {
		return nil, fmt.Errorf("read the program of an image (make release builds it): %w", err)
	}
	return content, nil
}

// add adds all images, each with its bill of materials.
func (i images) add(files repository.Files, version string) error {
	if len(i.architectures) == 0 {
		return errors.New("no architecture for the images: name at least one")
	}
	published := image.Release{Repository: imageRepository, Version: version, Source: sourceAddress}
	for _, name := range imaged {
		if err := i.addProgram(files, name, published); err != nil {
			return err
		}
	}
	return i.addNodes(files, published)
}

func (i images) addProgram(files repository.Files, name string, published image.Release) error {
	programs := map[string][]byte{}
	for _, architecture := range i.architectures {
		content, err := i.program(architecture, name)
		if err != nil {
			return err
		}
		programs[architecture] = content
		if files[billFile(name, published.Version, architecture)], err = billOfProgram(content, published.Version); err != nil {
			return err
		}
	}
	return addArchive(files, name+"-"+published.Version, image.Program(published, name, programs))
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
