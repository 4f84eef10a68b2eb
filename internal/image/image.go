// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package image builds container images without a container runtime: images of one static program
// with certificate authorities (see Service), and images of nodes, which are machines (see Nodes).
// The same content gives the same bytes on every machine: the certificate authorities come from a
// Go module, and no file has a time.
//
// Limits: Linux only. Building an image runs nothing, so no maintainer scripts of packages run.
package image

import (
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Image describes an image to build.
type Image struct {
	// Title names the image for people, in its labels and in errors.
	Title string
	// Description describes the image, in its labels; optional.
	Description string
	// Reference is the full name of the image with its tag. A container runtime that imports the
	// image gives it this name.
	Reference string
	// Version of the content, for the image's labels.
	Version string
	// Source is the address of the sources, for the image's labels.
	Source string
	// User and group that it runs as, as two numbers, so that a kubelet can tell whether that is
	// root.
	User string
	// Entrypoint is the program and its arguments.
	Entrypoint []string
	// Command holds additional default arguments of the entry point; optional.
	Command []string
	// Environment of the program, each as name=value.
	Environment []string
	// Layers by architecture in Go's notation; the lowest first. Images with the same layer share
	// it.
	Layers map[string][]*Layer
}

// build returns the image of one architecture.
func (i Image) build(architecture string) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, layer := range i.Layers[architecture] {
		var err error
		if image, err = appendLayer(image, layer); err != nil {
			return nil, fmt.Errorf("image %s, %s: %s: %w", i.Title, architecture, layer.Content, err)
		}
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("image %s, %s: %w", i.Title, architecture, err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", architecture
	file.Config = v1.Config{
		User: i.User, Entrypoint: i.Entrypoint, Cmd: i.Command, Env: i.Environment, WorkingDir: "/", StopSignal: "SIGTERM",
		Labels: map[string]string{
			"org.opencontainers.image.source":  i.Source,
			"org.opencontainers.image.title":   i.Title,
			"org.opencontainers.image.version": i.Version,
		},
	}
	if i.Description != "" {
		file.Config.Labels["org.opencontainers.image.description"] = i.Description
	}
	return mutate.ConfigFile(image, file)
}

func appendLayer(image v1.Image, layer *Layer) (v1.Image, error) {
	files, err := layer.build()
	if err != nil {
		return nil, err
	}
	return mutate.Append(image, mutate.Addendum{Layer: files, History: v1.History{CreatedBy: layer.Content}})
}
